package words

import "strings"

// ShellQuoted puts a word in quotes where a shell would not take it as it is.
func ShellQuoted(word string) string {
	if word == "" || strings.ContainsAny(word, " \"'`{}[]*?!$&|;<>()#~\\\t\n") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

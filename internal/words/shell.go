package words

import "strings"

// ShellQuoted quotes a word if a shell would change it.
func ShellQuoted(word string) string {
	if word == "" || strings.ContainsAny(word, " \"'`{}[]*?!$&|;<>()#~\\\t\n") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

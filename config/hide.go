package config

import (
	"regexp"
	"strings"
)

// Hidden stands where a password is. The configuration is shown to everybody and kept in the
// database, and a password in it to nobody and nowhere: it stays in the file, and in the memory of
// the server.
const Hidden = "********"

var (
	// inURL finds a user with a password in an address. The password ends at the last @ of the word, as
	// it may hold any character.
	inURL = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s:/@?#"']*:)(\S*)@`)
	// inParameter finds a parameter that is a password.
	inParameter = regexp.MustCompile(`(?i)(password\s*=\s*)('[^'\n]*'|"[^"\n]*"|[^\s&"'#]+)`)
)

// Hide is a text with [Hidden] in the place of each password.
func Hide(text string) string {
	if strings.Contains(text, "://") {
		text = inURL.ReplaceAllString(text, "${1}"+Hidden+"@")
	}
	if !strings.Contains(strings.ToLower(text), "password") {
		return text
	}
	return inParameter.ReplaceAllStringFunc(text, func(found string) string {
		value := inParameter.FindStringSubmatch(found)[2]
		end := value[len(strings.TrimRight(value, "}],")):] // of the list or mapping that it is in
		return strings.TrimSuffix(found, value) + Hidden + end
	})
}

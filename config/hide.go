package config

import (
	"regexp"
	"strings"
)

// Hidden replaces a password. Everybody may see the configuration, and the database stores it. So passwords appear only
// in the file and in the memory of the server.
const Hidden = "********"

var (
	// inURL matches a user with a password in a URL. The password ends at the last @ of the word, as it may hold any
	// character.
	inURL = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s:/@?#"']*:)(\S*)@`)
	// inParameter finds a parameter that is a password.
	inParameter = regexp.MustCompile(`(?i)(password\s*=\s*)('[^'\n]*'|"[^"\n]*"|[^\s&"'#]+)`)
)

// Hide returns the text with each password replaced by [Hidden].
func Hide(text string) string {
	if strings.Contains(text, "://") {
		text = inURL.ReplaceAllString(text, "${1}"+Hidden+"@")
	}
	if !strings.Contains(strings.ToLower(text), "password") {
		return text
	}
	return inParameter.ReplaceAllStringFunc(text, func(found string) string {
		value := inParameter.FindStringSubmatch(found)[2]
		end := value[len(strings.TrimRight(value, "}],")):] // the end of the enclosing list or mapping
		return strings.TrimSuffix(found, value) + Hidden + end
	})
}

// Package bounded shortens texts of users, so that they can be stored and shown. It needs no other package.
package bounded

import "strings"

// Text keeps at most "most" bytes of a text. Three dots replace the rest, and ? replaces bytes that are not UTF-8, and
// NUL, which PostgreSQL cannot store in a text.
func Text(text string, most int) string {
	const mark = "..."
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len(mark)], "") + mark
}

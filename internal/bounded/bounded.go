// Package bounded cuts texts that others wrote, so that they can be kept and shown. It needs no other package.
package bounded

import "strings"

// Text keeps at most a number of bytes of a text that somebody else wrote. Three dots stand for the rest, and ?
// for bytes that are not UTF-8, and for NUL, which PostgreSQL keeps in no text.
func Text(text string, most int) string {
	const mark = "..."
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len(mark)], "") + mark
}

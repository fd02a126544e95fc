package plot

import "strings"

// Sizes of text, in pixels, as in the CSS.
const (
	small  = 12.0
	middle = 13.0
	large  = 15.0
)

// bold is the width of bold text, as a multiple of the width of plain text.
const bold = 1.1

// textWidth estimates the width of a text in pixels. It uses the widths of DejaVu Sans, one of the widest
// faces that a browser may use, so that no text is clipped.
func textWidth(s string, size float64) float64 {
	sum := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("iljI.,:;|!'", r):
			sum += 0.34
		case strings.ContainsRune(" ftr()[]/-", r):
			sum += 0.40
		case strings.ContainsRune("mwMW%@…", r):
			sum += 0.95
		case r >= 'A' && r <= 'Z':
			sum += 0.71
		case r < 0x1100:
			sum += 0.63
		default:
			sum += 1.05
		}
	}
	return sum * size
}

// cut shortens a text to a width; a shortened text ends in an ellipsis. If no character would be left, the
// result is empty.
func cut(s string, size, width float64) string {
	if textWidth(s, size) <= width {
		return s
	}
	runes := []rune(s)
	for n := len(runes) - 1; n > 0; n-- {
		if short := string(runes[:n]) + "…"; textWidth(short, size) <= width {
			return short
		}
	}
	return ""
}

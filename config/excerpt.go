package config

import (
	"fmt"
	"strings"
	"unicode"
)

// An excerpt shows this many lines before a place. If a line is too long to show whole, such as the only line of a JSON
// file, the excerpt shows this many of its columns.
const (
	linesBefore = 2
	widest      = 100
)

// pictures draws excerpts for the places of a text, from the first line to the last. It keeps only the lines of one
// excerpt.
type pictures struct {
	rest string
	line int                     // the last one of those kept
	kept [linesBefore + 1]string // in their order
}

// excerpt draws the line with the two before it, and a caret below the column:
//
//	   5 | pools:
//	>  6 |   lab: {weight: -2}
//	                       ^
func (p *pictures) excerpt(line, col int) string {
	if line < 1 {
		return ""
	}
	for p.line < line {
		copy(p.kept[:], p.kept[1:])
		p.kept[linesBefore], p.rest, _ = strings.Cut(p.rest, "\n")
		p.line++
	}
	from := 0
	if col > widest {
		from = col - widest*2/3
	}
	var b strings.Builder
	width := max(3, len(fmt.Sprint(line)))
	for n := max(1, line-linesBefore); n <= line; n++ {
		mark := " "
		if n == line {
			mark = ">"
		}
		text := string(printable(cut(p.kept[linesBefore-line+n], from)))
		b.WriteString(strings.TrimRight(fmt.Sprintf("%s%*d | %s", mark, width, n, text), " ") + "\n")
	}
	before := cut(p.kept[linesBefore], from)
	before = before[:min(len(before), col-1-from)]
	b.WriteString(strings.Repeat(" ", width+4+columns(printable(before))) + "^\n")
	return b.String()
}

// cut returns the part of a line that the excerpt shows.
func cut(line string, from int) []rune {
	shown := make([]rune, 0, widest+1)
	col := 0
	for _, r := range line {
		switch {
		case col < from:
		case col == from && from > 0 || len(shown) == widest:
			shown = append(shown, '…')
		default:
			shown = append(shown, r)
		}
		if col++; len(shown) > widest {
			break
		}
	}
	return shown
}

// printable replaces characters that a terminal would interpret. A tab becomes one column, so that the caret is in the
// right place.
func printable(text []rune) []rune {
	for i, r := range text {
		switch {
		case r == '\t':
			text[i] = ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			text[i] = unicode.ReplacementChar
		}
	}
	return text
}

// columns returns the width of a text on a terminal: East Asian characters and emoji take two columns, combining marks
// none.
func columns(text []rune) int {
	n := 0
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case wide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

// wide reports whether a terminal gives r two columns (the blocks of Unicode's
// EastAsianWidth.txt that are W or F almost throughout).
func wide(r rune) bool {
	for _, b := range [...][2]rune{
		{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60},
		{0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
	} {
		if r >= b[0] && r <= b[1] {
			return true
		}
	}
	return false
}

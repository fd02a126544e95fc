package top

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/fairlead/fairlead/internal/plain"
)

// The colors are from the terminal's own palette, which its user chose to be legible; they only repeat the
// information of marks and words.
var (
	headStyle  = lipgloss.NewStyle().Faint(true)
	markStyle  = lipgloss.NewStyle().Reverse(true)
	titleStyle = lipgloss.NewStyle().Bold(true)
	badStyle   = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red)
	overStyle  = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	underStyle = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	busyStyle  = lipgloss.NewStyle().Foreground(lipgloss.Green)
)

// clean makes one line of a text from any source, without terminal control sequences.
func clean(text string) string { return plain.Line(text) }

// fit cuts a line to a width.
func fit(line string, width int) string { return ansi.Truncate(line, max(0, width), "…") }

// gauge draws the used part of something: [####----].
func gauge(used, all int64, width int) string {
	n := 0
	if all > 0 {
		n = int(min(used, all) * int64(width) / all)
	}
	return "[" + busyStyle.Render(strings.Repeat("#", n)) + strings.Repeat("-", width-n) + "]"
}

// bar draws a pool's use against its share. A | marks the share. Use up to the share is drawn as #, unused
// share as dots, and use beyond the share as # after the |.
func bar(share, used float64, width int) string {
	cells := func(f float64) int { return int(max(0, min(f, 1))*float64(width) + 0.5) }
	s, u := cells(share), cells(used)
	if u <= s {
		return "|" + underStyle.Render(strings.Repeat("#", u)+strings.Repeat(".", s-u)) + "|" + strings.Repeat(" ", width-s)
	}
	return "|" + overStyle.Render(strings.Repeat("#", s)) + "|" + overStyle.Render(strings.Repeat("#", u-s)) +
		strings.Repeat(" ", width-u)
}

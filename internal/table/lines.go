package table

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Lines lays the table out for a place of this width, for those who draw a whole screen: the
// header first, and no line wider than that.
func (t *Table) Lines(width int) []string {
	t.fit(width)
	widths := t.widths()
	var names []string
	for _, c := range t.columns {
		names = append(names, c.Name)
	}
	lines := make([]string, 0, 1+len(t.rows))
	if t.Header {
		lines = append(lines, t.line(names, widths, width))
	}
	for _, row := range t.rows {
		lines = append(lines, t.line(row, widths, width))
	}
	return lines
}

// Natural is the width that the table needs if nothing is cut.
func (t *Table) Natural() int { return t.natural() }

func (t *Table) line(cells []string, widths []int, width int) string {
	var b strings.Builder
	for i, c := range cells {
		pad := strings.Repeat(" ", max(0, widths[i]-lipgloss.Width(c)))
		if i > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		if t.columns[i].Right {
			b.WriteString(pad + c)
		} else {
			b.WriteString(c + pad)
		}
	}
	return ansi.Truncate(strings.TrimRight(b.String(), " "), width, "…")
}

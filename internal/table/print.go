package table

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/fairlead/fairlead/internal/plain"
)

// Lines lays the table out for programs that draw a whole screen: the header first, and no line wider than
// width.
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

// Natural returns the width that the table needs if nothing is cut.
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

// Print writes the table, at most as wide as w's terminal, and as plain text if w is not a terminal.
func (t *Table) Print(w io.Writer) error {
	if !t.Header && len(t.rows) == 0 {
		return nil // write not even an empty line
	}
	w = plain.Raw(w) // the cells are harmless already, and the bold text is ours
	width := Width(w)
	if width > 0 {
		t.fit(width)
	}
	head, mark := lipgloss.NewStyle().Faint(true), lipgloss.NewStyle().Bold(true)
	l := table.New().Border(lipgloss.HiddenBorder()).Wrap(false).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderHeader(false).BorderColumn(false).
		StyleFunc(func(row, col int) lipgloss.Style {
			s := lipgloss.NewStyle()
			if row == table.HeaderRow {
				s = head
			} else if t.bold[row] {
				s = mark
			}
			if t.columns[col].Right {
				s = s.Align(lipgloss.Right)
			}
			if col < len(t.columns)-1 {
				s = s.PaddingRight(gap)
			}
			return s
		}).Rows(t.rows...)
	if t.Header {
		var names []string
		for _, c := range t.columns {
			names = append(names, c.Name)
		}
		l = l.Headers(names...)
	}
	out := colorprofile.NewWriter(w, os.Environ())
	for line := range strings.Lines(l.String() + "\n") {
		if _, err := io.WriteString(out, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	if len(t.out) > 0 && t.Header {
		_, err := fmt.Fprintf(out, "%s\n", head.Render(plain.Line("not shown in "+strconv.Itoa(width)+" columns: "+
			strings.Join(t.out, ", "))))
		return err
	}
	return nil
}

// Width returns the width of the terminal behind w, or 0 if w is not a terminal.
func Width(w io.Writer) int {
	f, ok := plain.Raw(w).(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Package table lays out what the command line lists: columns as wide as they need
// to be, cut to the width of the terminal, plain when nobody looks.
package table

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"

	"github.com/fairlead/fairlead/internal/plain"
)

// Column is one column of a table.
type Column struct {
	Name  string
	Right bool // numbers stand to the right
}

// Table collects rows and prints them.
type Table struct {
	columns []Column
	rows    [][]string
	bold    map[int]bool
	picked  bool // the columns were chosen by name
	// Styled says that cells may carry styles, and that whoever gives them made them harmless.
	Styled bool
	// Header is left out by -n.
	Header bool
}

// New returns an empty table.
func New(columns ...Column) *Table {
	columns = slices.Clone(columns)
	for i := range columns {
		columns[i].Name = plain.Line(columns[i].Name)
	}
	return &Table{columns: columns, Header: true, bold: map[int]bool{}}
}

// Row adds a row; what is missing at its end is empty. Nothing that a terminal would obey gets
// into it, whoever chose the words.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(t.columns))
	for i, c := range cells {
		if row[i] = fmt.Sprint(c); !t.Styled {
			row[i] = plain.Line(row[i])
		}
	}
	t.rows = append(t.rows, row)
}

// Mark makes the last row stand out.
func (t *Table) Mark() { t.bold[len(t.rows)-1] = true }

// Len is how many rows there are.
func (t *Table) Len() int { return len(t.rows) }

// Pick keeps only the named columns, in that order. An unknown name is an error that
// lists the known ones.
func (t *Table) Pick(names []string) error {
	var at []int
	for _, n := range names {
		found := -1
		for i, c := range t.columns {
			if strings.EqualFold(c.Name, n) {
				found = i
			}
		}
		if found < 0 {
			var known []string
			for _, c := range t.columns {
				known = append(known, strings.ToLower(c.Name))
			}
			return fmt.Errorf("there is no column %q; known: %s", n, strings.Join(known, ", "))
		}
		at = append(at, found)
	}
	columns := make([]Column, len(at))
	for i, k := range at {
		columns[i] = t.columns[k]
	}
	for r, row := range t.rows {
		picked := make([]string, len(at))
		for i, k := range at {
			picked[i] = row[k]
		}
		t.rows[r] = picked
	}
	t.columns, t.picked = columns, true
	return nil
}

// Print writes the table: as wide as w's terminal at most, and with nothing but text
// where w is not a terminal.
func (t *Table) Print(w io.Writer) error {
	w = plain.Raw(w) // the cells are harmless, and what is bold is ours
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
	if width > 0 && t.natural() > width {
		l = l.Width(width)
	}
	out := colorprofile.NewWriter(w, os.Environ())
	for line := range strings.Lines(l.String() + "\n") {
		if _, err := io.WriteString(out, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// natural is the width that the table needs.
func (t *Table) natural() int { return total(t.widths()) }

// Width is the width of the terminal behind w, 0 if it is none.
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

package table

import (
	"slices"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// shortest is the minimum width to which a text is cut, in columns of the terminal.
const shortest = 6

// fit narrows a table that is too wide, without losing important cells: first it drops empty columns, unless
// the user chose the columns, then it cuts the longest texts. Numbers and the first column, which names the
// row, stay whole.
func (t *Table) fit(width int) {
	widths := t.widths()
	over := total(widths) - width
	for i := len(t.columns) - 1; i > 0 && !t.picked && over > 0; i-- {
		if t.empty(i) {
			over -= widths[i] + gap
			widths = slices.Delete(widths, i, i+1)
			t.drop(i)
		}
	}
	narrow := slices.Clone(widths)
	for ; over > 0; over-- {
		longest, most := -1, shortest
		for i, c := range t.columns {
			if i > 0 && !c.Right && narrow[i] > most {
				longest, most = i, narrow[i]
			}
		}
		if longest < 0 {
			break
		}
		narrow[longest]--
	}
	for i := range widths {
		if narrow[i] < widths[i] {
			t.cut(i, narrow[i])
		}
	}
}

// empty reports whether a column has only empty cells.
func (t *Table) empty(i int) bool {
	return !slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "" && row[i] != "-" })
}

func (t *Table) drop(i int) {
	t.columns = slices.Delete(slices.Clone(t.columns), i, i+1)
	for r, row := range t.rows {
		t.rows[r] = slices.Delete(slices.Clone(row), i, i+1)
	}
}

// cut shortens the texts of a column, including its name.
func (t *Table) cut(i, width int) {
	t.columns = slices.Clone(t.columns)
	t.columns[i].Name = ansi.Truncate(t.columns[i].Name, width, "…")
	for r, row := range t.rows {
		t.rows[r] = slices.Clone(row)
		t.rows[r][i] = ansi.Truncate(row[i], width, "…")
	}
}

// gap is the space between two columns.
const gap = 2

// widths returns the widths that the columns need.
func (t *Table) widths() []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		if t.Header {
			widths[i] = lipgloss.Width(c.Name)
		}
		for _, row := range t.rows {
			widths[i] = max(widths[i], lipgloss.Width(row[i]))
		}
	}
	return widths
}

// total returns the width of a table with columns of these widths.
func total(widths []int) int {
	sum := -gap
	for _, w := range widths {
		sum += w + gap
	}
	return sum
}

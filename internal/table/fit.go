package table

import (
	"slices"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// shortest is how short a text may be cut, in columns of the terminal.
const shortest = 6

// fit makes a table that is too wide as narrow as it can be without losing what counts:
// first the columns go in which nothing stands, unless somebody asked for them, then
// the longest texts are cut. Numbers and the first column, by which a row is known, stay
// whole.
func (t *Table) fit(width int) {
	for i := len(t.columns) - 1; i > 0 && !t.picked && t.natural() > width; i-- {
		if t.empty(i) {
			t.drop(i)
		}
	}
	for t.natural() > width {
		longest, most := -1, shortest
		for i, c := range t.columns {
			if w := t.wide(i); i > 0 && !c.Right && w > most {
				longest, most = i, w
			}
		}
		if longest < 0 {
			return
		}
		t.cut(longest, max(shortest, most-(t.natural()-width), t.second(longest)))
	}
}

// second is the width that the next widest text has, but less than the widest, so that
// the longest ones are cut evenly.
func (t *Table) second(longest int) int {
	most := shortest
	for i, c := range t.columns {
		if w := t.wide(i); i > 0 && i != longest && !c.Right {
			most = max(most, w)
		}
	}
	return min(most, t.wide(longest)-1)
}

// empty reports whether nothing stands in a column.
func (t *Table) empty(i int) bool {
	return !slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "" && row[i] != "-" })
}

func (t *Table) drop(i int) {
	t.columns = slices.Delete(slices.Clone(t.columns), i, i+1)
	for r, row := range t.rows {
		t.rows[r] = slices.Delete(slices.Clone(row), i, i+1)
	}
}

// cut shortens the texts of a column, its name included.
func (t *Table) cut(i, width int) {
	t.columns = slices.Clone(t.columns)
	t.columns[i].Name = ansi.Truncate(t.columns[i].Name, width, "…")
	for r, row := range t.rows {
		t.rows[r] = slices.Clone(row)
		t.rows[r][i] = ansi.Truncate(row[i], width, "…")
	}
}

// wide is the width that a column needs.
func (t *Table) wide(i int) int {
	most := 0
	if t.Header {
		most = lipgloss.Width(t.columns[i].Name)
	}
	for _, row := range t.rows {
		most = max(most, lipgloss.Width(row[i]))
	}
	return most
}

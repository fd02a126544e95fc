package table

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// The minimum widths to which texts are cut, in columns of the terminal. The last column is the most important one.
const (
	shortest      = 6
	shortestLast  = 10
	shortestFirst = 12
	wrapped       = 22 // a column that wraps
)

// fit narrows a table that is too wide. First it drops empty columns, unless the user chose the columns. If the rest
// does not fit with all texts cut, it leaves out columns. Then it cuts the longest texts, and last the texts of the
// first column, which names the row. It never cuts numbers.
func (t *Table) fit(width int) {
	for i := len(t.columns) - 1; i > 0 && !t.picked && t.natural() > width; i-- {
		if t.empty(i) {
			t.drop(i)
		}
	}
	for !t.picked && len(t.columns) > 1 && total(t.least(width)) > width {
		i := t.spare()
		t.out = append(t.out, t.columns[i].Name)
		t.drop(i)
	}
	least, narrow := t.least(width), t.widths()
	widths := slices.Clone(narrow)
	first := least[0]
	least[0] = narrow[0]
	shrink(narrow, least, width)
	least[0] = first
	shrink(narrow, least, width)
	wraps := map[int]int{}
	for i := range widths {
		switch {
		case narrow[i] >= widths[i]:
		case t.columns[i].Wraps:
			wraps[i] = narrow[i]
		case i == 0:
			t.cut(i, func(text string) string { return middleCut(text, narrow[i]) })
		default:
			t.cut(i, func(text string) string { return ansi.Truncate(text, narrow[i], "…") })
		}
	}
	if len(wraps) > 0 {
		t.wrap(wraps)
	}
}

// shrink takes columns of the terminal from the widest column that is above its least width, until all fit.
func shrink(narrow, least []int, width int) {
	for over := total(narrow) - width; over > 0; over-- {
		longest := -1
		for i := range narrow {
			if narrow[i] > least[i] && (longest < 0 || narrow[i] > narrow[longest]) {
				longest = i
			}
		}
		if longest < 0 {
			return
		}
		narrow[longest]--
	}
}

// least returns the minimum widths of the columns.
func (t *Table) least(width int) []int {
	least := t.widths()
	for i, c := range t.columns {
		most := shortest
		switch {
		case c.Right || c.Whole:
			continue
		case i == 0:
			most = max(shortestFirst, width/3)
		case c.Wraps:
			most = wrapped
		case i == len(t.columns)-1:
			most = shortestLast
		}
		least[i] = min(least[i], max(most, c.Least))
	}
	return least
}

// spare returns the column to leave out next: the rightmost of the columns with the largest Spare. The last column
// of the table goes last.
func (t *Table) spare() int {
	last := len(t.columns) - 1
	found := last
	for i := last - 1; i > 0; i-- {
		if t.columns[i].Spare > t.columns[found].Spare || found == last && t.columns[i].Spare == t.columns[last].Spare {
			found = i
		}
	}
	return found
}

// middleCut shortens a name in its middle, because names often differ at their ends.
func middleCut(text string, width int) string {
	n := lipgloss.Width(text)
	if n <= width {
		return text
	}
	tail := (width - 1) / 2
	return ansi.Truncate(text, width-1-tail, "") + "…" + ansi.TruncateLeft(text, n-tail, "")
}

// wrap breaks the texts of columns into lines of the given widths, and each further line gets its own row.
func (t *Table) wrap(widths map[int]int) {
	var rows [][]string
	bold := map[int]bool{}
	for r, row := range t.rows {
		lines, most := map[int][]string{}, 1
		for i, width := range widths {
			lines[i] = strings.Split(ansi.Wrap(row[i], width, ""), "\n")
			most = max(most, len(lines[i]))
		}
		for k := range most {
			next := make([]string, len(row))
			if bold[len(rows)] = t.bold[r]; k == 0 {
				copy(next, row)
			}
			for i := range widths {
				if next[i] = ""; k < len(lines[i]) {
					next[i] = lines[i][k]
				}
			}
			rows = append(rows, next)
		}
	}
	t.rows, t.bold = rows, bold
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
func (t *Table) cut(i int, short func(string) string) {
	t.columns = slices.Clone(t.columns)
	t.columns[i].Name = short(t.columns[i].Name)
	for r, row := range t.rows {
		t.rows[r] = slices.Clone(row)
		t.rows[r][i] = short(row[i])
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

// natural returns the width that the table needs.
func (t *Table) natural() int { return total(t.widths()) }

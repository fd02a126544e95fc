package top

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/fairlead/fairlead/internal/table"
)

// pane is a list on the screen. One row is selected.
type pane struct {
	sorts  []string // names of its orders
	sort   int
	filter string
	key    string // of the selected row, which stays selected while rows move
	at     int    // its index
	from   int    // first visible row
	rows   []row  // as last drawn
}

// row is a row of a pane.
type row struct {
	key   string
	cells []string
}

// set replaces the rows, without the rows that the filter hides. The selection stays on its row or, if that
// row is gone, at its index.
func (p *pane) set(columns []table.Column, rows []row) {
	p.rows = slices.DeleteFunc(rows, func(r row) bool { return !matches(p.filter, columns, r.cells) })
	if i := slices.IndexFunc(p.rows, func(r row) bool { return r.key == p.key }); i >= 0 {
		p.at = i
	}
	p.move(0)
}

// move moves the selection down by a number of rows.
func (p *pane) move(by int) {
	p.at = max(0, min(p.at+by, len(p.rows)-1))
	if p.key = ""; len(p.rows) > 0 {
		p.key = p.rows[p.at].key
	}
}

// draw returns the lines of a pane with or without the focus, at most height lines.
func (p *pane) draw(columns []table.Column, width, height int, focus bool) []string {
	columns, cells := narrowed(columns, p.rows, width-1)
	t := table.New(columns...)
	t.Styled = true
	for _, r := range cells {
		t.Row(r...)
	}
	lines := t.Lines(width - 1)
	room := max(0, height-1)
	p.from = max(0, min(p.from, p.at, len(p.rows)-room))
	p.from = max(p.from, p.at-room+1)
	out := []string{headStyle.Render(" " + lines[0])}
	for i, line := range lines[1:] {
		if i < p.from || i >= p.from+room {
			continue
		}
		if i == p.at && focus {
			line = ansi.Strip(line)
			out = append(out, markStyle.Render(">"+line+strings.Repeat(" ", max(0, width-1-lipgloss.Width(line)))))
			continue
		}
		out = append(out, " "+line)
	}
	return out[:min(len(out), height)]
}

// matches reports whether a row has all words of a filter. A word with a colon, such as user:ann, must be
// in that column; other words may be in any column.
func matches(filter string, columns []table.Column, cells []string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		found := false
		name, value, typed := strings.Cut(word, ":")
		for i, c := range cells {
			c = strings.ToLower(ansi.Strip(c))
			if head := strings.ToLower(columns[i].Name); typed && (head == name || name == "state" && head == "st") {
				found = found || strings.Contains(c, value) || head == "st" && value != "" && strings.HasPrefix(c, value[:1])
			}
			found = found || strings.Contains(c, word)
		}
		if !found {
			return false
		}
	}
	return true
}

// spare lists the columns in the order in which they are removed if the screen is too narrow.
var spare = []string{"WEIGHT", "LABELS", "LIMIT", "LAST SEEN", "KIND", "GPU", "OLDEST", "START", "LAG", "SERVED",
	"MEM", "DEMAND", "NAME", "AGE", "TASKS", "RUN", "POOL", "RANK"}

// enough is the smallest useful width of a column of words.
const enough = 12

// narrowed removes columns until the others are readable.
func narrowed(columns []table.Column, rows []row, width int) ([]table.Column, [][]any) {
	keep := make([]bool, len(columns))
	need := -2
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = lipgloss.Width(c.Name)
		for _, r := range rows {
			widths[i] = max(widths[i], lipgloss.Width(r.cells[i]))
		}
		if i > 0 && !c.Right {
			widths[i] = min(widths[i], max(enough, lipgloss.Width(c.Name)))
		}
		keep[i] = true
		need += widths[i] + 2
	}
	for _, name := range spare {
		i := slices.IndexFunc(columns, func(c table.Column) bool { return c.Name == name })
		if i > 0 && need > width {
			keep[i] = false
			need -= widths[i] + 2
		}
	}
	cells := make([][]any, len(rows))
	var kept []table.Column
	for i, c := range columns {
		if !keep[i] {
			continue
		}
		kept = append(kept, c)
		for k, r := range rows {
			cells[k] = append(cells[k], r.cells[i])
		}
	}
	return kept, cells
}

// The panes, in the order of the key Tab.
const (
	pools = iota
	jobs
	nodes
)

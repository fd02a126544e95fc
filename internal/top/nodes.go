package top

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/words"
)

var nodeSorts = []string{"name", "free", "state"}

func nodeColumns(unit string) []table.Column {
	return []table.Column{
		{Name: "NODE"}, {Name: "STATE"}, {Name: words.Unit(unit), Right: true}, {Name: "MEM", Right: true, Spare: 1},
		{Name: "GPU", Right: true, Spare: 1}, {Name: "TASKS", Right: true, Spare: 3}, {Name: "LABELS", Spare: 8},
		{Name: "LAST SEEN", Right: true, Spare: 5}, {Name: "REASON"},
	}
}

// drawNodes returns the lines of the nodes.
func (m *model) drawNodes(width, height int, focus bool) []string {
	p, doc := &m.panes[nodes], m.data.nodes
	all := slices.Clone(doc.Nodes)
	slices.SortStableFunc(all, func(a, b views.NodeView) int {
		switch nodeSorts[p.sort] {
		case "free":
			return cmp.Compare(b.Free[doc.Unit], a.Free[doc.Unit])
		case "state":
			return cmp.Compare(a.State, b.State)
		}
		return cmp.Compare(a.Name, b.Name)
	})
	rows := make([]row, 0, len(all))
	for i := range all {
		n := &all[i]
		seen := "-"
		if !n.Seen.IsZero() {
			seen = words.Span(doc.At.Sub(n.Seen))
		}
		rows = append(rows, row{n.Name, []string{
			clean(n.Name), n.State, words.Used(n, doc.Unit), words.Used(n,
				"mem"), clean(words.GPUs(n)), strconv.Itoa(n.Tasks), clean(words.Dash(words.Labels(n))), seen,
			clean(words.WhyNotMore(n, doc.Unit, doc.At)),
		}})
	}
	columns := nodeColumns(doc.Unit)
	p.set(columns, rows)
	return p.draw(columns, width, height, focus)
}

package top

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

var poolSorts = []string{"tree", "owed", "oldest", "running", "wanted"}

var poolColumns = []table.Column{
	{Name: "POOL"}, {Name: "SHARE", Right: true}, {Name: "USED", Right: true}, {Name: "RATIO"}, {Name: "OWED", Right: true},
	{Name: "RUN", Right: true}, {Name: "WANT", Right: true}, {Name: "OLDEST", Right: true}, {Name: "WEIGHT", Right: true},
}

// barsAt is the place of the column with the bars, when there is room for it.
const barsAt = 2

// Widths of a bar.
const (
	leastBar = 10
	mostBar  = 48
)

// drawPools are the lines of the pools.
func (m *model) drawPools(width, height int, focus bool) []string {
	p := &m.panes[pools]
	views := slices.Clone(m.data.shares.Pools)
	if m.within == "" {
		views = slices.DeleteFunc(views, func(v fairlead.PoolView) bool { return v.Path == "" })
	}
	tree := sortPools(views, poolSorts[p.sort]) && p.filter == ""
	rows := make([]row, 0, len(views))
	of := map[string]*fairlead.PoolView{}
	for i := range views {
		rows = append(rows, row{views[i].Path, poolCells(&views[i], tree, above(m.within))})
		of[views[i].Path] = &views[i]
	}
	p.set(poolColumns, rows)
	columns, room := poolColumns, width-1-barsNeed(p.rows)
	if room < leastBar {
		return p.draw(columns, width, height, focus)
	}
	room = min(room, mostBar)
	columns = slices.Insert(slices.Clone(columns), barsAt, table.Column{Name: strings.Repeat(" ", room+2), Right: true})
	for i, r := range p.rows {
		v := of[r.key]
		p.rows[i].cells = slices.Insert(r.cells, barsAt, bar(v.ShareHere, v.UsedHere, room))
	}
	return p.draw(columns, width, height, focus)
}

// barsNeed is how wide the columns are that a bar may not take the room of: all but the last.
func barsNeed(rows []row) int {
	kept := poolColumns[:len(poolColumns)-1]
	t := table.New(kept...)
	t.Styled = true
	for _, r := range rows {
		cells := make([]any, len(kept))
		for i := range kept {
			cells[i] = r.cells[i]
		}
		t.Row(cells...)
	}
	return t.Natural() + 4 // the ends of the bar, and the space before the next column
}

// ratio is how a pool stands, its number first: 0.83 over.
func ratio(v *fairlead.PoolView) string {
	text, number, _ := strings.Cut(why.OverUnder(v.ShareHere, v.UsedHere), " (ratio ")
	return strings.TrimSpace(strings.TrimSuffix(number, ")") + " " + text)
}

// sortPools puts pools in order, and reports whether it is that of the tree.
func sortPools(views []fairlead.PoolView, by string) (tree bool) {
	of := map[string]func(v *fairlead.PoolView) float64{
		"owed":    func(v *fairlead.PoolView) float64 { return v.Fairness.Day.Lag() },
		"oldest":  func(v *fairlead.PoolView) float64 { return v.OldestWait },
		"running": func(v *fairlead.PoolView) float64 { return v.Running },
		"wanted":  func(v *fairlead.PoolView) float64 { return v.Want },
	}[by]
	if of == nil {
		return true
	}
	slices.SortStableFunc(views, func(a, b fairlead.PoolView) int { return cmp.Compare(of(&b), of(&a)) })
	return false
}

// poolCells are what is told of a pool, in the words of fairlead shares. In a tree a pool is
// called by its last name, indented by how deep it is below a pool.
func poolCells(v *fairlead.PoolView, tree bool, below string) []string {
	name := v.Path
	if deep := strings.Count(v.Path, "/") - strings.Count(below, "/"); tree && v.Path != "" {
		if below != "" {
			deep--
		}
		name = strings.Repeat("  ", max(0, deep)) + v.Path[strings.LastIndexByte(v.Path, '/')+1:]
	}
	oldest := "-"
	if v.OldestWait > 0 {
		oldest = words.Span(words.Seconds(v.OldestWait))
	}
	return []string{
		clean(cmp.Or(name, "/")), words.Percent(v.ShareHere), words.Percent(v.UsedHere), ratio(v),
		words.Owed(v.Fairness.Day.Lag()), why.Short(v.Running), why.Short(v.Want), oldest, words.Weight(v),
	}
}

// above is the pool in which one is, "" for those at the top.
func above(pool string) string { return pool[:max(0, strings.LastIndexByte(pool, '/'))] }

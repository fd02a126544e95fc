package top

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

var poolSorts = []string{"tree", "lag", "oldest", "running", "demand"}

var poolColumns = []table.Column{
	{Name: "POOL"}, {Name: "SHARE", Right: true}, {Name: "PAST USE", Right: true, Spare: 3},
	{Name: "COMPARED BY", Spare: 9},
	{Name: "SERVED", Right: true, Spare: 5}, {Name: "LAG", Right: true, Spare: 4},
	{Name: "RUN", Right: true}, {Name: "DEMAND", Right: true, Spare: 2}, {Name: "OLDEST", Right: true, Spare: 6},
	{Name: "WEIGHT", Right: true, Spare: 8},
}

// barsAt is the index of the column with the bars, if there is room for it.
const barsAt = 2

// Widths of a bar.
const (
	leastBar = 10
	maxBar   = 48
)

// drawPools returns the lines of the pools.
func (m *model) drawPools(width, height int, focus bool) []string {
	p := &m.panes[pools]
	pools := slices.Clone(m.data.shares.Pools)
	if m.within == "" {
		pools = slices.DeleteFunc(pools, func(v views.PoolView) bool { return v.Path == "" })
	}
	tree := sortPools(pools, poolSorts[p.sort]) && p.filter == ""
	rows := make([]row, 0, len(pools))
	of := map[string]*views.PoolView{}
	for i := range pools {
		rows = append(rows, row{pools[i].Path, poolCells(&pools[i], tree, above(m.within))})
		of[pools[i].Path] = &pools[i]
	}
	p.set(poolColumns, rows)
	columns, room := poolColumns, width-1-barsNeed(p.rows)
	if room < leastBar {
		return p.draw(columns, width, height, focus)
	}
	room = min(room, maxBar)
	columns = slices.Insert(slices.Clone(columns), barsAt, table.Column{Name: strings.Repeat(" ", room+2), Right: true})
	for i, r := range p.rows {
		v := of[r.key]
		p.rows[i].cells = slices.Insert(r.cells, barsAt, bar(v.ShareHere, v.UsedHere, room))
	}
	return p.draw(columns, width, height, focus)
}

// barsNeed returns the width of the columns that have precedence over the bars: all but the last.
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

// sortPools sorts pools, and reports whether they are in the order of the tree.
func sortPools(pools []views.PoolView, by string) (tree bool) {
	of := map[string]func(v *views.PoolView) float64{
		"lag":     func(v *views.PoolView) float64 { return v.Fairness.Day.Lag() },
		"oldest":  func(v *views.PoolView) float64 { return v.OldestWait },
		"running": func(v *views.PoolView) float64 { return v.Running },
		"demand":  func(v *views.PoolView) float64 { return v.Want },
	}[by]
	if of == nil {
		return true
	}
	slices.SortStableFunc(pools, func(a, b views.PoolView) int { return cmp.Compare(of(&b), of(&a)) })
	return false
}

// poolCells returns the cells of a pool, in the words of fairlead shares. In a tree, only the last name of a
// pool is shown, indented by its depth below the pool that the screen shows.
func poolCells(v *views.PoolView, tree bool, below string) []string {
	name := words.Pool(v.Path)
	if deep := strings.Count(v.Path, "/") - strings.Count(below, "/"); tree && v.Path != "" {
		if below != "" {
			deep--
		}
		name = strings.Repeat("  ", max(0, deep)) + words.LastPool(v.Path)
	}
	oldest := "-"
	if v.OldestWait > 0 {
		oldest = words.Span(words.Seconds(v.OldestWait))
	}
	return []string{
		clean(cmp.Or(name, "/")), words.Percent(v.ShareHere), words.Percent(v.UsedHere),
		clean(words.ComparedBy(v)), words.Percent(v.Fairness.Day.Served), words.Owed(v.Fairness.Day.Lag()),
		why.Short(v.Running), why.Short(v.Want), oldest, words.Weight(v),
	}
}

// above returns the parent of a pool, "" for top-level pools.
func above(pool string) string { return pool[:max(0, strings.LastIndexByte(pool, '/'))] }

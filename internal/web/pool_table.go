package web

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/views"
)

// lag returns the lag of a pool over the last day.
func lag(p *views.PoolView) float64 { return p.Fairness.Day.Lag() }

// leastLag is the smallest lag, in slot-seconds, that is mentioned: it shows as 0.01 hours.
const leastLag = 18.0

// leavesOf returns the leaf pools.
func leavesOf(all []views.PoolView) []*views.PoolView {
	var out []*views.PoolView
	for i := range all {
		if i+1 == len(all) || all[i+1].Depth <= all[i].Depth {
			out = append(out, &all[i])
		}
	}
	return out
}

// poolTable is a table of pools: as a tree, or sorted, a screenful at a time.
type poolTable struct {
	Rows []poolRow
	Sort string
	Tree bool
	Over float64 // seconds that the lag covers
	// From and To are the numbers of the first and the last row, counted from 1, and All is the number of all
	// rows.
	From, To, All int
	Before, After string // addresses of the previous and the next part
	Sorts         []sortLink
	TrendSpan     string // the time that the sparklines of the rows cover, if they have some
}

// draw adds the rows with their pictures, all to the same scale.
func (t *poolTable) draw(s *api.Shares, rows []*views.PoolView) {
	capacity := float64(s.Summary.Capacity[s.Unit])
	used := s.Pools[0].Used
	most := 0.0
	for _, p := range rows {
		b := plot.Bullet{Name: p.Path, Unit: s.Unit, Bar: p.Running, Mark: p.Share * capacity, Point: p.FairNow, Want: p.Want}
		if used > 0 {
			b.Back = p.Used / used * capacity
		}
		t.Rows = append(t.Rows, poolRow{PoolView: p, Bullet: b})
		most = max(most, b.Bar, b.Mark, b.Point, b.Back)
	}
	for i := range t.Rows {
		t.Rows[i].Bullet.To = most
	}
}

// poolRow is a pool with its picture.
type poolRow struct {
	*views.PoolView
	Bullet plot.Bullet
	// Fared shows its running tasks beside its entitlement in the last day, Queued its waiting tasks.
	Fared, Queued plot.Sparkline
}

// poolRows is the maximum number of pools in a table; a larger tree is shown sorted.
const poolRows = 50

type poolOrder struct {
	name, says string
	less       func(a, b *views.PoolView) int // nil: the tree
}

// orders lists the orders of pools.
var orders = []poolOrder{
	{"tree", "tree", nil},
	{"lag", "furthest behind", func(a, b *views.PoolView) int { return cmp.Compare(lag(b), lag(a)) }},
	{"wait", "longest wait", func(a, b *views.PoolView) int { return cmp.Compare(b.OldestWait, a.OldestWait) }},
	{"waiting", "most waiting", func(a, b *views.PoolView) int { return cmp.Compare(b.Waiting, a.Waiting) }},
	{"running", "most running", func(a, b *views.PoolView) int { return cmp.Compare(b.Running, a.Running) }},
	{"used", "most used", func(a, b *views.PoolView) int { return cmp.Compare(b.Used, a.Used) }},
}

// tableOf makes the table that a request asks for, in its order and from its first row.
func tableOf(s *api.Shares, all []views.PoolView, r *Request) poolTable {
	t := poolTable{Sort: r.Word("sort"), Over: s.Fairness.Day.Seconds}
	if !slices.ContainsFunc(orders, func(o poolOrder) bool { return o.name == t.Sort }) {
		t.Sort = "tree"
		if len(all) > poolRows {
			t.Sort = "lag"
		}
	}
	var rows []*views.PoolView
	for i := range all {
		rows = append(rows, &all[i])
	}
	for _, o := range orders {
		t.Sorts = append(t.Sorts, sortLink{o.says, r.With("sort", o.name), o.name == t.Sort})
		if o.name != t.Sort {
			continue
		}
		if t.Tree = o.less == nil; !t.Tree {
			rows = leavesOf(all)
			slices.SortStableFunc(rows, o.less)
		}
	}
	from, err := strconv.Atoi(r.Word("from"))
	if err != nil || from < 1 || from > len(rows) {
		from = 1
	}
	t.All, t.From, t.To = len(rows), from, min(len(rows), from-1+poolRows)
	if from > 1 {
		t.Before = r.With("from", strconv.Itoa(max(1, from-poolRows)))
	}
	if t.To < t.All {
		t.After = r.With("from", strconv.Itoa(t.To+1))
	}
	if len(rows) > 0 {
		t.draw(s, rows[from-1:t.To])
	}
	return t
}

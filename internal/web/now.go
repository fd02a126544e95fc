package web

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plot"
)

// nowSource is what the page Now needs.
type nowSource interface {
	// Shares are the pools: of the whole tree, or from one on down.
	Shares(ctx context.Context, pool string) (*api.Shares, error)
	// Jobs is a page of the jobs that match.
	Jobs(ctx context.Context, q fairlead.Query, o JobOptions) (*api.JobList, error)
	// Oldest are the jobs of which a task waits that were submitted first, at most so many.
	Oldest(ctx context.Context, most int) []int64
}

// JobOptions say what a list of jobs tells besides.
type JobOptions struct {
	Next  bool // what runs and what would start next, not the lowest ids
	Rank  bool // places in the order of starts, and reasons
	Start bool // by when they start
	Soon  bool // without places where these would have to be waited for
}

// nowPage tells at a glance who is owed, who waits longest, and why.
var nowPage = &Page{Name: "now", Path: "{$}", Title: "Now", Key: "n", Parts: []string{"begin", "tiles", "longest", "pools"}, Load: loadNow}

// Now is what the page shows.
type Now struct {
	*api.Shares
	// Root is the whole, Owed and Ahead the pools that lack most of what was due to them in
	// the last day and that had most beyond it.
	All   *fairlead.PoolView
	Owed  []*fairlead.PoolView
	Ahead []*fairlead.PoolView
	// Oldest are the jobs that wait longest.
	Oldest *api.JobList
	Pools  poolTable
	Full   plot.Bullet // what of the capacity is in use
	Legend plot.Bullet
	Course course
	// New is set while nothing was ever submitted: then it says how to begin.
	New bool
}

// Capacity is what there is of the unit.
func (n *Now) Capacity() int64 { return n.Summary.Capacity[n.Unit] }

// Free is what is left of the unit.
func (n *Now) Free() int64 { return n.Summary.Free[n.Unit] }

// InUse is what is taken of the unit.
func (n *Now) InUse() int64 { return n.Capacity() - n.Free() }

// Wanted is what is asked for by tasks that wait.
func (n *Now) Wanted() float64 { return n.All.Want - n.All.Running }

func loadNow(ctx context.Context, src Source, r *Request) (any, error) {
	shares, err := src.Shares(ctx, "")
	if err != nil {
		return nil, err
	}
	n := &Now{Shares: shares, All: &shares.Pools[0]}
	if n.Oldest, err = oldestOf(ctx, src, r); err != nil {
		return nil, err
	}
	leaves := leavesOf(shares.Pools)
	slices.SortStableFunc(leaves, func(a, b *fairlead.PoolView) int { return cmp.Compare(lag(b), lag(a)) })
	const most = 3
	for i := range min(most, len(leaves)) {
		if lag(leaves[i]) >= leastLag {
			n.Owed = append(n.Owed, leaves[i])
		}
		if p := leaves[len(leaves)-1-i]; lag(p) <= -leastLag {
			n.Ahead = append(n.Ahead, p)
		}
	}
	n.Pools = tableOf(shares, shares.Pools[1:], r)
	n.Pools.sparks(ctx, src, shares.Unit)
	s := &shares.Summary
	n.New = s.Started == 0 && s.Waiting == 0 && s.Running == 0 && n.All.Used == 0
	n.Full = plot.Bullet{Name: "in use", Unit: shares.Unit, Bar: float64(n.InUse()), To: float64(n.Capacity())}
	n.Legend = plot.Bullet{Name: "legend", Bar: 3, Want: 7, Back: 6, Mark: 4, Point: 5, To: 8, Width: 120}
	if !r.Live {
		n.Course = courseOf(ctx, src, "", "", r)
	}
	return n, nil
}

// oldestShown is how many of the jobs that wait longest are listed.
const oldestShown = 5

// oldestOf are the jobs that wait longest by the measure of the metrics and of the history: of which
// a task waits and could start if there were room.
func oldestOf(ctx context.Context, src Source, r *Request) (*api.JobList, error) {
	ids := src.Oldest(ctx, oldestShown)
	q := fairlead.Query{IDs: ids, Waits: true, Limit: oldestShown}
	if len(ids) == 0 {
		q.IDs = []int64{-1} // no job
	}
	return src.Jobs(ctx, q, JobOptions{Rank: true, Start: r.patient(src)})
}

// lag is what a pool was owed over the last day.
func lag(p *fairlead.PoolView) float64 { return p.Fairness.Day.Lag() }

// leastLag is from how many slot-seconds on it is worth a word: what is shown as 0.01 hours.
const leastLag = 18.0

// leavesOf are the pools without pools below them.
func leavesOf(all []fairlead.PoolView) []*fairlead.PoolView {
	var out []*fairlead.PoolView
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
	Over float64 // seconds that what is owed covers
	// From is the number of the first row, counted from 1, All how many there are.
	From, To, All int
	Before, After string // addresses of the neighbours
	Sorts         []sortLink
	Course        string // how far back the courses of the rows go, if they have some
}

type sortLink struct {
	Name, Link string
	On         bool
}

// poolRow is a pool with its picture.
type poolRow struct {
	*fairlead.PoolView
	Bullet plot.Bullet
	// Fared is what it ran beside what was due in the last day, Queued what waited.
	Fared, Queued plot.Spark
}

// poolRows is how many pools a table has at most; a tree that is larger is shown sorted.
const poolRows = 50

type poolOrder struct {
	name, says string
	less       func(a, b *fairlead.PoolView) int // nil: the tree
}

// orders are how pools may be sorted.
var orders = []poolOrder{
	{"tree", "tree", nil},
	{"owed", "most owed", func(a, b *fairlead.PoolView) int { return cmp.Compare(lag(b), lag(a)) }},
	{"wait", "longest wait", func(a, b *fairlead.PoolView) int { return cmp.Compare(b.OldestWait, a.OldestWait) }},
	{"waiting", "most waiting", func(a, b *fairlead.PoolView) int { return cmp.Compare(b.Waiting, a.Waiting) }},
	{"running", "most running", func(a, b *fairlead.PoolView) int { return cmp.Compare(b.Running, a.Running) }},
	{"used", "most used", func(a, b *fairlead.PoolView) int { return cmp.Compare(b.Used, a.Used) }},
}

// tableOf makes the table that a request asks for: sort is the order, from the first row.
func tableOf(s *api.Shares, all []fairlead.PoolView, r *Request) poolTable {
	t := poolTable{Sort: r.Word("sort"), Over: s.Fairness.Day.Seconds}
	if !slices.ContainsFunc(orders, func(o poolOrder) bool { return o.name == t.Sort }) {
		t.Sort = "tree"
		if len(all) > poolRows {
			t.Sort = "owed"
		}
	}
	var rows []*fairlead.PoolView
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

// draw adds the rows with their pictures, all of one scale.
func (t *poolTable) draw(s *api.Shares, rows []*fairlead.PoolView) {
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

package web

import (
	"cmp"
	"context"
	"slices"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

// nowPage shows at a glance which pools are furthest behind, which jobs wait longest, and why.
var nowPage = &Page{Name: "now", Path: "{$}", Title: "Now", Key: "n",
	Parts: []string{"begin", "tiles", "longest", "pools"}, Load: loadNow}

// Now is the data of the page.
type Now struct {
	*api.Shares
	// All is the root pool, Owed holds the pools that are furthest behind over the last day, and Ahead the
	// pools that are furthest ahead.
	All   *views.PoolView
	Owed  []*views.PoolView
	Ahead []*views.PoolView
	// Oldest holds the jobs that wait longest.
	Oldest  *api.JobList
	Pools   poolTable
	Full    plot.Bullet // the used capacity
	Legend  plot.Bullet
	History poolHistory
	// New is set until the first job is submitted: the page then explains the first steps.
	New bool
}

// Capacity returns the capacity in units.
func (n *Now) Capacity() int64 { return n.Summary.Capacity[n.Unit] }

// Free returns the number of free units.
func (n *Now) Free() int64 { return n.Summary.Free[n.Unit] }

// InUse returns the number of units in use.
func (n *Now) InUse() int64 { return n.Capacity() - n.Free() }

// Wanted returns the demand of waiting tasks.
func (n *Now) Wanted() float64 { return n.All.Want - n.All.Running }

func loadNow(ctx context.Context, src Source, r *Request) (any, error) {
	shares, err := src.Pools.Shares(ctx, "")
	if err != nil {
		return nil, err
	}
	n := &Now{Shares: shares, All: &shares.Pools[0]}
	if n.Oldest, err = oldestOf(ctx, src, r); err != nil {
		return nil, err
	}
	leaves := leavesOf(shares.Pools)
	slices.SortStableFunc(leaves, func(a, b *views.PoolView) int { return cmp.Compare(lag(b), lag(a)) })
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
	n.Pools.drawSparklines(ctx, src, shares.Unit)
	s := &shares.Summary
	n.New = s.Started == 0 && s.Waiting == 0 && s.Running == 0 && n.All.Used == 0
	n.Full = plot.Bullet{Name: "in use", Unit: shares.Unit, Bar: float64(n.InUse()), To: float64(n.Capacity())}
	n.Legend = plot.Bullet{Name: "legend", Bar: 3, Want: 7, Back: 6, Mark: 4, Point: 5, To: 8, Width: 120}
	if !r.Live {
		n.History = historyOf(ctx, src, "", "", r)
	}
	return n, nil
}

// oldestShown is the number of listed jobs that wait longest.
const oldestShown = 5

// oldestOf returns the jobs that wait longest, measured as in the metrics and the history: jobs with a
// waiting task that could start if there were room.
func oldestOf(ctx context.Context, src Source, r *Request) (*api.JobList, error) {
	ids := src.Jobs.Oldest(ctx, oldestShown)
	q := queue.Query{IDs: ids, Waits: true, Limit: oldestShown}
	if len(ids) == 0 {
		q.IDs = []int64{-1} // matches no job
	}
	return src.Jobs.List(ctx, q, JobOptions{Rank: true, Start: r.patient(src)})
}

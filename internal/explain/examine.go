package explain

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// Stuck is a group of jobs that will not start unless somebody changes something, or that others can pass forever.
type Stuck struct {
	Code  why.Code
	Text  string // why the first of them waits
	First int64  // the oldest of them
	Jobs  int
}

// MayStarve reports whether the jobs can start, but others can pass them forever.
func (s *Stuck) MayStarve() bool { return verdictOf(why.Reason{Code: s.Code}) == why.MayStarve }

// Stuck searches the jobs that have waited longest, at most "most" of them. It returns the jobs that cannot start
// without a change, or that may starve, grouped by reason, and the number of jobs searched.
func (ex *Explainer) Stuck(ctx context.Context, most int) (stuck []Stuck, looked int, err error) {
	jobs, err := ex.loop.Store.Jobs(ctx, queue.Query{States: []queue.State{queue.Waiting}, Limit: most})
	if err != nil {
		return nil, 0, err
	}
	return engine.Read3(ex.loop, func(st *engine.State) (stuck []Stuck, looked int, err error) {
		subs := reasonsBySub(st)
		for _, j := range jobs {
			if j.Running > 0 || j.Begin.After(time.Now()) {
				continue
			}
			reason := subs.reason(j)
			if v := verdictOf(reason); v != why.Impossible && v != why.NeedsAdmin {
				passed, starves := subs.starves(j)
				if !starves {
					continue
				}
				reason = passed
			}
			i := slices.IndexFunc(stuck, func(s Stuck) bool { return s.Code == reason.Code })
			if i < 0 {
				i = len(stuck)
				stuck = append(stuck, Stuck{Code: reason.Code, Text: reason.Text, First: j.ID})
				if r := (ShortReason{}); subs.hopeless(j, &r) {
					stuck[i].Text = r.Text
				}
			}
			stuck[i].Jobs++
		}
		return stuck, len(jobs), nil
	})
}

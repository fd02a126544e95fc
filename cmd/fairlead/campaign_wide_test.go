//go:build campaign

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// halves gives two users the same share.
const halves = `policy: %s
backfill: %s
pools: {narrow: {}, wide: {}}
`

const (
	wideNarrow = 900 // jobs of one processor
	wideJobs   = 12  // jobs of the whole machine
	wideRun    = 400 * time.Millisecond
)

// TestCampaignWide lets two users share eight processors in halves. One has hundreds of narrow jobs, the other submits
// jobs that need the whole machine: on one node, or as gangs on four. The last of these starts within one and a half
// times the time that follows from the share, under every policy that counts shares, with and without time limits.
// TestWideJobsGetTheirShare plays the same in virtual time, on larger machines too.
func TestCampaignWide(t *testing.T) {
	n, soonest, latest, at := 0, math.Inf(1), 0.0, ""
	for _, policy := range []string{"fair", "fairtree", "deficit", "decay", "drf", "load", "multifactor"} {
		for _, backfill := range []string{"easy", "conservative"} {
			for _, limits := range []bool{false, true} {
				n++
				nodes := 1 + 3*(n/2%2) // one or four
				name := fmt.Sprintf("%s+%s, limits: %v, nodes: %d", policy, backfill, limits, nodes)
				t.Run(name, func(t *testing.T) {
					l := newLab(t, fmt.Sprintf(halves, policy, backfill))
					l.serve()
					for i := range nodes {
						l.work(fmt.Sprint("n", i+1), 8/nodes)
					}
					took := l.contest(nodes, limits)
					if soonest = min(soonest, took); took > latest {
						latest, at = took, name
					}
				})
			}
		}
	}
	t.Logf("figure: the last of %d wide jobs started after %.1f to %.1f of the time that its share gives, in %d cases; "+
		"the latest: %s", wideJobs, soonest, latest, n, at)
}

// contest submits the narrow jobs and then the wide ones. It returns when the last of these started, as a fraction of
// the time that follows from its share.
func (l *lab) contest(nodes int, limits bool) float64 {
	l.t.Helper()
	rng := rand.New(rand.NewPCG(31, uint64(nodes)))
	spec := func(pool string, length time.Duration) api.Spec {
		s := api.Spec{Pool: pool, Dir: "/", Output: "/dev/null", Argv: []string{"sleep", fmt.Sprint(length.Seconds())}}
		if s.LimitSeconds = -1; limits {
			s.LimitSeconds = (length + lateness).Seconds()
		}
		return s
	}
	var narrow, wide []api.Spec
	for range wideNarrow {
		narrow = append(narrow, spec("narrow", time.Duration(100+rng.IntN(300))*time.Millisecond))
	}
	for range wideJobs {
		s := spec("wide", wideRun)
		s.Request = map[string]int64{"cpu": int64(8 / nodes)}
		if nodes > 1 {
			s.Gang, s.Spread = nodes, true
		}
		wide = append(wide, s)
	}
	l.submitAll("ann", narrow)
	l.until("some narrow jobs have ended", func() bool { return len(list(l.t, l.client, "succeeded")) >= 40 })
	ids := l.submitAll("bob", wide)
	began := time.Now()
	l.until("the wide jobs have ended", func() bool { return len(l.ended(ids)) == wideJobs })
	last, used := began, time.Duration(0)
	for _, r := range l.ended(ids) {
		if used += r.end.Sub(r.start); r.start.After(last) {
			last = r.start
		}
	}
	due, took := 2*used, last.Sub(began)
	left := len(list(l.t, l.client, "waiting"))
	switch {
	case left == 0:
		l.t.Errorf("the narrow jobs were over first")
	case took > due*3/2:
		l.t.Errorf("the last wide job started after %v; its share gives %v", took, due)
	}
	return took.Seconds() / due.Seconds()
}

// submitAll submits jobs of a user, and returns their numbers.
func (l *lab) submitAll(user string, specs []api.Spec) (ids []int64) {
	l.t.Helper()
	l.client.As = user
	defer func() { l.client.As = "" }()
	r, err := l.client.Jobs.Submit(l.t.Context(), api.SubmitRequest{Jobs: specs})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, j := range r.Jobs {
		if err := j.Error.Err(); err != nil {
			l.t.Fatal(err)
		}
		ids = append(ids, j.ID)
	}
	return ids
}

// ended returns when the first task of each successful job began and ended.
func (l *lab) ended(ids []int64) (all []machineRun) {
	l.t.Helper()
	for _, id := range ids {
		r, err := l.client.Jobs.Get(l.t.Context(), id)
		if err != nil {
			l.t.Fatal(err)
		}
		if len(r.Tasks) > 0 && r.Job.State == "succeeded" && r.Tasks[0].Ended != nil {
			all = append(all, machineRun{job: int(id), start: r.Tasks[0].Started, end: *r.Tasks[0].Ended})
		}
	}
	return all
}

package sched_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// plant is a cluster whose tasks keep their limits and whose nodes do not change, so that
// a planned start never moves back.
type plant struct {
	*world
	backfill sched.Backfill
	byAge    bool
	runs     []plantRun
	limits   map[int64]time.Duration
	lengths  map[int64]time.Duration // of the tasks of each job, at most the limit
	kept     map[int64][]time.Time   // for each job, the planned starts at the end of the last step
	asks     map[int64]string        // the window that each job asks for
	windows  modelWindows
	order    []int64 // the jobs with planned starts
	licensed map[int64]bool
}

type plantRun struct {
	id   sched.RunID
	ends time.Time
}

// TestBackfillDelaysNobody submits random jobs to random trees and nodes. Under EASY the planned start of the first job
// without room never moves to later, unless the policy lets other jobs go before it. The same holds under conservative
// backfilling if the policy changes the order of jobs; if jobs go in order of arrival, no planned start moves to later.
// No node ever has less than nothing free, and no task may run into a window that is not its own.
func TestBackfillDelaysNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPlant(t)
		t.Repeat(map[string]func(*rapid.T){
			"submit": p.submitOne,
			"pass":   func(t *rapid.T) { p.pass(t, p.now.Add(time.Duration(rapid.IntRange(1, 30).Draw(t, "s"))*time.Second)) },
			"": func(t *rapid.T) {
				if err := p.Check(); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

func newPlant(t *rapid.T) *plant {
	p := &plant{licensed: map[int64]bool{}, limits: map[int64]time.Duration{}, asks: map[int64]string{}, lengths: map[int64]time.Duration{}, kept: map[int64][]time.Time{}}
	p.backfill = rapid.SampledFrom([]sched.Backfill{sched.EASY, sched.Conservative}).Draw(t, "backfill")
	p.byAge = rapid.Bool().Draw(t, "by age")
	root := share.Pool{Policy: rapid.SampledFrom(policy.Names()).Draw(t, "policy"), Pools: []share.Pool{
		{Name: "a", Weight: 1}, {Name: "b", Weight: 3, Policy: "fifo", Pools: []share.Pool{{Name: "x", Weight: 1}, {Name: "y", Weight: 2}}},
	}}
	if p.byAge {
		root.Policy = "fifo"
	}
	s, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}), Backfill: p.backfill, HalfLife: time.Hour, Licenses: map[string]int64{"matlab": 2}}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	p.world = &world{Scheduler: s, now: epoch}
	for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
		s.Join(string(rune('k'+i)), cluster.Amounts{"cpu": rapid.Int64Range(2, 8).Draw(t, "cpu"), "mem": rapid.Int64Range(0, 4).Draw(t, "mem")}, epoch)
	}
	p.windows = drawWindows(t, epoch, []string{"k", "l", "m"})
	s.SetWindows(p.windows, epoch)
	return p
}

func (p *plant) submitOne(t *rapid.T) {
	p.last++
	limit := time.Duration(rapid.IntRange(1, 40).Draw(t, "limit")) * time.Second
	p.limits[p.last] = limit
	p.lengths[p.last] = min(limit, time.Duration(rapid.IntRange(1, 40).Draw(t, "length"))*time.Second)
	request := sched.Request{Amounts: cluster.Amounts{"cpu": rapid.Int64Range(1, 5).Draw(t, "width"), "mem": rapid.Int64Range(0, 2).Draw(t, "mem")}}
	p.asks[p.last] = askWindow(t)
	request.Reservation = p.asks[p.last]
	tasks := rapid.IntRange(1, 3).Draw(t, "tasks")
	if rapid.IntRange(0, 2).Draw(t, "gang") == 0 {
		request.Gang, request.Spread = tasks, rapid.Bool().Draw(t, "spread")
	}
	if rapid.IntRange(0, 3).Draw(t, "license") == 0 {
		request.Licenses = map[string]int64{"matlab": rapid.Int64Range(1, 2).Draw(t, "matlab")}
		p.licensed[p.last] = true
	}
	p.Add(sched.Job{
		ID: p.last, Pool: p.Pool(rapid.SampledFrom([]string{"a", "b/x", "b/y", "c"}).Draw(t, "pool")), Priority: normal,
		Tasks: tasks, Key: p.KeyOf(request), Limit: limit, Submitted: p.now,
	}, p.now)
	p.step(t)
}

// pass lets time pass, with a step whenever a task ends or the scheduler asked for one.
func (p *plant) pass(t *rapid.T, to time.Time) {
	for {
		next := to
		for _, r := range p.runs {
			if r.ends.Before(next) {
				next = r.ends
			}
		}
		if n := p.d.Next; !n.IsZero() && n.After(p.now) && n.Before(next) {
			next = n
		}
		p.now = next
		left := p.runs[:0]
		for _, r := range p.runs {
			if r.ends.After(p.now) {
				left = append(left, r)
			} else {
				p.Finish(r.id, p.now, true)
			}
		}
		p.runs = left
		p.step(t)
		if !p.now.Before(to) {
			return
		}
	}
}

func (p *plant) step(t *rapid.T) {
	passed := false // by the policy, a job started before one with a planned start
	for p.d.More = true; p.d.More; {
		p.Step(p.now, 2, &p.d)
		for _, st := range p.d.Starts {
			if node := p.Cluster().Nodes()[st.Node].Name; !p.windows.lets(node, p.asks[st.Job], p.now, p.limits[st.Job]) {
				t.Fatalf("job %d (window %q, %v) started at %v on %s in spite of %+v", st.Job, p.asks[st.Job], p.limits[st.Job], p.now, node, p.windows)
			}
			p.runs = append(p.runs, plantRun{st.Run, p.now.Add(p.lengths[st.Job])})
			passed = passed || st.Ahead == 0
			if len(p.kept[st.Job]) > 0 {
				p.kept[st.Job] = p.kept[st.Job][1:]
			}
		}
	}
	for _, n := range p.Cluster().Nodes() {
		for r, free := range n.Free {
			if free < 0 {
				t.Fatalf("node %s has %d of %s left", n.Name, free, p.Cluster().Resource(r))
			}
		}
	}
	kept := map[int64][]time.Time{}
	var order []int64
	for r := range p.Reservations() {
		passed = passed || r.Held // nodes are held for a job that waited longer
		order = append(order, r.Job)
		if r.From.Before(p.now) {
			t.Fatalf("room is kept for job %d since %v, now %v", r.Job, r.From, p.now)
		}
		kept[r.Job] = append(kept[r.Job], r.From)
	}
	for _, times := range kept {
		slices.SortFunc(times, time.Time.Compare)
	}
	p.compare(t, kept, func(job int64) bool {
		at, was := slices.Index(order, job), slices.Index(p.order, job)
		if len(p.windows) > 0 && p.licensed[job] {
			return true // its start may lie in a window, and jobs that are in no window go before it
		}
		return passed || slices.ContainsFunc(order[:max(0, at)], func(x int64) bool { return !slices.Contains(p.order[:max(0, was)], x) })
	})
	p.kept, p.order = kept, order
}

// compare fails if the planned start of a job has moved to later, or is gone.
func (p *plant) compare(t *rapid.T, kept map[int64][]time.Time, passed func(job int64) bool) {
	for job, was := range p.kept {
		is, same := kept[job]
		if p.backfill == sched.EASY || !p.byAge {
			if p.backfill == sched.Conservative && job != p.order[0] {
				continue // jobs before it may have moved to another instant, where they are in its way
			}
			if same && !passed(job) && is[0].After(was[0]) {
				t.Fatalf("job %d was to start at %v, and now at %v", job, was[0], is[0])
			}
			continue
		}
		for i, at := range was {
			if i >= len(is) || is[i].After(at) {
				t.Fatalf("job %d was to start at %v, and now at %v", job, was, is)
			}
		}
	}
}

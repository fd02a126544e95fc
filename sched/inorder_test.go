package sched_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// use is a use of a node, by a running task or as planned.
type use struct {
	node     cluster.NodeID
	cpus     int64
	from, to time.Time
}

// planned is a cluster whose tasks run for at most their limits, with a model of its plan.
type planned struct {
	*world
	sizes  []int64 // of the nodes
	widths map[int64]int64
	limits map[int64]time.Duration
	runs   []plantRun
	takes  map[sched.RunID]use
}

// TestPlanFollowsTheOrder submits random jobs under every policy that changes the order of jobs. Each planned start is
// the earliest that the running tasks and the jobs before it in the order leave, also for jobs that were submitted
// after a plan was made. While nodes are held for a job that has waited too long, the model says nothing.
func TestPlanFollowsTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &planned{widths: map[int64]int64{}, limits: map[int64]time.Duration{}, takes: map[sched.RunID]use{}}
		names := slices.DeleteFunc(policy.Names(), func(name string) bool { return name == "fifo" })
		root := share.Pool{Policy: rapid.SampledFrom(names).Draw(t, "policy"), Pools: []share.Pool{
			{Name: "a", Weight: 1}, {Name: "b", Weight: 2}}}
		s, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}),
			Backfill: sched.Conservative, HalfLife: time.Hour}, epoch, 1)
		if err != nil {
			t.Fatal(err)
		}
		p.world = &world{Scheduler: s, now: epoch}
		for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			p.sizes = append(p.sizes, rapid.Int64Range(4, 8).Draw(t, "cpus"))
			s.Join(fmt.Sprint("n", i), cluster.Amounts{"cpu": p.sizes[i]}, epoch)
		}
		t.Repeat(map[string]func(*rapid.T){
			"submit": p.submitOne,
			"pass":   p.pass,
			"":       p.check,
		})
	})
}

func (p *planned) submitOne(t *rapid.T) {
	p.last++
	p.widths[p.last] = rapid.Int64Range(1, 4).Draw(t, "width")
	p.limits[p.last] = time.Duration(rapid.IntRange(1, 4).Draw(t, "limit")) * 10 * time.Second
	p.Add(sched.Job{ID: p.last, Pool: p.Pool(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "pool")), Priority: normal,
		Tasks: 1, Key: p.Key(cluster.Amounts{"cpu": p.widths[p.last]}), Limit: p.limits[p.last], Submitted: p.now}, p.now)
	p.step(t)
}

// pass lets time pass until the next task ends.
func (p *planned) pass(*rapid.T) {
	if len(p.runs) == 0 {
		return
	}
	slices.SortFunc(p.runs, func(a, b plantRun) int { return a.ends.Compare(b.ends) })
	p.now = p.runs[0].ends
	for len(p.runs) > 0 && p.runs[0].ends.Equal(p.now) {
		p.Finish(p.runs[0].id, p.now, true)
		delete(p.takes, p.runs[0].id)
		p.runs = p.runs[1:]
	}
	p.step(nil)
}

func (p *planned) step(t *rapid.T) {
	for p.d.More = true; p.d.More; {
		p.Step(p.now, 2, &p.d)
		for _, st := range p.d.Starts {
			limit := p.limits[st.Job]
			length := limit
			if t != nil {
				length = min(limit, time.Duration(rapid.IntRange(1, 40).Draw(t, "length"))*time.Second)
			}
			p.runs = append(p.runs, plantRun{st.Run, p.now.Add(length)})
			p.takes[st.Run] = use{st.Node, p.widths[st.Job], p.now, p.now.Add(limit)}
		}
	}
}

// check compares the plan with the model.
func (p *planned) check(t *rapid.T) {
	var uses []use
	for _, u := range p.takes {
		uses = append(uses, u)
	}
	kept := slices.Collect(p.Reservations())
	if slices.ContainsFunc(kept, func(r sched.Reservation) bool { return r.Held }) {
		return // the held room may be anywhere in the list, and nothing else is planned there
	}
	rooms := 0
	for _, r := range kept {
		rooms++
		cpus := p.widths[r.Job]
		if first := p.earliest(uses, cpus, p.limits[r.Job]); !r.From.Equal(first) {
			t.Fatalf("job %d has room from %v, and the model says %v", r.Job, r.From, first)
		}
		uses = append(uses, use{r.Nodes[0], cpus, r.From, r.To})
		if node := int(r.Nodes[0]); p.least(uses, r.Nodes[0], r.From, r.To) < 0 {
			t.Fatalf("node %d has less than nothing left when job %d is to run", node, r.Job)
		}
	}
	if waiting := int(p.View(sched.Root).Waiting); rooms != waiting {
		t.Fatalf("%d jobs of %d have room", rooms, waiting)
	}
}

// earliest is the first instant at which a node has room for a duration: now, or when something ends.
func (p *planned) earliest(uses []use, cpus int64, length time.Duration) time.Time {
	instants := []time.Time{p.now}
	for _, u := range uses {
		if u.to.After(p.now) {
			instants = append(instants, u.to)
		}
	}
	slices.SortFunc(instants, time.Time.Compare)
	for _, at := range instants {
		for node := range p.sizes {
			if p.least(uses, cluster.NodeID(node), at, at.Add(length)) >= cpus {
				return at
			}
		}
	}
	return time.Time{}
}

// least returns the smallest number of processors that a node has free between two instants.
func (p *planned) least(uses []use, node cluster.NodeID, from, to time.Time) int64 {
	least := p.sizes[node]
	at := func(instant time.Time) {
		free := p.sizes[node]
		for _, u := range uses {
			if u.node == node && !u.from.After(instant) && u.to.After(instant) {
				free -= u.cpus
			}
		}
		least = min(least, free)
	}
	at(from)
	for _, u := range uses {
		if u.node == node && u.from.After(from) && u.from.Before(to) {
			at(u.from)
		}
	}
	return least
}

// TestFloodOwnsNoFuture: one user's thousand narrow jobs wait, and another user submits a wide job. Under fair it
// starts when the running jobs have ended; under fifo, when all earlier jobs have.
func TestFloodOwnsNoFuture(t *testing.T) {
	for name, want := range map[string]time.Duration{"fair": time.Minute, "fifo": 126 * time.Minute} {
		root := share.Pool{Policy: name, Pools: []share.Pool{{Name: "narrow", Weight: 1}, {Name: "wide", Weight: 1}}}
		s, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}),
			Backfill: sched.Conservative}, epoch, 1)
		if err != nil {
			t.Fatal(err)
		}
		w := &world{Scheduler: s, t: t, now: epoch}
		s.Join("n", cluster.Amounts{"cpu": 8}, epoch)
		add := func(pool string, cpus int64) int64 {
			w.last++
			s.Add(sched.Job{ID: w.last, Pool: s.Pool(pool), Key: s.Key(cluster.Amounts{"cpu": cpus}), Priority: normal,
				Tasks: 1, Limit: time.Minute, Submitted: w.now}, w.now)
			return w.last
		}
		for range 1008 {
			add("narrow", 1)
		}
		w.step(0)
		wide := add("wide", 8)
		w.step(0)
		if kept := s.Read().KeptFor(wide); kept == nil || kept.From.Sub(epoch) != want || kept.MayMove != (name == "fair") {
			t.Errorf("%s: the wide job has room %+v, want it after %v", name, kept, want)
		}
	}
}

// TestTurnsInOrder: under conservative backfilling the lottery draws again for each start. A pool whose jobs come while
// nobody waits has no claim to service that another pool received alone: each of the two pools gets about half of the
// following starts.
func TestTurnsInOrder(t *testing.T) {
	for _, name := range []string{"lottery", "fair"} {
		root := share.Pool{Policy: name, Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}}
		s, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}),
			Backfill: sched.Conservative}, epoch, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.Join("n", cluster.Amounts{"cpu": 1}, epoch)
		w := &world{Scheduler: s, t: t, now: epoch}
		starts := map[string]int{}
		var runs []sched.RunID
		next := func() {
			for _, id := range runs {
				w.Finish(id, w.now, true)
			}
			runs = nil
			for _, st := range w.step(0) {
				starts[w.Path(st.Pool)]++
				runs = append(runs, st.Run)
			}
			w.tick(time.Second)
		}
		w.submit("a", 100)
		for range 100 {
			next()
		}
		w.submit("b", 100)
		w.step(0)
		w.submit("a", 100)
		clear(starts)
		for range 60 {
			next()
		}
		if starts["a"] < 20 || starts["b"] < 20 {
			t.Errorf("%s: of 60 starts %v", name, starts)
		}
	}
}

// TestTheFirstJobOfTheShownPlanIsFirst: while all nodes are in use, a job is submitted that goes before the first job
// without room. No plan is made before a task ends. The answer shows the room of the new first job; the start of the
// other job is only planned.
func TestTheFirstJobOfTheShownPlanIsFirst(t *testing.T) {
	for _, name := range []string{"fair", "fairtree", "drf"} {
		w := newWorldOf(t, sched.Config{Root: share.Pool{Policy: name}, NewPolicy: policy.New(policy.Options{}),
			Backfill: sched.Conservative})
		w.Join("n", cluster.Amounts{"cpu": 8}, w.now)
		add := func(pool string, cpus int64) int64 {
			w.last++
			w.Add(sched.Job{ID: w.last, Pool: w.Pool(pool), Key: w.Key(cluster.Amounts{"cpu": cpus}), Priority: normal,
				Tasks: 1, Limit: 10 * time.Minute, Submitted: w.now}, w.now)
			return w.last
		}
		var narrow int64
		for range 9 {
			narrow = add("narrow", 1)
		}
		w.step(0)
		w.tick(time.Second)
		if k := w.Read().KeptFor(narrow); k == nil || !k.First || k.Since == nil || k.Tentative() {
			t.Errorf("%s: the first job has room %+v", name, k)
		}
		wide := add("wide", 8)
		w.step(0)
		w.tick(time.Second)
		if k := w.Read().KeptFor(wide); k == nil || !k.First || k.Tentative() {
			t.Errorf("%s: the new first job has room %+v", name, k)
		}
		if k := w.Read().KeptFor(narrow); k == nil || k.First || k.Since != nil || !k.Tentative() {
			t.Errorf("%s: the job that was first has room %+v", name, k)
		}
	}
}

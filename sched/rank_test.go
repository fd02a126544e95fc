package sched_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

func ptr(x float64) *float64 { return &x }

// rankWorld is a scheduler under the policy multifactor, with a plain list of its waiting jobs. Both have to agree on
// the starts.
type rankWorld struct {
	*world
	waiting map[int64]*sched.Job
	running []sched.RunID
	jobs    map[sched.RunID]sched.Job
}

func newRankWorld(t testing.TB, cfg sched.Config, slots int64) *rankWorld {
	cfg.NewPolicy = policy.New(policy.Options{})
	s, err := sched.New(cfg, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": slots, "gpu": slots}, epoch)
	return &rankWorld{world: &world{Scheduler: s, t: t, now: epoch}, waiting: map[int64]*sched.Job{}, jobs: map[sched.RunID]sched.Job{}}
}

func (w *rankWorld) add(pool string, request cluster.Amounts, tasks, most int, factors sched.Factors, age time.Duration) {
	w.last++
	j := sched.Job{
		ID: w.last, Pool: w.Pool(pool), Key: w.Key(request), Priority: int(w.last) % 5, Tasks: tasks, MaxRunning: most,
		Class: w.Class(factors), Submitted: w.now.Add(-age),
	}
	w.Add(j, w.now)
	w.waiting[j.ID] = &j
}

// want is the job that starts next: among the waiting jobs that may start, the job with the highest priority, and among
// equal ones the job with the smallest number.
func (w *rankWorld) want(runningOf map[int64]int) int64 {
	var all []*sched.Job
	for _, j := range w.waiting {
		if j.Tasks > 0 && (j.MaxRunning == 0 || runningOf[j.ID] < j.MaxRunning) {
			all = append(all, j)
		}
	}
	if len(all) == 0 {
		return 0
	}
	priority := func(j *sched.Job) float64 {
		terms, ok := w.Explain().Priority(*j)
		if !ok {
			w.t.Fatalf("job %d has no priority", j.ID)
		}
		return -terms.Key
	}
	slices.SortFunc(all, func(a, b *sched.Job) int {
		if x, y := priority(a), priority(b); x > y || x == y && a.ID < b.ID {
			return -1
		}
		return 1
	})
	return all[0].ID
}

func (w *rankWorld) runningOf() map[int64]int {
	n := map[int64]int{}
	for _, r := range w.running {
		n[w.jobs[r].ID]++
	}
	return n
}

// start takes one step with one task, and checks that the sorted list has the same task first.
func (w *rankWorld) start(t *rapid.T, full bool) {
	want := w.want(w.runningOf())
	w.Step(w.now, 1, &w.d)
	if len(w.d.Starts) == 0 {
		if want != 0 && !full {
			t.Fatalf("at %v nothing starts, want job %d", w.now, want)
		}
		return
	}
	st := w.d.Starts[0]
	if st.Job != want {
		t.Fatalf("at %v job %d starts, want %d", w.now, st.Job, want)
	}
	for _, l := range w.d.Why(st) {
		if !recomputed(l.Terms) {
			t.Fatalf("key %v is not %s of %v", l.Terms.Key, l.Terms.Formula.Text, l.Terms.Values)
		}
		if l.Rival != sched.Root && l.RivalTerms.Key < l.Terms.Key {
			t.Fatalf("the rival has key %v, the first %v", l.RivalTerms.Key, l.Terms.Key)
		}
	}
	j := w.waiting[st.Job]
	w.jobs[st.Run] = *j
	w.running = append(w.running, st.Run)
	if j.Tasks--; j.Tasks == 0 {
		delete(w.waiting, st.Job)
	}
}

var rankTree = share.Pool{Policy: "multifactor", Pools: []share.Pool{
	{Name: "a", Weight: 2, Factor: ptr(0.5), Pools: []share.Pool{{Name: "x", Weight: 1}, {Name: "y", Weight: 3, AssocFactor: ptr(1)}}},
	{Name: "b", Weight: 1, Factor: ptr(1)},
	{Name: "c", Weight: 1, MaxRunning: 3, Pools: []share.Pool{{Name: "z", Weight: 1, Factor: ptr(0.25)}}},
}}

var rankFactors = sched.Multifactor{
	Age: 1000, Fairshare: 2000, Size: 500, Pool: 300, QOS: 400, Assoc: 100, Site: 1, TRES: map[string]float64{"gpu": 700, "cpu": 50},
	MaxAge: time.Hour, Recalculate: 10 * time.Minute, Levels: map[string]float64{"high": 1, "low": 0.1},
}

// TestStartsAreInTheOrderOfPriority compares each start with a sorted list of all waiting jobs.
func TestStartsAreInTheOrderOfPriority(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tree := rankTree
		tree.Pools = slices.Clone(rankTree.Pools)
		tree.Pools[2].MaxRunning = 0
		w := newRankWorld(t, sched.Config{Root: tree, Multifactor: rankFactors, HalfLife: 24 * time.Hour}, 6)
		for range rapid.IntRange(1, 150).Draw(rt, "events") {
			w.event(rt)
			if err := w.Check(); err != nil {
				rt.Fatal(err)
			}
		}
		w.verify(rt)
	})
}

// verify checks for each waiting job that the order of the next starts can be derived from the numbers in its answer.
func (w *rankWorld) verify(rt *rapid.T) {
	position, n := map[int64]int64{}, int64(0)
	w.Preview(func(st sched.Start, _ float64) bool {
		if n++; position[st.Job] == 0 {
			position[st.Job] = n
		}
		return true
	})
	evidence := w.Explain().Evidence(1000)
	for id, at := range position {
		j := *w.waiting[id]
		a := &why.Answer{Subject: why.Subject{Job: id}, Rank: &why.Rank{Position: at}, Evidence: evidence, Levels: w.Explain().Comparisons(w.Leaf(j), 0)}
		if l, ok := w.Explain().JobLevel(j, 10); ok {
			a.Levels = append(a.Levels, l)
		}
		for _, c := range replay.Verify(a, policy.Rule) {
			if !c.OK {
				rt.Fatalf("job %d: %s: %s", id, c.What, c.Text)
			}
		}
		again := w.printed(rt, a)
		if !why.Verified(replay.Verify(again, policy.Rule)) {
			rt.Fatalf("job %d: it does not hold any more after it was printed", id)
		}
	}
}

// printed returns the answer as a reader of its JSON gets it.
func (w *rankWorld) printed(rt *rapid.T, a *why.Answer) *why.Answer {
	text, err := json.Marshal(a)
	if err != nil {
		rt.Fatal(err)
	}
	b := &why.Answer{}
	if err := json.Unmarshal(text, b); err != nil {
		rt.Fatal(err)
	}
	return b
}

func (w *rankWorld) event(rt *rapid.T) {
	switch rapid.IntRange(0, 11).Draw(rt, "event") {
	case 0, 1, 2:
		w.add(rapid.SampledFrom([]string{"a/x", "a/y", "b", "c/z", "d", "a/new/u"}).Draw(rt, "pool"), nil,
			rapid.IntRange(1, 3).Draw(rt, "tasks"), rapid.IntRange(0, 2).Draw(rt, "most"),
			sched.Factors{
				QOS: rapid.SampledFrom([]string{"", "high", "low", "none"}).Draw(rt, "qos"), Nice: rapid.SampledFrom([]int{0, 0, 10, -7}).Draw(rt, "nice"),
				Site: rapid.SampledFrom([]float64{0, 0, 3.3}).Draw(rt, "site"),
			}, 0)
	case 3, 4:
		w.start(rt, len(w.running) >= 6)
	case 5:
		if len(w.running) > 0 {
			w.finish(rapid.IntRange(0, len(w.running)-1).Draw(rt, "which"))
		}
	case 6:
		w.tick(time.Duration(rapid.Int64Range(0, int64(40*time.Minute)).Draw(rt, "pause")))
		w.Advance(w.now)
	case 7:
		w.withdraw(rt)
	case 8:
		w.Scheduler = w.Fork()
	case 9:
		w.abort()
	case 10: // other weights
		cfg := w.Read().Config()
		cfg.Multifactor.Age = rapid.SampledFrom([]float64{0, 10, 1000, 1e6}).Draw(rt, "age")
		cfg.Multifactor.Small = !cfg.Multifactor.Small
		cfg.Multifactor.MaxAge = rapid.SampledFrom([]time.Duration{time.Minute, time.Hour, 24 * time.Hour}).Draw(rt, "maximum")
		if err := w.Configure(cfg, w.now); err != nil {
			rt.Fatal(err)
		}
	case 11: // nodes come and go; factors that depend on the capacity are computed anew
		w.Join("extra", cluster.Amounts{"gpu": rapid.Int64Range(0, 9).Draw(rt, "gpus")}, w.now)
		w.tick(time.Second)
		w.Advance(w.now)
	}
}

func (w *rankWorld) finish(i int) {
	w.Finish(w.running[i], w.now, true)
	delete(w.jobs, w.running[i])
	w.running = slices.Delete(w.running, i, i+1)
}

// abort makes the last started task wait again.
func (w *rankWorld) abort() {
	if len(w.running) == 0 {
		return
	}
	id := w.running[len(w.running)-1]
	j := w.jobs[id]
	w.Abort(id, w.now, true)
	w.running = w.running[:len(w.running)-1]
	if known := w.waiting[j.ID]; known != nil {
		known.Tasks++
	} else {
		j.Tasks = 1
		w.waiting[j.ID] = &j
	}
}

func (w *rankWorld) withdraw(rt *rapid.T) {
	ids := make([]int64, 0, len(w.waiting))
	for id := range w.waiting {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	j := w.waiting[rapid.SampledFrom(ids).Draw(rt, "job")]
	before, _ := w.Behind(*j)
	if n := w.Withdraw(*j, w.now); n != j.Tasks {
		rt.Fatalf("job %d: withdrew %d tasks, want %d (%d jobs were before it)", j.ID, n, j.Tasks, before)
	}
	delete(w.waiting, j.ID)
}

// TestPriorityOfWhatPassesTheMaximumAge follows two jobs past the maximum age. The older job is ahead by its age until
// its age stops counting. Then the younger job, which has the better quality of service, catches up.
func TestPriorityOfWhatPassesTheMaximumAge(t *testing.T) {
	w := newRankWorld(t, sched.Config{Root: rankTree, Multifactor: rankFactors}, 1)
	w.add("b", nil, 1, 0, sched.Factors{}, 0) // takes the room
	w.Step(w.now, 0, &w.d)
	run := w.d.Starts[0].Run
	w.add("b", nil, 1, 0, sched.Factors{}, 0)
	w.tick(30 * time.Minute)
	w.add("b", nil, 1, 0, sched.Factors{QOS: "high"}, 0) // +400, and 500 behind by age
	order := func() (ids []int64) {
		w.Preview(func(s sched.Start, _ float64) bool { ids = append(ids, s.Job); return true })
		return ids
	}
	if got := fmt.Sprint(order()); got != "[2 3]" {
		t.Errorf("at once: %s", got)
	}
	w.tick(24*time.Minute + 1*time.Second)
	w.Advance(w.now)
	if got := fmt.Sprint(order()); got != "[2 3]" {
		t.Errorf("below the maximum age: %s", got)
	}
	w.tick(6 * time.Minute) // the first has been at 1000 for a second; the second has 400 and 500
	w.Advance(w.now)
	if got := fmt.Sprint(order()); got != "[2 3]" {
		t.Errorf("at the maximum age: %s", got)
	}
	w.tick(6 * time.Minute)
	w.Finish(run, w.now, true)
	if got := fmt.Sprint(order()); got != "[3 2]" {
		t.Errorf("beyond it: %s", got)
	}
}

// recomputed reports whether the formula's text, applied to the values, gives the key.
func recomputed(t why.Terms) bool {
	return t.Formula.Eval(t.Values[:len(t.Formula.Terms)]) == t.Formula.Result(t.Key)
}

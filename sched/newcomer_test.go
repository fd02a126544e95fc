package sched_test

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/usage"
)

// TestWrongExpectation: before any task has ended, all tasks are expected to run for a minute. A pool whose jobs come
// meanwhile must not pay for that expectation when the tasks turn out short.
func TestWrongExpectation(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 4, 1)
	w.submit("ann", 1000)
	type task struct {
		end  time.Time
		run  sched.RunID
		pool string
	}
	var running []task
	got := map[string]float64{}
	begin := func() {
		for _, st := range w.step(0) {
			running = append(running, task{w.now.Add(time.Second), st.Run, w.Path(st.Pool)})
		}
	}
	begin()
	w.tick(100 * time.Millisecond)
	w.submit("bob", 1000)
	for w.now.Sub(epoch) < 20*time.Second {
		i := 0
		for k := range running {
			if running[k].end.Before(running[i].end) {
				i = k
			}
		}
		w.now = running[i].end
		w.Finish(running[i].run, w.now, true)
		got[running[i].pool]++
		running = slices.Delete(running, i, i+1)
		begin()
	}
	if ratio := got["bob"] / got["ann"]; ratio < 0.8 || ratio > 1.1 {
		t.Errorf("in 20 s ann got %v seconds and bob %v", got["ann"], got["bob"])
	}
}

// TestBehindKnowsTheTime: the key of a pool with running tasks rises while nothing happens to the pool, so it goes
// after a pool whose jobs have come meanwhile.
func TestBehindKnowsTheTime(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 2, 1)
	w.submit("ann", 10)
	w.step(0)
	w.tick(time.Minute)
	w.submit("bob", 10)
	w.tick(time.Hour)
	w.Advance(w.now)
	for path, want := range map[string]bool{"ann": true, "bob": false} {
		if _, behind, _ := w.Explain().BehindAt(w.Pool(path)); behind != want {
			t.Errorf("%s is behind: %v, want %v", path, behind, want)
		}
	}
}

// TestLagWithAbsence lets pools come and go, and measures how far each is from the service that the ideal fluid
// scheduler would give it for its demand.
func TestLagWithAbsence(t *testing.T) {
	const pools, slots, horizon = 20, 40, 600.0
	worst := 0.0
	for seed := range uint64(3) {
		worst = math.Max(worst, lagWithAbsence(t, pools, slots, horizon, seed))
	}
	t.Logf("largest lag of pools that come and go: %.1f slot-seconds", worst)
	// The lag of a waiting pool is at most about a task for each of its slots.
	if worst > 60 {
		t.Errorf("largest lag %.1f slot-seconds", worst)
	}
}

func lagWithAbsence(t *testing.T, pools, slots int, horizon float64, seed uint64) float64 {
	s, err := sched.New(sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{})}, epoch, seed)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": int64(slots)}, epoch)
	rng := rand.New(rand.NewPCG(seed, 5))
	ids := make([]sched.PoolID, pools)
	for i := range ids {
		ids[i] = s.Pool(fmt.Sprint("p", i))
	}
	number := map[sched.PoolID]int{}
	for i, id := range ids {
		number[id] = i
	}
	lag := usage.NewFairness(epoch)
	rates := make([]usage.Rate, pools)
	var queue endings
	var d sched.Decision
	job, now := int64(0), 0.0
	arrival := 0.0
	at := func() time.Time { return epoch.Add(time.Duration(now * 1e9)) }
	for now < horizon {
		for s.Step(at(), 0, &d); len(d.Starts) > 0; s.Step(at(), 0, &d) {
			for _, st := range d.Starts {
				rates[number[st.Pool]].Received++
				heap.Push(&queue, ending{now + rng.ExpFloat64(), st.Run, st.Pool})
			}
		}
		for i, e := range s.Read().Entitlements() {
			if k, ok := number[sched.PoolID(i)]; ok {
				rates[k].Ideal = e.Now
			}
		}
		next := arrival
		if len(queue) > 0 && queue[0].at < next {
			next = queue[0].at
		}
		lag.Set(at(), rates, 0)
		lag.Advance(epoch.Add(time.Duration(next * 1e9)))
		if now = next; now == arrival { // a burst for some pool, then silence
			job++
			s.Add(sched.Job{ID: job, Pool: ids[rng.IntN(pools)], Key: s.Key(nil), Priority: normal, Tasks: 1 + rng.IntN(120)}, at())
			arrival += rng.ExpFloat64() * 1.6
			continue
		}
		e := heap.Pop(&queue).(ending)
		rates[number[e.pool]].Received--
		s.Finish(e.run, at(), true)
	}
	return lag.Largest()
}

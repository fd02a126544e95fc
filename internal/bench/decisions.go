package bench

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
)

// decisionSlots is how many tasks run at the same time.
const decisionSlots = 1000

// Policies measures the decisions of every policy with this number of pools, and compares them with the
// decisions of fair.
func Policies(pools, waiting, n int) ([]Result, error) {
	fair, err := Decisions("fair", pools, waiting, n)
	if err != nil {
		return nil, err
	}
	all := []Result{fair}
	for _, name := range policy.Names() {
		if name == "fair" {
			continue
		}
		r, err := Decisions(name, pools, waiting, n)
		if err != nil {
			return nil, err
		}
		r.Beside, r.Ratio, r.Goal = "fair", r.PerSecond/fair.PerSecond, ">= 0.5 of fair"
		if name == "deficit" { // deficit is exact at every event, so each event updates the deficits of other pools
			r.Goal = ">= 0.2 of fair"
		}
		all = append(all, r)
	}
	return all, nil
}

// Decisions measures full cycles of a task through the scheduler: one task ends, another is submitted, and a
// step picks and starts one, with the record of its choice. It uses one core.
func Decisions(policy string, pools, waiting, n int) (Result, error) {
	shares := allocation.Default()
	shares.Sched.Root.Policy = policy
	at := time.Unix(1_700_000_000, 0)
	s, err := sched.New(shares.Sched, at, 1)
	if err != nil {
		return Result{}, err
	}
	s.Join("n", cluster.Amounts{"cpu": decisionSlots}, at)
	key, ids := s.Key(nil), make([]sched.PoolID, pools)
	for i := range ids {
		ids[i] = s.Pool(fmt.Sprint("u", i))
	}
	id := int64(0)
	submit := func(pool sched.PoolID) {
		id++
		s.Add(sched.Job{ID: id, Pool: pool, Key: key, Priority: 2, Tasks: 1}, at)
	}
	for range max(waiting, pools) {
		submit(ids[int(id)%pools])
	}
	var d sched.Decision
	var running []sched.RunID
	for more := true; more; more = d.More {
		s.Step(at, 0, &d)
		for _, st := range d.Starts {
			running = append(running, st.Run)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	runtime.GC()
	w := start()
	for range n {
		at = at.Add(10 * time.Millisecond)
		k := rng.IntN(len(running))
		s.Finish(running[k], at, true)
		submit(ids[rng.IntN(pools)])
		s.Step(at, 0, &d)
		running[k] = d.Starts[0].Run
	}
	r := Result{
		Name: "decisions", Detail: fmt.Sprintf("%s, %d pools, %d waiting", policy, pools, max(waiting, pools)),
		Goal: ">= 500,000/s per core",
	}
	r.PerSecond, r.CPU = w.stop(n)
	return r, nil
}

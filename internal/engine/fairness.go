package engine

import (
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/usage"
)

// The windows over which fairness is reported. The hour advances by five minutes, the day by an hour.
var fairnessSpans = []usage.Span{{Part: 5 * time.Minute, Parts: 12}, {Part: time.Hour, Parts: 24}}

// fairnessPart bounds the time that measuring fairness takes: after a measurement the engine makes none for
// fairnessPart times its duration. So the engine measures a few dozen pools at every event, and the account is
// exact. It measures a hundred thousand pools every few seconds.
const fairnessPart = 100

// fairness is the engine's account of how fair its decisions are.
type fairness struct {
	Account *usage.Fairness
	number  []int // by pool of the core, its number in the account; -1: not in it
	numbers int
	known   map[string]int     // numbers by path, of the pools of the former core
	Own     []usage.OwnCluster // by number
	slots   []float64          // by pool of the core: its share of the capacity
	rates   []usage.Rate
	next    time.Time // earliest time of the next measurement
}

// leave records the numbers of a core's pools before another core replaces it: the account continues, and
// recognizes pools by their paths.
func (f *fairness) leave(core *sched.Scheduler) {
	if core == nil {
		f.Account, f.known = usage.NewFairness(time.Now(), fairnessSpans...), map[string]int{}
	}
	for i, n := range f.number {
		if n >= 0 {
			f.known[core.Path(sched.PoolID(i))] = n
		}
	}
	f.number, f.slots = nil, nil
}

// unnumbered marks a pool that has no number in the account yet.
const unnumbered = -2

// Of returns the number of a pool in the account, and assigns one if needed. Priority classes have none.
func (f *fairness) Of(core *sched.Scheduler, id sched.PoolID) int {
	for len(f.number) <= int(id) {
		f.number = append(f.number, unnumbered)
	}
	if f.number[id] == unnumbered {
		f.number[id] = -1
		if !core.Read().PriorityClass(id) {
			f.number[id] = f.new(core, id)
		}
	}
	return f.number[id]
}

// new returns the number that the pool had in the former core, or else a new one.
func (f *fairness) new(core *sched.Scheduler, id sched.PoolID) int {
	if len(f.known) > 0 {
		if n, ok := f.known[core.Path(id)]; ok {
			return n
		}
	}
	f.numbers++
	return f.numbers - 1
}

// Measure adds up the values that were current until now, and records those from now on.
func (f *fairness) Measure(core *sched.Scheduler, now time.Time, entitled []sched.Entitlement) {
	capacity, _, _ := core.Read().Capacity()
	f.slots = f.slots[:0]
	clear(f.rates)
	for i := range entitled {
		id := sched.PoolID(i)
		f.slots = append(f.slots, entitled[i].Share*float64(capacity[0]))
		n := f.Of(core, id)
		if n < 0 {
			continue
		}
		for len(f.rates) <= n {
			f.rates = append(f.rates, usage.Rate{})
		}
		f.rates[n] = usage.Rate{Ideal: entitled[i].Now, Received: BegunUnits(core, id)}
	}
	f.Account.Set(now, f.rates, core.Read().IdleWhileDemand())
}

// BegunUnits returns the units of the running tasks of a pool, without tasks that wait in other
// queueing systems.
func BegunUnits(core *sched.Scheduler, id sched.PoolID) float64 {
	_, units := core.Read().Queued(id)
	return max(0, core.View(id).Running-units)
}

// BegunTasks returns the number of running tasks of a pool, without tasks that wait in other queueing systems.
func BegunTasks(core *sched.Scheduler, id sched.PoolID) int32 {
	tasks, _ := core.Read().Queued(id)
	return core.View(id).Tasks - int32(tasks)
}

// WaitingTasks returns the number of tasks of a pool that wait, here or in other queueing systems.
func WaitingTasks(core *sched.Scheduler, id sched.PoolID) int64 {
	tasks, _ := core.Read().Queued(id)
	return core.View(id).Waiting + int64(tasks)
}

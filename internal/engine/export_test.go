package engine

import (
	"context"
	"reflect"
	"time"

	"github.com/fairlead/fairlead/sched"
)

// Measure measures the fairness of this moment, as every step of the loop does if it may.
func (l *Loop) Measure() {
	l.Update(func(s *State) { s.Fairness.Measure(s.Core, time.Now(), s.Core.Read().Entitlements()) })
}

// Rebuild makes the core anew, as if the loop had fallen behind the changes of the store.
func (l *Loop) Rebuild(ctx context.Context) error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	return l.builder.rebuild(ctx)
}

// Turn updates the core and starts all jobs that can start, as each step of a running loop does.
func (l *Loop) Turn(ctx context.Context) error {
	_, err := l.turn(ctx)
	return err
}

// Expire ends the leases that ran out, as a loop that runs does now and then.
func (l *Loop) Expire(ctx context.Context) { l.expirer.expire(ctx) }

// Expects is what the running tasks of each pool are expected to receive.
func (l *Loop) Expects() map[string]float64 {
	return Read(l, func(s *State) map[string]float64 {
		all := map[string]float64{}
		for id := range s.Core.Read().Pools() {
			if id := sched.PoolID(id); !s.Core.Read().PriorityClass(id) {
				all[s.Core.Path(id)] = s.Core.View(id).Flight
			}
		}
		return all
	})
}

// Recount compares the sums that are kept with a recount, after it has applied the changes of the store.
func (l *Loop) Recount(ctx context.Context) (Recounted, error) {
	if err := l.Sync(ctx); err != nil {
		return Recounted{}, err
	}
	l.syncing.Lock()
	defer l.syncing.Unlock()
	return Read(l, func(s *State) Recounted { return s.recount(time.Now()) }), nil
}

// Mislay forgets a task that runs without counting it out.
func (l *Loop) Mislay() {
	l.Update(func(s *State) {
		for id := range s.Runs {
			delete(s.Runs, id)
			return
		}
	})
}

// Digested is what a key of a job stands for.
var Digested = reflect.TypeFor[submitted]()

package engine

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// Shown returns the resources without a node's abilities, which are counted without limit.
func Shown(a cluster.Amounts) queue.Amounts {
	out := queue.Amounts{}
	for r, n := range a {
		if n < queue.AnyNumber/2 {
			out[r] = n
		}
	}
	return out
}

// Running returns the number of running tasks, and of tasks that wait for room or in another queueing system.
func (l *Loop) Running() (running, waiting int64) {
	return Read2(l, func(s *State) (running, waiting int64) {
		return int64(BegunTasks(s.Core, sched.Root)), WaitingTasks(s.Core, sched.Root)
	})
}

// Standing names the jobs that do not wait for a start, with their states.
func Standing(jobs ...*queue.Job) string {
	var parts []string
	for _, j := range jobs {
		switch {
		case j == nil || j.State == queue.Waiting || j.Waiting > 0:
		case j.State.Ended():
			parts = append(parts, fmt.Sprintf("job %d has ended (%s)", j.ID, j.State))
		default:
			parts = append(parts, fmt.Sprintf("job %d is %s", j.ID, j.State))
		}
	}
	return strings.Join(parts, ", ")
}

// CheckKinds makes the engine's client refuse jobs of kinds for which check returns an error. The argument handled of
// check says whether a known node, up or not, has a handler of the kind. Call CheckKinds before anything is
// submitted.
func (l *Loop) CheckKinds(check func(kind string, handled bool) error) {
	l.client.kinds = func(kind string) error {
		return check(kind, Read(l, func(s *State) bool {
			return s.Core.Cluster().Empty().Ever(queue.Amounts{queue.HandlerPrefix + kind: 1}, nil)
		}))
	}
}

// LeaseTTL returns how long a lease lasts.
func (l *Loop) LeaseTTL() time.Duration { return l.Options.LeaseTTL }

// Capacity returns the total and the free resources of the nodes, and the unit in which shares are counted. See
// [sched.View.Capacity] about bridges.
func (l *Loop) Capacity() (capacity, free queue.Amounts, unit string) {
	return Read3(l, func(s *State) (capacity, free queue.Amounts, unit string) {
		c := s.Core.Cluster()
		all, left, _ := s.Core.Read().Capacity()
		capacity, free = Shown(c.Amounts(all)), queue.Amounts{}
		names := c.Amounts(left)
		for r := range capacity {
			free[r] = names[r]
		}
		return capacity, free, c.Unit()
	})
}

// UsageUnit returns the unit in which the usage of pools is counted: the unit of shares, or charge.
func (l *Loop) UsageUnit() string {
	return Read(l, func(s *State) string {
		return s.Core.Read().UsageUnit()
	})
}

// Stats returns the counts of the engine since it was created.
func (l *Loop) Stats() Stats {
	out := Read(l, func(st *State) Stats {
		s := st.stats
		s.Stops = maps.Clone(s.Stops)
		s.Failing = len(st.trouble.with) > 0
		return s
	})
	if refused := l.workers.finisher.unkept.text(time.Now()); refused != "" && !out.Failing {
		out.Failing, out.LastError = true, refused
	}
	return out
}

// Watch begins to receive events. Close it when it is no longer needed.
func (l *Loop) Watch() *Watch {
	w := &Watch{C: make(chan queue.Event, watchBuffer), from: &l.watchers}
	l.watchers.mu.Lock()
	defer l.watchers.mu.Unlock()
	if l.watchers.all == nil {
		l.watchers.all = map[*Watch]bool{}
	}
	l.watchers.all[w] = true
	return w
}

// Version counts the changes of the scheduler's knowledge: jobs, tasks, nodes, shares. While it stays the same, only
// time has passed.
func (l *Loop) Version() uint64 {
	return Read(l, func(s *State) uint64 {
		return s.Version
	})
}

// AgentCapacity returns the capacity of a node that runs commands or, if it names kinds, handles jobs of these kinds
// without a command.
func AgentCapacity(a queue.Amounts, kinds ...string) (queue.Amounts, error) {
	out := queue.Amounts{}
	for name, n := range a {
		switch {
		case ability(name):
			return nil, queue.Invalidf("capacity", "%s cannot be a capacity; list the kinds of a worker in kinds", name)
		case n < 0 || n > queue.MaxAmount:
			return nil, queue.Invalidf("capacity", "%s must be from 0 to %d, got %d", name, int64(queue.MaxAmount), n)
		}
		out[name] = n
	}
	if len(kinds) > maxKinds {
		return nil, queue.Invalidf("kinds", "a worker handles at most %d kinds, got %d", maxKinds, len(kinds))
	}
	for _, kind := range kinds {
		if err := queue.CheckText("kinds", kind, queue.MaxName); err != nil {
			return nil, err
		}
		if kind == "" {
			return nil, queue.Invalidf("kinds", "a kind is empty")
		}
		out[queue.HandlerPrefix+kind] = queue.AnyNumber
	}
	if len(kinds) == 0 {
		out[queue.ExecResource] = queue.AnyNumber
	}
	return out, nil
}

// maxKinds bounds the kinds of a worker: each kind is a resource of the cluster.
const maxKinds = 100

// LastRecount returns the last comparison: the engine makes one when it is created, and then at intervals.
func (l *Loop) LastRecount() Recounted {
	return Read(l, func(s *State) Recounted {
		return s.recounted
	})
}

// Pulse is the health of the scheduler at this moment.
type Pulse struct {
	// Store is how long the store took to answer, and CaughtUp how long the scheduler took to read all new changes.
	Store, CaughtUp time.Duration
	// Steps and Starts are the numbers of steps and starts per second over the last minute, or since the server
	// started if that is less.
	Steps, Starts float64
}

// Pulse measures the health of the scheduler. If the store answers, it first retries actions that failed recently.
func (l *Loop) Pulse(ctx context.Context) (Pulse, error) {
	began := time.Now()
	if _, err := l.Store.Jobs(ctx, queue.Query{Limit: 1, Newest: true}); err != nil {
		return Pulse{}, err
	}
	p := Pulse{Store: time.Since(began)}
	began = time.Now()
	if err := l.Sync(ctx); err != nil {
		return p, err
	}
	now := time.Now()
	p.CaughtUp = now.Sub(began)
	l.troubles.retry(ctx)
	return Read2(l, func(s *State) (Pulse, error) {
		first := beat{at: l.Made}
		if len(s.beats) > 0 {
			first = s.beats[0]
		}
		if over := now.Sub(first.at).Seconds(); over > 0 {
			p.Steps, p.Starts = float64(s.stats.Steps-first.steps)/over, float64(s.stats.Started-first.started)/over
		}
		return p, nil
	})
}

// Beat records the counts at this moment.
func (s *State) Beat(now time.Time) { s.beats.note(now, &s.stats) }

// ServerOf returns the name and the address of the other server that has a node, "" if none has.
func (l *Loop) ServerOf(node string) (name, address string) {
	return Read2(l, func(s *State) (name, address string) {
		n, is := s.Others.Nodes[node]
		if !is {
			return "", ""
		}
		return n.Server, s.Others.Server(n.Server).Address
	})
}

// HalfLife returns the half-life of usage.
func (l *Loop) HalfLife() time.Duration {
	return Read(l, func(s *State) time.Duration {
		return s.Core.Read().Clock().HalfLife()
	})
}

// Stops returns the attempts that were stopped early to make room for others, oldest first.
func (l *Loop) Stops(ctx context.Context, q queue.StopQuery) ([]queue.Stopped, error) {
	return l.Store.Stops(ctx, q)
}

// StaleNames returns the configured names that no user's pool has any more.
func (l *Loop) StaleNames() []StaleName { return read(l.base, (*State).staleNames) }

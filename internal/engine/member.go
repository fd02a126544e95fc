package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/queue"
)

// workers keeps the workers that join an engine.
type workers struct {
	*base
	peers     *peers
	overrides *Overrides
	releaser  *releaser
	finisher  *finisher
}

// Join adds a worker with its capacity under the name of its node. running has the attempts that it already runs; nil
// if the worker is new. The engine releases attempts that it expects there but that are not in running, because they
// never began. If the worker is new, such attempts count as lost. A worker that joins under the name of another
// replaces it.
func (w *workers) Join(ctx context.Context, name string, capacity queue.Amounts, info NodeInfo, worker Worker, running []queue.Ref) (*Member, error) {
	if err := CheckNode(name); err != nil {
		return nil, err
	}
	if err := cmp.Or(queue.CheckText("version", info.Version, queue.MaxName), queue.CheckText("host", info.Host, queue.MaxName), checkCapacity(capacity), CheckLabels(info.Labels)); err != nil {
		return nil, err
	}
	// Before the node is a member, no announcement may say that this server lacks it.
	w.peers.sending.Lock()
	defer w.peers.sending.Unlock()
	if err := w.peers.announce(ctx, &queue.ServedNode{Name: name, State: cluster.Up.String(), Capacity: capacity, Labels: info.Labels, Seen: time.Now()}); err != nil {
		return nil, w.excuse(fmt.Errorf("join %s: %w", name, err))
	}
	if err := w.overrides.keepBridge(ctx, name, info.Labels[BridgeLabel]); err != nil {
		return nil, err
	}
	if running == nil {
		// Mark the predecessor down, so that its lost tasks do not go to it again before this worker replaces it.
		w.Update(func(s *State) {
			s.down(name, time.Now())
		})
		if _, err := w.Store.Expire(ctx, name); err != nil {
			return nil, fmt.Errorf("join %s: %w", name, err)
		}
	}
	n := &joinedNode{
		name: name, worker: worker, capacity: maps.Clone(capacity), Info: info, Seen: time.Now(), ttl: w.Options.LeaseTTL,
	}
	var missing []queue.Ref
	w.Update(func(s *State) {
		if old := s.Joined[name]; old != nil {
			old.gone = true
		}
		s.Joined[name] = n
		s.placeNode(name, n)
		missing = s.Runs.missing(n, running)
		s.touch()
	})
	w.Log.Info("node joined", "node", name, "capacity", countable(capacity))
	w.poke()
	if len(missing) > 0 {
		if err := w.releaser.release(context.WithoutCancel(ctx), missing); err != nil {
			return nil, fmt.Errorf("join %s: %w", name, err)
		}
	}
	return &Member{n, w.finisher}, nil
}

// Foreign returns the attempts that a worker reports as running but that differ from this store's attempts with the
// same numbers: they started at another time, or on another node. That happens after a database is restored, because
// ids of jobs since the copy are used again. It skips attempts without a reported start. A bridge sets Queued, and
// reports the latest possible start; see sameStart.
func (w *workers) Foreign(ctx context.Context, node string, running []queue.Run) (foreign []queue.Ref, err error) {
	var unknown []queue.Run // over, or not known here yet
	w.Read(func(s *State) {
		for _, says := range running {
			r := s.Runs[taskID{says.JobID, says.Task}]
			switch {
			case says.Started.IsZero():
			case r == nil || r.Ref != says.Ref:
				unknown = append(unknown, says)
			case r.Holder != node || !sameStart(says, r.Started):
				foreign = append(foreign, says.Ref)
			}
		}
	})
	for _, says := range unknown {
		tasks, err := w.Store.Tasks(ctx, says.JobID)
		if err != nil && !errors.Is(err, queue.ErrNotFound) {
			return nil, fmt.Errorf("ask when tasks of job %d started: %w", says.JobID, err)
		}
		same := func(t queue.Task) bool { return t.Holder == node && sameStart(says, t.Started) }
		if !slices.ContainsFunc(tasks, func(t queue.Task) bool {
			// The store keeps nothing else about an earlier attempt, and accepts no reports about it.
			return t.Index == says.Task && (t.Attempt > says.Attempt || t.Attempt == says.Attempt && same(t))
		}) {
			foreign = append(foreign, says.Ref)
		}
	}
	return foreign, nil
}

// sameStart reports whether an attempt that a worker reports can be the one that started at an instant. The start of an
// attempt in a queueing system is that of its lease until it begins there; a begin in the future counts as now. So if
// the start is later than the worker says, it belongs to another attempt with the same numbers, because the database
// was restored in between. The ledger keeps whole milliseconds.
func sameStart(says queue.Run, started time.Time) bool {
	if says.Queued {
		return !started.After(says.Started.Add(time.Millisecond))
	}
	return started.Equal(says.Started)
}

// countable returns the countable resources of a capacity, without the abilities of the node.
func countable(capacity queue.Amounts) queue.Amounts {
	numbers := maps.Clone(capacity)
	maps.DeleteFunc(numbers, func(_ string, n int64) bool { return n >= queue.AnyNumber })
	return numbers
}

// Name returns the name of the node.
func (m *Member) Name() string { return m.name }

// TTL returns how long a renewal lasts.
func (m *Member) TTL() time.Duration { return m.ttl }

// Gone reports whether the member left, or another took its place.
func (m *Member) Gone() bool {
	return read(m.finisher.base, func(s *State) bool {
		return m.gone
	})
}

// Renew reports that the worker is present and still runs these attempts. An attempt whose error is
// [queue.ErrStaleAttempt] is not the worker's any more. Renew repeats outstanding requests to stop attempts, because
// the worker may have missed them, or this engine may have started since.
func (m *Member) Renew(ctx context.Context, refs []queue.Ref) ([]error, error) {
	return m.RenewFor(ctx, refs, 0)
}

// RenewFor is Renew with leases that last longer than [Member.TTL], for a worker whose tasks continue during its
// absence.
func (m *Member) RenewFor(ctx context.Context, refs []queue.Ref, ttl time.Duration) ([]error, error) {
	l := m.finisher
	l.Update(func(s *State) {
		m.Seen, m.lost = time.Now(), false
		if id, ok := s.Core.Cluster().Lookup(m.name); ok && !m.gone && s.Core.Cluster().Nodes()[id].State == cluster.Down {
			s.placeNode(m.name, m.joinedNode)
			s.wakeUp()
		}
		for _, ref := range refs {
			r := s.Runs[taskID{ref.JobID, ref.Task}]
			if r == nil || r.Ref != ref || r.Holder != m.name {
				continue
			}
			if !m.Info.Queue {
				s.Faults.hear(r)
				r.renewed = m.Seen
			}
			if r.Stop != "" {
				m.worker.Stop([]queue.Ref{ref}, r.Stop)
			}
		}
	})
	own, places, errs, err := m.held(ctx, refs)
	if err != nil || len(own) == 0 {
		return errs, l.excuse(err)
	}
	renewed, err := l.renew(ctx, own, max(ttl, l.Options.LeaseTTL))
	if errs == nil || err != nil {
		return renewed, err
	}
	for i, e := range renewed {
		errs[places[i]] = e
	}
	return errs, nil
}

// Drain makes the node take no more tasks; running tasks continue. It waits until the worker has every lease that was
// chosen for it before: the store says that a task runs before the worker has its lease, and the worker cannot release
// a lease that it does not have. If ctx ends first, Drain returns an error, and the node drains all the same.
func (m *Member) Drain(ctx context.Context) error {
	l := m.finisher
	l.Update(func(s *State) {
		m.Draining = true
		if id, ok := s.Core.Cluster().Lookup(m.name); ok && !m.gone {
			s.Core.SetNode(id, cluster.Drain, time.Now())
		}
		s.touch()
	})
	if err := l.syncing.LockBefore(ctx); err != nil { // leases are made and handed over under this lock
		return fmt.Errorf("drain %s: wait for its last leases: %w", m.name, err)
	}
	l.syncing.Unlock()
	return nil
}

// Leave removes the worker. Tasks that it still runs wait again, and each counts a loss. So drain the worker first, and
// release the leases that it did not begin.
func (m *Member) Leave(ctx context.Context) error {
	l := m.finisher
	if !update1(l.base, func(s *State) bool { return s.takeOut(m.joinedNode) }) {
		return nil
	}
	l.Log.Info("node left", "node", m.name)
	_, err := l.Store.Expire(ctx, m.name)
	l.poke()
	return err
}

// Present reports whether a worker of the engine has this name, and when it last reported. A worker that is silent for
// the length of a lease is lost, and another may take the name.
func (w *workers) Present(name string) (heard time.Time, there bool) {
	return read2(w.base, func(s *State) (heard time.Time, there bool) {
		m := s.Joined[name]
		if m == nil {
			return heard, false
		}
		return m.Seen, !m.lost && !m.silentFor(time.Now())
	})
}

// Progress reports how far attempts of the worker are in its queueing system. It does not write known facts again.
func (m *Member) Progress(ctx context.Context, all []queue.Progress) error {
	l := m.finisher
	l.ending.RLock()
	defer l.ending.RUnlock()
	var news []queue.Progress
	l.Read(func(s *State) {
		for _, p := range all {
			if r := s.Runs[taskID{p.JobID, p.Task}]; r != nil && r.Ref == p.Ref && r.Holder == m.name && r.Queued && !p.Began.IsZero() {
				news = append(news, p)
			}
		}
	})
	if len(news) == 0 {
		return nil
	}
	errs, err := l.Store.Progress(context.WithoutCancel(ctx), news)
	if err != nil {
		return fmt.Errorf("record the attempts that began: %w", err)
	}
	now := time.Now()
	return update1(l.base, func(s *State) error {
		for i, p := range news {
			if r := s.Runs[taskID{p.JobID, p.Task}]; errs[i] == nil && r != nil && r.Ref == p.Ref {
				l.applier.moveOn(s, r, queue.Run{Ref: p.Ref, Started: p.Began}, now)
			}
		}
		s.wakeUp()
		return nil
	})
}

// renewPart is the divisor of a lease's length within which a renewal must be answered, so that several tries fit into
// one lease.
const renewPart = 4

// renew renews leases in the store. A store that does not answer in time counts as unavailable.
func (b *base) renew(ctx context.Context, refs []queue.Ref, ttl time.Duration) ([]error, error) {
	short, end := context.WithTimeout(ctx, b.Options.LeaseTTL/renewPart)
	defer end()
	errs, err := b.Store.Renew(short, refs, ttl)
	if err != nil && short.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("leases were not renewed within %v: %w", b.Options.LeaseTTL/renewPart, queue.ErrUnavailable)
	}
	return errs, b.excuse(err)
}

// excuse records an outage if an error lets a holder of leases know that the store is unavailable.
func (b *base) excuse(err error) error {
	if errors.Is(err, queue.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		b.outages.note()
	}
	return err
}

// Sole reports whether no other server uses the store: then, if this server ends no leases, nobody does.
func (w *workers) Sole() bool {
	if s, ok := w.Store.(queue.Sharer); !ok || !s.Shared() {
		return true
	}
	return w.peers.store != nil && read(w.base, func(s *State) bool { return len(s.Others.roll.Others) == 0 })
}

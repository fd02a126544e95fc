package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// misplacedOf reports which leases of a choice may not run where the core put them. The leases of a gang stay together.
func (s *State) misplacedOf(c *choice, leases []*queue.Lease) []bool {
	wrong := make([]bool, len(leases))
	for i, lease := range leases {
		if lease != nil && s.wentElsewhere(&c.starts[i], lease) {
			wrong[i] = true
			if c.gang {
				return slices.Repeat([]bool{true}, len(leases))
			}
		}
	}
	return wrong
}

// wentElsewhere reports whether a job moved to another pool, or came to avoid the node, since the core decided to start
// it there. It must not run on the account of its former pool, nor on a node that could not begin it.
func (st *State) wentElsewhere(s *chosenStart, lease *queue.Lease) bool {
	return st.Core.Path(s.Pool) != st.Core.Path(st.Core.Pool(lease.Job.Pool)) ||
		slices.Contains(st.Mended.avoided(HeaderOf(lease.Job)), s.holder)
}

// lost records that a task could not be leased: as far as this server knows, the task still waits.
func (s *State) lost(run sched.RunID, now time.Time) {
	j := s.Core.Read().JobOf(run)
	s.Core.Abort(run, now, true)
	s.Others.doubts[j.ID] = j
}

// wants returns the claim on the store.
func (c *choice) wants() []queue.Want {
	wants := make([]queue.Want, 0, len(c.starts))
	for _, s := range c.starts {
		if c.gang && len(wants) == 1 {
			wants[0].Nodes = append(wants[0].Nodes, s.holder)
			continue
		}
		w := queue.Want{Job: s.Job, Charge: s.charge, Rates: s.demands.rates, Holds: s.demands.holds, Else: s.others}
		if c.gang {
			w.Nodes = []string{s.holder}
		}
		wants = append(wants, w)
	}
	return wants
}

// of returns the starts that the want with a number covers.
func (c *choice) of(want int) []chosenStart {
	if c.gang {
		return c.starts
	}
	return c.starts[want : want+1]
}

// leases returns the leases of a choice, one for each start, nil for each lost start.
func (c *choice) leases(grants []queue.Grant) []*queue.Lease {
	all := make([]*queue.Lease, len(c.starts))
	for i := range all {
		switch {
		case !c.gang:
			all[i] = grants[i].Lease
		case grants[0].Gang != nil:
			all[i] = grants[0].Gang[i]
		}
	}
	return all
}

// choice is a group of starts that are leased together: those of one node, or those of a gang.
type choice struct {
	holder string // "" for a gang
	gang   bool
	starts []chosenStart
}

type chosenStart struct {
	sched.Start
	levels  []sched.Level
	charge  float64 // as in the Want
	demands demands
	others  []int64 // alternates, Else of the Want
	holder  string
	member  *joinedNode
}

// demands are the rates and the limited amounts that a chosen task needs besides a node.
type demands struct {
	rates []sched.RateLimit
	holds []sched.Held
}

// demandsOf returns the demands of a chosen task. The store needs to check the limited amounts that the task holds only
// if other servers start tasks too, because the core may not know all of their tasks yet.
func (l *leaser) demandsOf(st *State, run sched.RunID) (d demands) {
	d.rates = st.Core.Read().RatesOf(run)
	if s, ok := l.Store.(queue.Sharer); ok && s.Shared() {
		d.holds = st.Core.Read().HeldBy(run)
	}
	return d
}

// settleRates updates the core's rates to the state in the store. Call it after undoing the starts without a lease.
func settleRates(core *sched.Scheduler, grants []queue.Grant, now time.Time) {
	for _, g := range grants {
		for _, s := range g.Rates {
			core.SetRate(s, now)
		}
	}
}

// sayQueued reports to the store the leases that go to nodes of other queueing systems, where the tasks will wait. It
// also extends these leases at once to the length that the node wants. The worker may die before it renews them, while
// the tasks continue in the other system.
func (l *leaser) sayQueued(ctx context.Context, c *choice, grants []queue.Grant) error {
	var all []queue.Progress
	long := map[time.Duration][]queue.Ref{}
	for i, lease := range c.leases(grants) {
		m := c.starts[i].member
		if lease == nil || m == nil || !m.Info.Queue {
			continue
		}
		all = append(all, queue.Progress{Ref: lease.Ref})
		if m.Info.Lease > l.Options.LeaseTTL {
			long[m.Info.Lease] = append(long[m.Info.Lease], lease.Ref)
		}
	}
	if len(all) == 0 {
		return nil
	}
	_, err := l.Store.Progress(ctx, all)
	for ttl, refs := range long {
		if err == nil {
			_, err = l.Store.Renew(ctx, refs, ttl)
		}
	}
	if err != nil {
		l.Log.Warn("could not record that tasks wait in a queueing system; they are returned", "tasks", len(all), "error", err)
	}
	return err
}

// leaser asks the core for a decision, and leases the chosen tasks.
type leaser struct {
	*base
	peers    *peers
	follower *follower
	releaser *releaser

	won       uint64      // leased tasks; guarded by syncing
	fruitless int         // number of steps in a row whose claims all failed
	misplaced []misplaced // leases that a step must return
}

// lease leases the chosen tasks and hands them over. It reports whether a task was lost to another server, which leaves
// room for a different one.
func (l *leaser) lease(ctx context.Context, c *choice) (lost bool, err error) {
	asked := time.Now()
	grants, err := l.Store.Lease(ctx, c.holder, c.wants(), l.Options.LeaseTTL)
	if err != nil {
		return false, fmt.Errorf("lease jobs: %w", err)
	}
	l.Observer.Stored("lease", time.Since(asked))
	unsaid := l.sayQueued(ctx, c, grants)
	now := time.Now()
	return update2(l.base, func(st *State) (lost bool, err error) {
		for i, g := range grants {
			switch {
			case g.Gang != nil:
			case g.Lease == nil:
				lost = l.lose(ctx, st, c, i, g, now) || lost
			case g.Lease.JobID != c.starts[i].Job:
				st.swap(&c.starts[i], g.Lease, now)
			}
		}
		settleRates(st.Core, grants, now)
		var back []queue.Ref
		leases := c.leases(grants)
		wrong := st.misplacedOf(c, leases)
		for i, s := range c.starts {
			switch lease := leases[i]; {
			case lease == nil:
			case unsaid != nil && s.member != nil && s.member.Info.Queue:
				st.Core.Abort(s.Run, now, false)
				back = append(back, lease.Ref)
				leases[i] = nil
			case wrong[i]:
				if st.Core.Abort(s.Run, now, false); l.peers.store != nil {
					st.Others.doubts[s.Job] = st.JobOf(HeaderOf(lease.Job))
					back = append(back, lease.Ref)
				} else {
					l.misplaced = append(l.misplaced, misplaced{lease, s.holder})
				}
				leases[i], lost = nil, true
			default:
				l.began(st, s, lease)
				l.won++
			}
		}
		st.touch()
		l.hand(ctx, st, c.starts, leases, back)
		c.starts = nil
		return lost, nil
	})
}

// lose gives up the starts of a want: its job cannot be leased, or a limit across all servers is reached. It reports
// whether that leaves room for another task now. If a license or a user limit refused the task, there is no room until
// a change of the store reports it. For rates, the grant itself reports the state.
func (l *leaser) lose(ctx context.Context, st *State, c *choice, want int, g queue.Grant, now time.Time) bool {
	for _, s := range c.of(want) {
		switch {
		case g.Refused != "":
			st.Core.Abort(s.Run, now, true)
		case l.peers.store != nil:
			st.lost(s.Run, now)
		default:
			st.Core.Abort(s.Run, now, false)
		}
	}
	if g.Refused == "" && l.peers.store == nil {
		l.reconcile(ctx, st, c.starts[want].Job, c.starts[want].Pool, g.Waiting, now)
	}
	return g.Refused == "" || strings.HasPrefix(g.Refused, "rate ")
}

// swap replaces the chosen job by another job of the same sub-queue.
func (st *State) swap(s *chosenStart, lease *queue.Lease, now time.Time) {
	st.lost(s.Run, now)
	j := st.JobOf(HeaderOf(lease.Job))
	j.Tasks, j.Charge = 1, s.charge
	s.Run, s.Job = st.Core.Take(j, s.Node, lease.Started, now), lease.JobID
}

// began records a leased task.
func (l *leaser) began(st *State, s chosenStart, lease *queue.Lease) {
	h := HeaderOf(lease.Job)
	st.forgetRun(lease.Ref, lease.Started)
	st.Runs[taskID{lease.JobID, lease.Task}] = &liveRun{
		Ref: lease.Ref, run: s.Run, member: s.member, Holder: s.holder, Pool: s.Pool, Header: h, Started: lease.Started, came: cameAt(lease),
		command: commandOf(lease.Job),
	}
	queued := s.member != nil && s.member.Info.Queue
	st.Decided.add(st.Core, lease, s.levels)
	st.stats.Started++
	l.Observer.Began(Begun{lease, s.holder, queued, func() []why.Level { return st.Decided.byTask[taskID{lease.JobID, lease.Task}].choice(st.Core) }})
	if queued {
		st.Core.Queue(s.Run, lease.Started)
		st.Runs[taskID{lease.JobID, lease.Task}].Queued = true
	}
	l.watchers.publish(startedEvent(queue.Run{Ref: lease.Ref, Holder: s.holder, Started: lease.Started, Queued: queued}, h))
}

// hand gives leases to their workers. It gives the attempts in the list back to the store, and the leases of a worker
// that has left meanwhile.
func (l *leaser) hand(ctx context.Context, st *State, starts []chosenStart, leases []*queue.Lease, back []queue.Ref) {
	byNode := map[*joinedNode][]*queue.Lease{}
	var nodes []*joinedNode
	for i, s := range starts {
		switch m := st.Joined[s.holder]; {
		case leases[i] == nil:
		case m == nil || m != s.member:
			back = append(back, leases[i].Ref)
		default:
			if byNode[m] == nil {
				nodes = append(nodes, m)
			}
			byNode[m] = append(byNode[m], leases[i])
		}
	}
	for _, m := range nodes {
		m.worker.Start(byNode[m])
	}
	l.releaser.giveBack(ctx, back)
}

// releaser returns leases to the store.
type releaser struct {
	*base
	pending sync.WaitGroup // counts leases that are being returned
}

// giveBack releases attempts that did no work, in the background. [Loop.Run] waits for it.
func (r *releaser) giveBack(ctx context.Context, refs []queue.Ref) {
	if len(refs) == 0 {
		return
	}
	r.pending.Go(func() {
		ctx, end := outlasting(ctx, lastWords)
		defer end()
		if err := r.release(ctx, refs); err != nil {
			r.Log.Warn("tasks could not be returned; they wait until their leases end", "error", err)
		}
	})
}

// release returns attempts to the store. If ctx ends before the store has answered, the result is unknown.
func (r *releaser) release(ctx context.Context, refs []queue.Ref) error {
	r.ending.RLock()
	defer r.ending.RUnlock()
	errs, err := r.Store.Release(ctx, refs)
	if err != nil {
		r.doubt(ctx)
		return err
	}
	now := time.Now()
	return update1(r.base, func(s *State) error {
		for i, ref := range refs {
			if errs[i] == nil {
				s.abort(ref, now)
			}
		}
		s.wakeUp()
		return nil
	})
}

// reconcile corrects the core's knowledge of a job by the store's answer to a lost want.
func (l *leaser) reconcile(ctx context.Context, s *State, job int64, pool sched.PoolID, waiting []queue.Waits, now time.Time) {
	if len(waiting) == 0 {
		return
	}
	jobs, err := l.Store.Jobs(ctx, queue.Query{IDs: []int64{job}})
	if err != nil || len(jobs) == 0 {
		return
	}
	j := s.JobOf(HeaderOf(jobs[0]))
	s.Core.Exchange(j, s.waiting(queue.Change{Job: HeaderOf(jobs[0]), Waits: waiting}), now)
}

// misplaced is a lease of a task that may not run on the node that has it.
type misplaced struct {
	lease  *queue.Lease
	holder string
}

// doubt makes the engine rebuild the core after a caller gave up on a call to the store. The call may have ended
// attempts, and the changes do not show that.
func (r *releaser) doubt(ctx context.Context) {
	if ctx.Err() == nil {
		return
	}
	r.Update(func(s *State) {
		s.dirty = true
		s.wakeUp()
	})
}

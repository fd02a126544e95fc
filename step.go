package fairlead

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// step lets the core decide, leases what it chose, and hands the leases out. It
// reports whether another step may start more. Changes of the store wait meanwhile: one
// that stops or ends a lease must not be applied before the lease is known, and what was
// decided belongs to the core that decided it.
func (l *Loop) step(ctx context.Context, d *sched.Decision) (more bool, err error) {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	began := time.Now()
	l.mu.Lock()
	l.core.Step(began, l.options.Batch, d)
	l.stats.Steps++
	l.stats.LastStep, l.stats.StepTime = began, time.Since(began)
	l.observer.Stepped(l.stats.StepTime)
	choices := l.chosen(d)
	stops := l.chosenStops(d)
	l.mu.Unlock()
	if err := l.stopRuns(ctx, stops); err != nil {
		l.abortRest(choices, 0)
		return false, err
	}
	lost, before := false, l.won
	for i, c := range choices {
		some, err := l.lease(ctx, c)
		if err != nil {
			l.abortRest(choices, i)
			return false, err
		}
		lost = lost || some
	}
	if err := l.returnStrays(ctx); err != nil {
		return false, err
	}
	if lost && l.won == before {
		l.vain++
	} else {
		l.vain = 0
	}
	return d.More || lost, nil
}

// choice is what is leased at once: what one node is to start, or the tasks of a gang.
type choice struct {
	holder string // "" for a gang
	gang   bool
	starts []chosenStart
}

type chosenStart struct {
	sched.Start
	levels []sched.Level
	charge float64 // as in the Want
	tolls  tolls
	others []int64 // Else of the Want
	holder string
	member *Member
}

// chosen groups a decision by node, in the order of the decision. A gang is a group of its own.
func (l *Loop) chosen(d *sched.Decision) []*choice {
	var all []*choice
	at := map[string]*choice{}
	gangs := map[int64]*choice{}
	for _, s := range d.Starts {
		name := l.core.Cluster().Nodes()[s.Node].Name
		group := at[name]
		if l.core.GangOfRun(s.Run) > 1 {
			if group = gangs[s.Job]; group == nil {
				group = &choice{gang: true}
				gangs[s.Job] = group
				all = append(all, group)
			}
		} else if group == nil {
			group = &choice{holder: name}
			at[name] = group
			all = append(all, group)
		}
		group.starts = append(group.starts, chosenStart{s, slices.Clone(d.Why(s)), l.core.Charged(s.Run), l.tollsOf(s.Run), nil, name, l.members[name]})
	}
	l.nameOthers(all)
	return all
}

// wants is what is asked of the store.
func (c *choice) wants() []Want {
	wants := make([]Want, 0, len(c.starts))
	for _, s := range c.starts {
		if c.gang && len(wants) == 1 {
			wants[0].Nodes = append(wants[0].Nodes, s.holder)
			continue
		}
		w := Want{Job: s.Job, Charge: s.charge, Rates: s.tolls.rates, Holds: s.tolls.holds, Else: s.others}
		if c.gang {
			w.Nodes = []string{s.holder}
		}
		wants = append(wants, w)
	}
	return wants
}

// of are the starts that a want stands for.
func (c *choice) of(want int) []chosenStart {
	if c.gang {
		return c.starts
	}
	return c.starts[want : want+1]
}

// leases are the leases of a choice, one for each start, nil for those that were lost.
func (c *choice) leases(grants []Grant) []*Lease {
	all := make([]*Lease, len(c.starts))
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

// lease leases what was chosen and hands it over. It reports whether a task was lost to
// someone else, so that there is room for another.
func (l *Loop) lease(ctx context.Context, c *choice) (lost bool, err error) {
	asked := time.Now()
	grants, err := l.store.Lease(ctx, c.holder, c.wants(), l.options.LeaseTTL)
	if err != nil {
		return false, fmt.Errorf("lease jobs: %w", err)
	}
	l.observer.Stored("lease", time.Since(asked))
	unsaid := l.sayQueued(ctx, c, grants)
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, g := range grants {
		switch {
		case g.Gang != nil:
		case g.Lease == nil:
			lost = l.lose(c, i, g, now) || lost
		case g.Lease.JobID != c.starts[i].Job:
			l.swap(&c.starts[i], g.Lease, now)
		}
	}
	l.settleRates(grants, now)
	var back []Ref
	leases := c.leases(grants)
	for i, s := range c.starts {
		switch lease := leases[i]; {
		case lease == nil:
		case unsaid != nil && s.member != nil && s.member.info.Queue:
			l.core.Abort(s.Run, now, false)
			back = append(back, lease.Ref)
			leases[i] = nil
		case l.wentElsewhere(&s, lease):
			if l.core.Abort(s.Run, now, false); l.peers.store != nil {
				l.peers.doubts[s.Job] = l.jobOf(headerOf(lease.Job))
				back = append(back, lease.Ref)
			} else {
				l.strays = append(l.strays, stray{lease, s.holder})
			}
			leases[i], lost = nil, true
		default:
			l.began(s, lease)
			l.won++
		}
	}
	l.version++
	l.hand(c.starts, leases, back)
	c.starts = nil
	return lost, nil
}

// lose gives up what a want stands for: its job is not to be had, or a limit that holds over
// all servers is reached. It reports whether there is room for another now: of what others
// hold the changes tell, of rates the grant itself.
func (l *Loop) lose(c *choice, want int, g Grant, now time.Time) bool {
	for _, s := range c.of(want) {
		switch {
		case g.Refused != "":
			l.core.Abort(s.Run, now, true)
		case l.peers.store != nil:
			l.lost(s.Run, now)
		default:
			l.core.Abort(s.Run, now, false)
		}
	}
	if g.Refused == "" && l.peers.store == nil {
		l.reconcile(c.starts[want].Job, c.starts[want].Pool, g.Waiting, now)
	}
	return g.Refused == "" || strings.HasPrefix(g.Refused, "rate ")
}

// swap takes another job of the same line in place of the one that was chosen.
func (l *Loop) swap(s *chosenStart, lease *Lease, now time.Time) {
	l.lost(s.Run, now)
	j := l.jobOf(headerOf(lease.Job))
	j.Tasks, j.Charge = 1, s.charge
	s.Run, s.Job = l.core.Take(j, s.Node, lease.Started, now), lease.JobID
}

// began notes a task that was leased.
func (l *Loop) began(s chosenStart, lease *Lease) {
	h := headerOf(lease.Job)
	l.forgetRun(taskID{lease.JobID, lease.Task}, lease.Started)
	l.runs[taskID{lease.JobID, lease.Task}] = &liveRun{
		ref: lease.Ref, run: s.Run, member: s.member, holder: s.holder, pool: s.Pool, header: h, started: lease.Started, came: cameAt(lease),
	}
	queued := s.member != nil && s.member.info.Queue
	l.decided.add(l.core, lease, s.levels)
	l.stats.Started++
	l.observer.Began(Begun{lease, s.holder, queued, func() []why.Level { return l.decided.byTask[taskID{lease.JobID, lease.Task}].choice(l.core) }})
	if queued {
		l.core.Queue(s.Run, lease.Started)
		l.runs[taskID{lease.JobID, lease.Task}].queued = true
	}
	l.watchers.publish(startedEvent(Run{Ref: lease.Ref, Holder: s.holder, Started: lease.Started, Queued: queued}, h))
}

// forgetRun counts an attempt out of the core that is over in the store, and whose end
// has not been told here yet.
func (l *Loop) forgetRun(id taskID, now time.Time) {
	if old := l.runs[id]; old != nil {
		delete(l.runs, id)
		l.core.Finish(old.run, now, false)
	}
}

// hand gives leases to their workers. Some go back; so do those of a worker that has left
// meanwhile.
func (l *Loop) hand(starts []chosenStart, leases []*Lease, back []Ref) {
	byMember := map[*Member][]*Lease{}
	var members []*Member
	for i, s := range starts {
		switch m := l.members[s.holder]; {
		case leases[i] == nil:
		case m == nil || m != s.member:
			back = append(back, leases[i].Ref)
		default:
			if byMember[m] == nil {
				members = append(members, m)
			}
			byMember[m] = append(byMember[m], leases[i])
		}
	}
	for _, m := range members {
		m.worker.Start(byMember[m])
	}
	if len(back) > 0 {
		go l.giveBack(back)
	}
}

// giveBack releases attempts that did no work.
func (l *Loop) giveBack(refs []Ref) {
	if err := l.release(context.Background(), refs); err != nil {
		l.log.Warn("tasks could not be given back; they wait for the end of their leases", "error", err)
	}
}

func (l *Loop) release(ctx context.Context, refs []Ref) error {
	l.ending.RLock()
	defer l.ending.RUnlock()
	errs, err := l.store.Release(context.WithoutCancel(ctx), refs)
	if err != nil {
		return err
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, ref := range refs {
		if errs[i] == nil {
			l.abort(ref, now)
		}
	}
	l.poke()
	return nil
}

// abort counts a task out of the core as if it had never started. That it waits
// again comes with the changes of the store.
func (l *Loop) abort(ref Ref, now time.Time) {
	id := taskID{ref.JobID, ref.Task}
	if r := l.runs[id]; r != nil && r.ref == ref {
		delete(l.runs, id)
		l.core.Abort(r.run, now, false)
		l.version++
	}
}

// reconcile lets the core know of a job what the store said when a want was lost.
func (l *Loop) reconcile(job int64, pool sched.PoolID, waiting []Waits, now time.Time) {
	if len(waiting) == 0 {
		return
	}
	jobs, err := l.store.Jobs(context.Background(), Query{IDs: []int64{job}})
	if err != nil || len(jobs) == 0 {
		return
	}
	j := l.jobOf(headerOf(jobs[0]))
	l.core.Withdraw(j, now)
	for _, w := range waiting {
		j.Tasks, j.Begin = w.Tasks, w.Begin
		l.core.Add(j, now)
	}
}

// abortRest undoes what was decided and not leased, after an error of the store.
func (l *Loop) abortRest(all []*choice, failed int) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range all[min(failed, len(all)):] {
		for _, s := range c.starts {
			l.core.Abort(s.Run, now, true)
		}
	}
	l.version++
}

// headerOf is what the loop needs to know of a job.
func headerOf(j *Job) Header {
	return Header{
		ID: j.ID, User: j.User, Kind: j.Kind, Pool: j.Pool, Priority: j.Priority,
		QOS: j.QOS, Nice: j.Nice, Group: j.Group, Requestor: j.Requestor, Limit: j.Limit,
		Request: j.Request, Constraint: j.Constraint, Reservation: j.Reservation, Licenses: j.Licenses, Rates: j.Rates, Handler: len(j.Argv) == 0, Most: j.Most, Tasks: j.Tasks, Gang: j.Gang, Spread: j.Spread,
		Submitted: j.Submitted,
	}
}

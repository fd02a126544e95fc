package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// step lets the core decide, leases the chosen tasks, and hands the leases out. It reports whether another step may
// start more. Changes of the store wait meanwhile. A change that stops or ends a lease must not be applied before the
// lease is known. Besides, a decision is valid only for the core that made it.
func (l *leaser) step(ctx context.Context, d *sched.Decision) (more bool, err error) {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	began := time.Now()
	var choices []*choice
	var stops []chosenStop
	l.Update(func(s *State) {
		s.Core.Step(began, l.Options.Batch, d)
		s.stats.Steps++
		s.stats.LastStep, s.stats.StepTime = began, time.Since(began)
		l.Observer.Stepped(s.stats.StepTime)
		choices = l.chosen(s, d)
		stops = s.chosenStops(d)
	})
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
	if err := l.returnMisplaced(ctx); err != nil {
		return false, err
	}
	if lost && l.won == before {
		l.fruitless++
	} else {
		l.fruitless = 0
	}
	return d.More || lost, nil
}

// chosen groups the starts of a decision by node, in their order. A gang is a group of its own.
func (l *leaser) chosen(st *State, d *sched.Decision) []*choice {
	var all []*choice
	at := map[string]*choice{}
	gangs := map[int64]*choice{}
	for _, s := range d.Starts {
		name := st.Core.Cluster().Nodes()[s.Node].Name
		group := at[name]
		if st.Core.Read().GangOfRun(s.Run) > 1 {
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
		group.starts = append(group.starts, chosenStart{s, slices.Clone(d.Why(s)), st.Core.Read().Charged(s.Run), l.demandsOf(st, s.Run), nil, name, st.Joined[name]})
	}
	st.nameOthers(all)
	return all
}

// abortRest undoes the starts that were not leased, after an error of the store.
func (l *leaser) abortRest(all []*choice, failed int) {
	now := time.Now()
	l.Update(func(st *State) {
		for _, c := range all[min(failed, len(all)):] {
			for _, s := range c.starts {
				st.Core.Abort(s.Run, now, true)
			}
		}
		st.touch()
	})
}

// returnMisplaced releases misplaced leases. The store sends two reports: after the move, that the tasks wait in their
// new pool, and after the release, that they wait again. It does not report the lease in between to the server that
// took it. So this server removes the task after the first report and before the second.
func (l *leaser) returnMisplaced(ctx context.Context) error {
	if len(l.misplaced) == 0 {
		return nil
	}
	err := l.follower.readChanges(ctx, 0)
	var back []queue.Ref
	l.Update(func(st *State) {
		now := time.Now()
		for _, s := range l.misplaced {
			if node, there := st.Core.Cluster().Lookup(s.holder); there && err == nil {
				st.Core.Abort(st.Core.Take(st.JobOf(HeaderOf(s.lease.Job)), node, s.lease.Started, now), now, false)
			}
			back = append(back, s.lease.Ref)
		}
		l.misplaced = l.misplaced[:0]
		st.touch()
	})
	l.releaser.giveBack(ctx, back)
	return err
}

// letOthers waits a little after steps whose claims all failed: other servers claim the same jobs, and the changes will
// show which of them got the jobs.
func (l *leaser) letOthers(ctx context.Context) {
	if l.fruitless == 0 || l.peers.store == nil {
		return
	}
	wait.For(ctx, min(time.Millisecond<<min(l.fruitless, 10), maxPause))
}

// maxPause bounds the wait of letOthers.
const maxPause = 50 * time.Millisecond

// stopRuns stores the stops. The store reports them to the holders through its changes, so every server learns them,
// also after a restart.
func (l *leaser) stopRuns(ctx context.Context, chosen []chosenStop) error {
	if len(chosen) == 0 {
		return nil
	}
	stops := make([]queue.Stopped, len(chosen))
	for i := range chosen {
		stops[i] = chosen[i].stop
	}
	errs, err := l.Store.StopRuns(ctx, stops)
	return update1(l.base, func(s *State) error {
		for i, c := range chosen {
			switch r := s.Runs[c.id]; {
			case err == nil && errs[i] == nil:
				s.stats.stopped(&c.stop.Reason)
				l.Log.Info("task is stopped to make room for others", "job", c.id.Job, "task", c.id.Task, "rule", c.stop.Reason.Rule, "for", c.stop.Reason.For, "lost_seconds", c.stop.Reason.Lost)
			case r != nil && r.run == c.run:
				s.Core.Spare(c.run)
			}
		}
		if err != nil {
			return fmt.Errorf("stop tasks: %w", err)
		}
		s.wakeUp()
		return nil
	})
}

// chosenStop is a running task that the core decided to stop.
type chosenStop struct {
	id   taskID
	run  sched.RunID
	stop queue.Stopped
}

// chosenStops finds the attempts behind the stops of a decision.
func (st *State) chosenStops(d *sched.Decision) []chosenStop {
	if len(d.Stops) == 0 {
		return nil
	}
	byRun := make(map[sched.RunID]*sched.Stop, len(d.Stops))
	for i := range d.Stops {
		byRun[d.Stops[i].Run] = &d.Stops[i]
	}
	found := make(map[sched.RunID]chosenStop, len(d.Stops))
	for id, r := range st.Runs {
		if s := byRun[r.run]; s != nil {
			found[r.run] = chosenStop{id, r.run, queue.Stopped{Ref: r.Ref, Reason: st.stopReason(r, s)}}
		}
	}
	var all []chosenStop
	for i := range d.Stops {
		if c, ok := found[d.Stops[i].Run]; ok {
			all = append(all, c)
		} else { // its start is not known to the store yet
			st.Core.Spare(d.Stops[i].Run)
		}
	}
	return all
}

// stopReason returns the reason of a stop for people and programs.
func (st *State) stopReason(r *liveRun, s *sched.Stop) why.Stop {
	c := st.Core.Cluster()
	return why.Stop{
		At: st.Core.Read().Instant(), Rule: string(s.Rule), Job: r.Ref.JobID, Task: r.Ref.Task, Attempt: r.Ref.Attempt,
		User: r.Header.User, Pool: r.Header.Pool, Node: r.Holder, Unit: c.Unit(),
		For: st.Core.Path(s.For), Resource: c.Resource(s.Resource), Running: s.Running, Goal: s.Goal,
		Since: s.Since, Owed: s.Owed, Next: s.Next,
		From: st.Core.Path(s.From), FromRunning: s.FromRunning, FromGoal: s.FromGoal,
		Choice: s.Choice, Together: s.Together, Width: s.Width, Seconds: s.Elapsed.Seconds(), Lost: s.Lost, Safe: s.Safe,
	}
}

// nameOthers adds alternates to each chosen job: if there are other servers, they have often taken the first jobs of a
// sub-queue already.
func (st *State) nameOthers(all []*choice) {
	others := len(st.Others.roll.Others)
	if others == 0 {
		return
	}
	for _, c := range all {
		of := map[sched.SubQueue][]int{}
		for i, s := range c.starts {
			if sub, only := st.Core.Read().SubQueueOf(s.Run); only {
				of[sub] = append(of[sub], i)
			}
		}
		for sub, starts := range of {
			ids := st.Core.Read().Alike(sub, min(len(starts)*(others+1)+alikeMore, alikeMax))
			for _, i := range starts {
				c.starts[i].others = ids
			}
		}
	}
}

// How many alternates a want has beyond the jobs that other servers may have taken at the same moment, and the maximum
// number of alternates.
const (
	alikeMore = 16
	alikeMax  = 1000
)

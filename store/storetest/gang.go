package storetest

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// gangOf returns a job of n tasks that start at the same moment.
func gangOf(n int, f ...func(*queue.Job)) *queue.Job {
	return job(append([]func(*queue.Job){func(j *queue.Job) { j.Gang = n }}, f...)...)
}

// wantGang returns a want for all tasks of a gang, on nodes n0, n1 and so on.
func wantGang(id int64, n int) queue.Want {
	w := queue.Want{Job: id}
	for i := range n {
		w.Nodes = append(w.Nodes, "n"+string(rune('0'+i)))
	}
	return w
}

// takeGang leases a gang, and fails the test if it cannot.
func (s *suite) takeGang(id int64, n int) []*queue.Lease {
	s.t.Helper()
	g, err := s.Lease(s.ctx, "", []queue.Want{wantGang(id, n)}, ttl)
	s.must(err)
	if len(g[0].Gang) != n {
		s.t.Fatalf("%d leases of job %d, want %d: %+v", len(g[0].Gang), id, n, g[0])
	}
	return g[0].Gang
}

// lostGang checks that a want for the gang is lost, and how many tasks wait.
func (s *suite) lostGang(w queue.Want, waiting int) {
	s.t.Helper()
	g, err := s.Lease(s.ctx, "x", []queue.Want{w}, ttl)
	s.must(err)
	sum := 0
	for _, x := range g[0].Waiting {
		sum += x.Tasks
	}
	if g[0].Gang != nil || g[0].Lease != nil || sum != waiting {
		s.t.Errorf("%+v was granted %+v; want nothing, and %d that wait", w, g[0], waiting)
	}
}

// gangIsLeasedWhole: all tasks of a gang are leased, or none; the leases name all nodes.
func gangIsLeasedWhole(s *suite) {
	id := s.submit(gangOf(3, func(j *queue.Job) { j.Spread = true }))[0]
	if j := s.state(id, queue.Waiting); j.Tasks != 3 || j.Waiting != 3 || !j.Spread {
		s.t.Fatalf("job %+v", j)
	}
	changes, _ := s.changes(0)
	if h := changes[0].Job; h.Gang != 3 || !h.Spread || changes[0].Waits[0].Tasks != 3 {
		s.t.Errorf("told %+v", changes[0])
	}
	s.lostGang(queue.Want{Job: id}, 3)
	s.lostGang(wantGang(id, 2), 3)
	s.lostGang(wantGang(s.submit(job())[0], 1), 1)
	leases := s.takeGang(id, 3)
	for i, l := range leases {
		if l.Task != i || l.Number != i || l.Attempt != 1 || l.Holder != l.Nodes[i] || !slices.Equal(l.Nodes, []string{"n0", "n1", "n2"}) || l.Job.Gang != 3 {
			s.t.Errorf("lease %d: %+v", i, l)
		}
	}
	s.lostGang(wantGang(id, 3), 0)
	if j := s.state(id, queue.Running); j.Running != 3 || j.Waiting != 0 {
		s.t.Errorf("leased: %+v", j)
	}
	for i, l := range leases {
		if v := s.finish(l.Ref, ok); v.Err != nil || (v.State == queue.Succeeded) != (i == 2) {
			s.t.Errorf("verdict %+v", v)
		}
	}
	later := s.submit(gangOf(2, func(j *queue.Job) { j.Begin = time.Now().Add(time.Minute) }), gangOf(2, func(j *queue.Job) { j.Held = true }))
	s.lostGang(wantGang(later[0], 2), 2)
	s.lostGang(wantGang(later[1], 2), 0)
	time.Sleep(time.Minute)
	s.takeGang(later[0], 2)
}

// reportedStops returns the tasks that must stop according to the changes.
func reportedStops(changes []queue.Change) (tasks []int) {
	for _, c := range changes {
		for _, r := range c.Runs {
			if c.What == queue.Stop {
				tasks = append(tasks, r.Task)
			}
		}
	}
	return tasks
}

// reportedWaits returns how many tasks wait according to the changes.
func reportedWaits(changes []queue.Change) (n int) {
	for _, c := range changes {
		for _, w := range c.Waits {
			n += w.Tasks
		}
	}
	return n
}

// gangWaitsAgainWhole: when an attempt ends without success, the others are stopped, and all wait again once the last
// has ended, even tasks that had succeeded.
func gangWaitsAgainWhole(s *suite) {
	for name, first := range map[string]func(l *queue.Lease){
		"failed": func(l *queue.Lease) { s.finish(l.Ref, failed) },
		"given back": func(l *queue.Lease) {
			errs, err := s.Release(s.ctx, []queue.Ref{l.Ref})
			s.must(err)
			s.must(errs[0])
		},
		"lost": func(l *queue.Lease) {
			_, err := s.Expire(s.ctx, l.Holder)
			s.must(err)
		},
		"stopped": func(l *queue.Lease) {
			s.must(s.stop(stopOf(l, "min-share", time.Now()))[0])
			s.finish(l.Ref, killed)
		},
		"requeued": func(l *queue.Lease) {
			s.must(s.alter(l.JobID, queue.VerbRequeue))
			s.finish(l.Ref, ok)
		},
	} {
		id := s.submit(gangOf(4, func(j *queue.Job) { j.Retries, j.Backoff = 1, time.Second }))[0]
		leases := s.takeGang(id, 4)
		s.finish(leases[0].Ref, ok)
		_, cursor := s.changes(0)
		first(leases[2])
		changes, next := s.changes(cursor)
		told := reportedStops(changes)
		if !slices.Contains(told, 1) || !slices.Contains(told, 3) || slices.Contains(told, 0) || reportedWaits(changes) > 0 {
			s.t.Errorf("%s: told to stop %v in %+v", name, told, changes)
		}
		if j := s.state(id, queue.Running); j.Running != 2 || j.Waiting != 1 {
			s.t.Errorf("%s: coming apart: %+v", name, j)
		}
		s.lostGang(wantGang(id, 4), 0)
		s.snapshotStops(id, 2, 0)
		s.finish(leases[1].Ref, killed)
		s.finish(leases[3].Ref, failed) // it did not survive the loss
		changes, _ = s.changes(next)
		if reportedWaits(changes) != 4 || len(reportedStops(changes)) > 0 {
			s.t.Errorf("%s: at the end %+v", name, changes)
		}
		if j := s.state(id, queue.Waiting); j.Waiting != 4 || j.Succeeded+j.Failed+j.Cancelled+j.Running > 0 || j.Cause != "" {
			s.t.Errorf("%s: waits again: %+v", name, j)
		}
		s.snapshotStops(id, 0, 4)
		time.Sleep(2 * time.Second) // past the pause after a failure
		for _, l := range s.takeGang(id, 4) {
			if l.Attempt != 2 {
				s.t.Errorf("%s: attempt %d of task %d", name, l.Attempt, l.Task)
			}
			s.finish(l.Ref, ok)
		}
	}
}

// snapshotStops checks what a snapshot reports about a job.
func (s *suite) snapshotStops(id int64, stops, waits int) {
	s.t.Helper()
	var of []queue.Change
	_, err := s.Snapshot(s.ctx, func(c queue.Change) error {
		if c.Job.ID == id {
			of = append(of, c)
		}
		return nil
	})
	s.must(err)
	if n := len(reportedStops(of)); n != stops || reportedWaits(of) != waits {
		s.t.Errorf("a snapshot tells that %d stop and %d wait, want %d and %d: %+v", n, reportedWaits(of), stops, waits, of)
	}
}

// gangEndsWhole: a gang that fails without retries ends as a whole, and so does a cancelled gang, even while its tasks
// are being stopped.
func gangEndsWhole(s *suite) {
	id := s.submit(gangOf(3))[0]
	leases := s.takeGang(id, 3)
	s.finish(leases[1].Ref, failed)
	s.snapshotStops(id, 2, 0)
	s.finish(leases[2].Ref, killed)
	_, err := s.Expire(s.ctx, "n0")
	s.must(err)
	if j := s.state(id, queue.Failed); j.Failed != 1 || j.Cancelled != 2 || !strings.Contains(j.Cause, "3") {
		s.t.Errorf("failed: %+v", j)
	}
	s.must(s.alter(id, queue.VerbRequeue))
	leases = s.takeGang(id, 3)
	_, err = s.Expire(s.ctx, "n0")
	s.must(err)
	s.must(s.alter(id, queue.VerbCancel))
	s.finish(leases[1].Ref, killed)
	s.finish(leases[2].Ref, ok)
	if j := s.state(id, queue.Cancelled); j.Cancelled != 2 || j.Succeeded != 1 {
		s.t.Errorf("cancelled: %+v", j)
	}
	s.must(s.alter(id, queue.VerbRequeue))
	if j := s.state(id, queue.Waiting); j.Waiting != 3 {
		s.t.Errorf("requeued: %+v", j)
	}
	if l := s.takeGang(id, 3); l[0].Attempt != 3 {
		s.t.Errorf("attempt %d", l[0].Attempt)
	}
}

// gangCountsOnce: retries and losses are counted for the whole gang, whichever task had them.
func gangCountsOnce(s *suite) {
	id := s.submit(gangOf(2, func(j *queue.Job) { j.Retries, j.Backoff = 2, time.Nanosecond }))[0]
	for try := range 3 {
		leases := s.takeGang(id, 2)
		s.finish(leases[try%2].Ref, failed)
		s.finish(leases[1-try%2].Ref, failed)
		time.Sleep(time.Millisecond)
	}
	s.state(id, queue.Failed)
	lossy := s.submit(gangOf(2))[0]
	n := 0
	for ; s.get(lossy).State == queue.Waiting && n < 20; n++ {
		leases := s.takeGang(lossy, 2)
		for _, l := range leases {
			_, err := s.Expire(s.ctx, l.Holder)
			s.must(err)
		}
	}
	if j := s.get(lossy); n != 5 || j.State != queue.Failed {
		s.t.Errorf("after %d losses it is %+v", n, j)
	}
	held := s.submit(gangOf(2))[0]
	leases := s.takeGang(held, 2)
	s.must(s.alter(held, queue.VerbHold))
	errs, err := s.Release(s.ctx, []queue.Ref{leases[0].Ref, leases[1].Ref})
	s.must(err)
	s.must(errs[1])
	s.state(held, queue.Held)
	s.must(s.alter(held, queue.VerbRelease))
	s.takeGang(held, 2)
}

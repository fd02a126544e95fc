package storetest

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// refusal returns the outcome of an attempt that a machine could not begin.
func refusal(r queue.Refusal) queue.Outcome {
	return queue.Outcome{State: queue.Failed, ExitCode: -1, Cause: "no user ann", Refused: r}
}

// on leases a task of a job for a holder.
func (s *suite) on(holder string, id int64) *queue.Lease {
	s.t.Helper()
	grants, err := s.Lease(s.ctx, holder, []queue.Want{{Job: id}}, ttl)
	s.must(err)
	if grants[0].Lease == nil {
		s.t.Fatalf("job %d: no lease for %s", id, holder)
	}
	return grants[0].Lease
}

// avoids returns the nodes that a job avoids, according to the job and to the scheduler's changes.
func (s *suite) avoids(id int64) (job, told []string) {
	s.t.Helper()
	nodes := func(all []queue.Avoided) (out []string) {
		for _, a := range all {
			out = append(out, a.Node)
		}
		return out
	}
	job = nodes(s.get(id).Avoid)
	_, err := s.Snapshot(s.ctx, func(c queue.Change) error {
		if c.Job.ID == id {
			told = nodes(c.Job.Avoid)
		}
		return nil
	})
	s.must(err)
	return job, told
}

// refusedElsewhere: a task that a node could not begin waits again, as if it had not started, and its job avoids the
// node until it is requeued.
func refusedElsewhere(s *suite) {
	id := s.submit(job())[0]
	l := s.on("n1", id)
	time.Sleep(time.Minute)
	if v := s.finish(l.Ref, refusal(queue.RefusedUser)); !v.Again || v.State != queue.Waiting {
		s.t.Errorf("verdict %+v", v)
	}
	j := s.state(id, queue.Waiting)
	if !j.Started.IsZero() || j.Failed != 0 || len(j.Avoid) != 1 || j.Avoid[0].Cause != "no user ann" || j.Avoid[0].At.IsZero() {
		s.t.Errorf("the job began at %v, avoids %+v", j.Started, j.Avoid)
	}
	if job, told := s.avoids(id); !slices.Equal(job, []string{"n1"}) || !slices.Equal(told, job) {
		s.t.Errorf("the job avoids %v, the scheduler is told %v", job, told)
	}
	if k := s.only(id); k.Fails != 0 || k.Losses != 1 {
		s.t.Errorf("%d failures, %d losses", k.Fails, k.Losses)
	}
	s.had("a", 0, 0)
	if s.finish(s.on("n2", id).Ref, failed); s.get(id).State != queue.Failed {
		s.t.Error("a job without tries left is tried again")
	}
	s.must(s.alter(id, queue.VerbRequeue))
	if job, _ := s.avoids(id); len(job) != 0 {
		s.t.Errorf("requeued, the job avoids %v", job)
	}
}

// refusedForNow: a machine that can begin nothing at present may get the task later.
func refusedForNow(s *suite) {
	id := s.submit(job())[0]
	s.finish(s.on("n1", id).Ref, refusal(queue.RefusedNow))
	if job, _ := s.avoids(id); len(job) != 0 {
		s.t.Errorf("the job avoids %v", job)
	}
	if k := s.only(id); !k.Begin.After(time.Now()) {
		s.t.Errorf("the next attempt may begin at %v", k.Begin)
	}
	time.Sleep(time.Minute)
	s.finish(s.on("n1", id).Ref, ok)
	s.state(id, queue.Succeeded)
}

// refusedEverywhere: a task that no machine begins comes to an end, with the last cause. A task that surely no machine
// can begin ends in the same way.
func refusedEverywhere(s *suite) {
	ids := s.submit(job(), job())
	for n := 0; s.get(ids[0]).State == queue.Waiting; n++ {
		if n > 20 {
			s.t.Fatal("a job that nobody begins waits forever")
		}
		s.finish(s.on(string(rune('a'+n)), ids[0]).Ref, refusal(queue.RefusedUser))
	}
	if j := s.state(ids[0], queue.Failed); !strings.Contains(j.Cause, "no user ann") || !strings.Contains(j.Cause, "5 attempts") {
		s.t.Errorf("cause %q", j.Cause)
	}
	final := refusal(queue.RefusedJob)
	final.Final = true
	s.finish(s.on("n1", ids[1]).Ref, final)
	if j := s.state(ids[1], queue.Failed); j.Cause != "no user ann" {
		s.t.Errorf("cause %q", j.Cause)
	}
}

// refusedOfMany: the changes list all waiting tasks of a job again, because these tasks now avoid the node, too;
// running tasks continue.
func refusedOfMany(s *suite) {
	id := s.submit(job(func(j *queue.Job) { j.Array = "0-4" }))[0]
	first, second := s.on("n1", id), s.on("n2", id)
	_, cursor, err := s.Changes(s.ctx, 0, 0)
	s.must(err)
	s.finish(first.Ref, refusal(queue.RefusedUser))
	changes, _, err := s.Changes(s.ctx, cursor, 0)
	s.must(err)
	waits := 0
	for _, c := range changes {
		switch c.What {
		case queue.Withdrawn:
			waits = 0
		case queue.Waited:
			if len(c.Job.Avoid) != 1 || c.Job.Avoid[0].Node != "n1" {
				s.t.Errorf("told of tasks that avoid %v", c.Job.Avoid)
			}
			for _, w := range c.Waits {
				waits += w.Tasks
			}
		}
	}
	if waits != 4 {
		s.t.Errorf("told that %d tasks wait, want 4", waits)
	}
	s.finish(second.Ref, ok)
	for range 4 {
		s.finish(s.on("n2", id).Ref, ok)
	}
	s.state(id, queue.Succeeded)
}

// refusedInGang: all tasks of a gang wait again, and all avoid the node.
func refusedInGang(s *suite) {
	id := s.submit(job(func(j *queue.Job) { j.Gang = 2 }))[0]
	leases := s.takeGang(id, 2)
	s.finish(leases[0].Ref, refusal(queue.RefusedUser))
	s.finish(leases[1].Ref, queue.Outcome{State: queue.Cancelled})
	if j := s.state(id, queue.Waiting); j.Waiting != 2 {
		s.t.Errorf("%d tasks wait", j.Waiting)
	}
	if job, told := s.avoids(id); len(job) != 1 || !slices.Equal(told, job) {
		s.t.Errorf("the job avoids %v, the scheduler is told %v", job, told)
	}
}

// releaseForgetsTheStart: a job whose only attempt was released has not started.
func releaseForgetsTheStart(s *suite) {
	id := s.submit(job())[0]
	l := s.take(id)
	_, err := s.Release(s.ctx, []queue.Ref{l.Ref})
	s.must(err)
	if j := s.get(id); !j.Started.IsZero() {
		s.t.Errorf("the job started at %v", j.Started)
	}
}

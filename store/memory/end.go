package memory

import (
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// waited reports to the feed that the job's tasks wait, if they may be leased.
func (s *Store) waited(j *job, why string, now time.Time) {
	if life.Eligible(&j.Job) {
		s.feed.Add(queue.Change{What: queue.Waited, Job: life.Header(&j.Job), Waits: j.waits(), State: j.State, Reason: why, At: now})
	}
}

// withdrawn reports to the feed that none of the job's tasks waits any more.
func (s *Store) withdrawn(j *job, why string, now time.Time) {
	if life.Eligible(&j.Job) {
		s.feed.Add(queue.Change{What: queue.Withdrawn, Job: life.Header(&j.Job), State: j.State, Reason: why, At: now})
	}
}

// stop reports to the feed which tasks of the job must be stopped.
func (s *Store) stop(j *job, why string, now time.Time) {
	if j.Running == 0 {
		return
	}
	s.feed.Add(queue.Change{What: queue.Stop, Job: life.Header(&j.Job), State: j.State, Reason: why, Runs: j.runs(), At: now})
}

// cancel cancels a job. The job ends at once if no task of it runs. Otherwise it ends when its running tasks have been
// stopped or, if only the waiting tasks are canceled, when they have ended.
func (s *Store) cancel(j *job, a queue.Alteration, now time.Time) {
	s.withdrawn(j, life.Words(a), now)
	waiting := j.Waiting
	if !life.Cancel(&j.Job, a, now) {
		return
	}
	s.ledger.account(j.Pool).Waiting -= int64(waiting)
	for _, i := range j.returned {
		j.tasks[i].State = queue.Cancelled
	}
	j.returned, j.next = nil, j.Tasks
	if !j.Cancel {
		for _, t := range j.tasks {
			t.NoRetry = t.NoRetry || t.State == queue.Running
		}
		return
	}
	s.stop(j, life.Words(a), now)
	if j.State.Ended() {
		s.ended(j, now)
	}
}

// ended informs the jobs that depend on an ended job. Dependents that have ended stay recorded: if they were cancelled
// with the job, they come back with it.
func (s *Store) ended(j *job, now time.Time) {
	s.feed.Add(queue.Change{What: queue.Done, Job: life.Header(&j.Job), State: j.State, Reason: j.Cause, At: now})
	dependents := s.dependents[j.ID]
	delete(s.dependents, j.ID)
	var over []int64
	for _, id := range dependents {
		d := s.jobs[id]
		s.dependencyEnded(d, j, now)
		if d.State.Ended() {
			over = append(over, id)
		}
	}
	if len(over) > 0 {
		s.dependents[j.ID] = over
	}
}

// dependencyEnded informs a job that one of its dependencies has ended.
func (s *Store) dependencyEnded(d, j *job, now time.Time) {
	if d.State.Ended() || d.Pending == 0 { // requeued since: no longer blocked
		return
	}
	for _, on := range d.After {
		if on.Job != j.ID {
			continue
		}
		if !on.On.Met(j.State) {
			s.cancel(d, life.Unmet(on, j.State), now)
			return
		}
		if d.Pending--; d.Pending == 0 {
			d.State = life.State(&d.Job)
			s.waited(d, "dependencies met", now)
		}
	}
}

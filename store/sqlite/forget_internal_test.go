package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
)

func openInternal(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func add(t *testing.T, s *Store, j queue.Job) queue.Submission {
	t.Helper()
	j.Kind, j.User, j.Pool = "k", "ann", "ann"
	subs, err := s.Submit(t.Context(), []*queue.Job{&j})
	if err != nil || subs[0].Err != nil {
		t.Fatal(err, subs)
	}
	return subs[0]
}

func change(t *testing.T, s *Store, id int64, v queue.Verb) {
	t.Helper()
	errs, err := s.Alter(t.Context(), []queue.Alteration{{Job: id, Verb: v}})
	if err != nil || errs[0] != nil {
		t.Fatal(v, err, errs)
	}
}

func take(t *testing.T, s *Store, id int64) *queue.Lease {
	t.Helper()
	grants, err := s.Lease(t.Context(), "n1", []queue.Want{{Job: id}}, time.Minute)
	if err != nil || grants[0].Lease == nil {
		t.Fatal(err, grants)
	}
	return grants[0].Lease
}

// TestForgetLeavesWhatWasRequeued: a job that is requeued after Forget found it ended
// keeps its tasks, its history and its key, and can be run to its end.
func TestForgetLeavesWhatWasRequeued(t *testing.T) {
	s := openInternal(t, filepath.Join(t.TempDir(), "jobs.db"))
	array := add(t, s, queue.Job{Array: "0-1", Key: "k"}).ID
	for range 2 {
		if _, err := s.Finish(t.Context(), []queue.Result{{Ref: take(t, s, array).Ref, Outcome: queue.Outcome{State: queue.Failed}}}); err != nil {
			t.Fatal(err)
		}
	}
	other := add(t, s, queue.Job{}).ID
	change(t, s, other, queue.VerbCancel)
	before := time.Now().Add(time.Hour)
	ids, err := s.endedBefore(t.Context(), before)
	if err != nil || len(ids) != 2 {
		t.Fatalf("ended: %v (%v)", ids, err)
	}
	change(t, s, array, queue.VerbRequeue)
	n := 0
	if err := s.write(t.Context(), false, func(t *tx) (err error) { n, err = t.forgetJobs(ids, before); return err }); err != nil || n != 1 {
		t.Errorf("forgot %d jobs, want 1 (%v)", n, err)
	}
	for i := range 2 {
		l := take(t, s, array)
		if l.Task != i || l.Attempt != 2 {
			t.Errorf("task %d, attempt %d", l.Task, l.Attempt)
		}
		if v, err := s.Finish(t.Context(), []queue.Result{{Ref: l.Ref, Outcome: queue.Outcome{State: queue.Succeeded}}}); err != nil || v[0].Err != nil {
			t.Error(v, err)
		}
	}
	jobs, err := s.Jobs(t.Context(), queue.Query{})
	if err != nil || len(jobs) != 1 || jobs[0].State != queue.Succeeded {
		t.Errorf("left: %v (%v)", jobs, err)
	}
	if events, err := s.Events(t.Context(), array); err != nil || len(events) != 6 { // two attempts began and ended, the job ended, and was requeued
		t.Errorf("events %v (%v)", events, err)
	}
	if again := add(t, s, queue.Job{Key: "k"}); again.ID != array || !again.Existing {
		t.Errorf("its key gives %+v", again)
	}
}

// TestForgetFreesKeys: the key of a job that was forgotten can be used for a new one.
func TestForgetFreesKeys(t *testing.T) {
	s := openInternal(t, filepath.Join(t.TempDir(), "jobs.db"))
	first := add(t, s, queue.Job{Key: "k"})
	change(t, s, first.ID, queue.VerbCancel)
	if again := add(t, s, queue.Job{Key: "k"}); again.ID != first.ID {
		t.Errorf("before it is forgotten: %+v", again)
	}
	if n, err := s.Forget(t.Context(), time.Now().Add(time.Hour)); n != 1 || err != nil {
		t.Fatalf("forgot %d (%v)", n, err)
	}
	if again := add(t, s, queue.Job{Key: "k"}); again.Existing || again.ID <= first.ID {
		t.Errorf("afterwards: %+v", again)
	}
	if events, err := s.Events(t.Context(), first.ID); err != nil || len(events) != 0 {
		t.Errorf("events of a forgotten job: %v (%v)", events, err)
	}
}

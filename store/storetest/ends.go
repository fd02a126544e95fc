package storetest

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// endsAreRead: the store says of each of many jobs how it ended, by its last failed attempt.
func endsAreRead(s *suite) {
	r, can := s.Store.(queue.EndReader)
	if !can {
		s.t.Skip("the store does not say how jobs ended")
	}
	ids := s.submit(job(), job(), job(func(j *queue.Job) { j.Array = "10-12" }), job(),
		job(func(j *queue.Job) { j.Array = "1-1001" }), job(func(j *queue.Job) { j.Retries = 1 }))
	failed := queue.Outcome{State: queue.Failed, ExitCode: 3, Cause: "exit 3", CPU: 2 * time.Second, MaxRSS: 4096}
	s.finish(s.take(ids[0]).Ref, ok)
	s.finish(s.take(ids[1]).Ref, failed)
	for _, o := range []queue.Outcome{ok, failed, ok} {
		s.finish(s.take(ids[2]).Ref, o)
	}
	s.take(ids[3]) // still runs
	s.finish(s.take(ids[4]).Ref, failed)
	s.finish(s.take(ids[5]).Ref, failed) // and waits again
	got, err := r.Ends(s.ctx, append(slices.Clone(ids), ids[1], ids[5]+100))
	s.must(err)
	want := []struct {
		job    int64
		number int
		exit   int
	}{{ids[0], 0, 0}, {ids[1], 0, 3}, {ids[2], 11, 3}, {ids[5], 0, 3}}
	if len(got) != len(want) {
		s.t.Fatalf("%d ends, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		t := got[i]
		if t.Job != w.job || t.Number != w.number || t.Outcome.ExitCode != w.exit || t.Holder == "" || t.Ended.IsZero() {
			s.t.Errorf("number %d: %+v, want job %d, task %d, exit %d", i, t, w.job, w.number, w.exit)
		}
		if w.exit == 3 && (t.Outcome.Cause != "exit 3" || t.Outcome.CPU != 2*time.Second || t.Outcome.MaxRSS != 4096) {
			s.t.Errorf("number %d: %+v", i, t.Outcome)
		}
	}
	if got, err := r.Ends(s.ctx, nil); err != nil || len(got) != 0 {
		s.t.Errorf("of no job: %v, %v", got, err)
	}
}

package engine_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/queue"
)

// TestChangedLimitIsPlanned: a waiting job whose limit is shortened starts beside the planned start of a wide job, which
// it would have delayed before.
func TestChangedLimitIsPlanned(t *testing.T) {
	inSite(t, func(s *refusers) {
		s.join("n1", 2, always("")).lasts = 30 * time.Minute
		with := func(cpus int64, limit time.Duration) func(*fairlead.Job) {
			return func(j *fairlead.Job) { j.Request, j.Limit = queue.Amounts{"cpu": cpus}, limit }
		}
		s.submit("ann", with(1, time.Hour))
		time.Sleep(time.Second)
		wide := s.submit("ann", with(2, time.Hour))
		short := s.submit("ann", with(1, 2*time.Hour))
		time.Sleep(time.Second)
		s.ends(wide, fairlead.Waiting)
		s.ends(short, fairlead.Waiting)
		errs, err := s.Client().Alter(s.ctx, queue.Alteration{Job: short, Verb: queue.VerbLimit, Limit: 45 * time.Minute})
		if err != nil || errs[0] != nil {
			t.Fatal(err, errs)
		}
		time.Sleep(time.Second)
		s.ends(wide, fairlead.Waiting)
		s.ends(short, fairlead.Running)
		errs, err = s.Client().Alter(s.ctx, queue.Alteration{Job: wide, Verb: queue.VerbLimit, Limit: -2 * time.Second})
		if err != nil || errs[0] == nil {
			t.Errorf("a negative limit: %v, %v", errs, err)
		}
	})
}

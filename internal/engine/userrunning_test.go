package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
)

// TestRunningTasksOfUsers: further tasks of a user wait, in all pools, and say why. A new limit holds for waiting jobs.
func TestRunningTasksOfUsers(t *testing.T) {
	inSite(t, func(s *refusers) {
		s.join("n1", 20, always("")).lasts = time.Hour
		configure := func(most int) {
			t.Helper()
			shares := *s.Client().Shares.Load()
			shares.Users.Running = most
			if err := s.Configure(s.ctx, shares); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		running := func(want int64) {
			t.Helper()
			time.Sleep(time.Second)
			if n, _ := s.Running(); n != want {
				t.Errorf("%d tasks run, want %d", n, want)
			}
		}
		configure(2)
		last := int64(0)
		for _, pool := range []string{"a", "b", "c", "d", "e"} {
			last = s.submit("ann", func(j *fairlead.Job) { j.Pool = pool })
		}
		s.submit("bob")
		running(3)
		w, err := forecast.New(s.Loop).Why(s.ctx, last, explain.WhyOptions{Evidence: true})
		if err != nil || w.Reason.Code != "gate.user_running" || w.Verdict != "limit" ||
			w.Reason.Text != "ann runs 2 of at most 2 tasks (user_limits.running)" {
			t.Errorf("why %+v, %v", w.Reason, err)
		}
		j, _ := s.Client().Job(s.ctx, last)
		short := s.explainer.ShortReasons(s.ctx, []*fairlead.Job{j})[last]
		if !strings.HasPrefix(short.Text, "ann runs 2 of at most 2 tasks") {
			t.Errorf("in tables %+v", short)
		}
		configure(3)
		running(4)
		if found, err := s.Recount(s.ctx); err != nil || len(found.Wrong) > 0 {
			t.Errorf("sums: %+v, %v", found.Wrong, err)
		}
		configure(0)
		running(6)
		configure(1) // running tasks continue
		s.submit("ann", func(j *fairlead.Job) { j.Pool = "f" })
		running(6)
		if found, err := s.Recount(s.ctx); err != nil || len(found.Wrong) > 0 {
			t.Errorf("sums: %+v, %v", found.Wrong, err)
		}
	})
}

package fairlead_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/memory"
)

// forgetting is a store that records the calls of Forget, and fails the first time.
type forgetting struct {
	*memory.Store
	calls []time.Time
}

func (f *forgetting) Forget(_ context.Context, before time.Time) (int, error) {
	if f.calls = append(f.calls, before); len(f.calls) == 1 {
		return 0, errors.New("not now")
	}
	return 1, nil
}

// TestRetention: while the app runs, jobs that ended too long ago are forgotten each hour.
func TestRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &forgetting{Store: memory.New("cpu")}
		app, err := fairlead.New(t.Context(), s, fairlead.Options{Retention: 24 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, stop := context.WithTimeout(t.Context(), 150*time.Minute)
		defer stop()
		if err := app.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if len(s.calls) != 3 {
			t.Fatalf("in two and a half hours it was called %d times", len(s.calls))
		}
		for i, before := range s.calls {
			if want := began.Add(time.Duration(i-24) * time.Hour); !before.Equal(want) {
				t.Errorf("call %d: before %v, want %v", i, before, want)
			}
		}
	})
	for name, o := range map[string]fairlead.Options{"cannot": {Retention: time.Hour}, "below 0": {Retention: -1}} {
		if _, err := fairlead.New(t.Context(), memory.New("cpu"), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

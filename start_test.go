package fairlead_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/why"
)

// appOf returns an App with a handler of thumbnails.
func appOf(
	t *testing.T, o fairlead.Options, f func(ctx context.Context, w *fairlead.Work[Thumbnail]) error,
) *fairlead.App {
	t.Helper()
	app, err := fairlead.New(t.Context(), memory.New("cpu"), o)
	if err != nil {
		t.Fatal(err)
	}
	fairlead.Handle(app, f)
	return app
}

// TestStartAndStop: Start returns when the process takes tasks. The end of its context stops nothing after that, and
// Stop waits for running tasks.
func TestStartAndStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		var done atomic.Int64
		o := fairlead.Options{Name: "here", Grace: time.Minute}
		app := appOf(t, o, func(ctx context.Context, w *fairlead.Work[Thumbnail]) error {
			if ctx.Value(key{}) != "value" {
				t.Error("the handler does not have the values of the context of Start")
			}
			time.Sleep(10 * time.Second)
			done.Add(1)
			return ctx.Err()
		})
		if err := app.Stop(t.Context()); err == nil {
			t.Error("Stop before Start succeeds")
		}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		if err := app.Start(ctx); err != nil {
			t.Fatal(err)
		}
		if _, there := app.Loop().Present("here"); !there {
			t.Error("Start returns before the process has joined")
		}
		cancel()
		for name, again := range map[string]func() error{
			"Start": func() error { return app.Start(t.Context()) }, "Run": func() error { return app.Run(t.Context()) },
		} {
			if err := again(); err == nil || !strings.Contains(err.Error(), name+" after Run or Start") {
				t.Errorf("%s again: %v", name, err)
			}
		}
		if _, err := app.Submit(t.Context(), fairlead.Job{User: "acme", Args: Thumbnail{}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second) // the handler runs
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := app.Stop(hasty); !errors.Is(err, context.DeadlineExceeded) || done.Load() != 0 {
			t.Errorf("Stop for a second: %v; %d are done", err, done.Load())
		}
		if err := app.Stop(t.Context()); err != nil || done.Load() != 1 {
			t.Errorf("Stop: %v; %d are done", err, done.Load())
		}
	})
}

// TestStopAgain: Stop of an ended App returns how it ended, whatever the context.
func TestStopAgain(t *testing.T) {
	app := appOf(t, fairlead.Options{}, func(context.Context, *fairlead.Work[Thumbnail]) error { return nil })
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := errors.Join(app.Start(t.Context()), app.Stop(t.Context())); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := app.Stop(over); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStartThatFails: nothing runs after a Start that returned an error.
func TestStartThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := appOf(t, fairlead.Options{Name: "\n"}, func(context.Context, *fairlead.Work[Thumbnail]) error { return nil })
		if err := app.Start(t.Context()); err == nil {
			t.Error("a name that no process may have is taken")
		}
		if err := app.Stop(t.Context()); err == nil {
			t.Error("Stop does not say what went wrong")
		}
	})
}

// TestKindsThatNobodyHandles: a job of a kind without a handler is refused at once, except in a program that only
// submits. Other jobs of the call are kept.
func TestKindsThatNobodyHandles(t *testing.T) {
	handler := func(context.Context, *fairlead.Work[Thumbnail]) error { return nil }
	app := appOf(t, fairlead.Options{}, handler)
	var registering sync.WaitGroup
	registering.Go(func() { app.Handle("another kind", fairlead.HandlerOf(handler)) })
	good, bad := fairlead.Job{User: "acme", Args: Thumbnail{}}, fairlead.Job{User: "acme", Kind: "thumbnial"}
	ids, err := app.Submit(t.Context(), good, bad)
	if !errors.Is(err, fairlead.ErrInvalid) || !strings.Contains(err.Error(), `job 2: kind: nobody handles`) {
		t.Errorf("a kind that nobody handles: %v", err)
	}
	registering.Wait()
	jobs, err := app.Client().Jobs(t.Context(), fairlead.Query{})
	if err != nil || len(jobs) != 1 || len(ids) != 2 || jobs[0].ID != ids[0] || ids[1] != 0 {
		t.Errorf("the ids are %v, and %d jobs were kept, %v", ids, len(jobs), err)
	}
	submits, err := fairlead.New(t.Context(), memory.New("cpu"), fairlead.Options{})
	if err != nil {
		t.Fatal(err)
	}
	any := appOf(t, fairlead.Options{AnyKind: true}, handler)
	for name, app := range map[string]*fairlead.App{"AnyKind": any, "only submits": submits} {
		if _, err := app.Submit(t.Context(), bad); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWhyAPauseIsThere: why distinguishes a job that its handler postponed from a job that waits for its next attempt,
// and from a job that was postponed before and is tried again.
func TestWhyAPauseIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := appOf(t, fairlead.Options{}, func(_ context.Context, w *fairlead.Work[Thumbnail]) error {
			if w.Args.Image == "later" && w.Attempt == 1 {
				return fairlead.Snooze(time.Hour)
			}
			return fairlead.RetryAfter(time.Hour, errors.New("broken"))
		})
		if err := app.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		job := func(image string) fairlead.Job {
			return fairlead.Job{User: "a", Args: Thumbnail{Image: image}, Retries: 2}
		}
		ids, err := app.Submit(t.Context(), job("later"), job("broken"))
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		says := func(id int64, want string, until time.Duration, rest string) {
			t.Helper()
			want += begun.Add(until).UTC().Format(time.RFC3339) + rest
			if a, err := app.Why(t.Context(), id); err != nil || a.Reason.Code != why.GateBegin || a.Reason.Text != want {
				t.Errorf("%s: %q, want %q; %v", a.Reason.Code, a.Reason.Text, want, err)
			}
		}
		time.Sleep(time.Minute)
		says(ids[0], "its handler postponed it until ", time.Hour, "")
		says(ids[1], "pause before attempt 2 until ", time.Hour, ", because it failed: broken")
		time.Sleep(time.Hour)
		says(ids[0], "pause before attempt 2 until ", 2*time.Hour, ", because it failed: broken")
		if err := app.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestArgumentsByPointer: a handler may take a pointer to arguments, and a nil pointer is refused on submission.
func TestArgumentsByPointer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, err := fairlead.New(t.Context(), memory.New("cpu"), fairlead.Options{})
		if err != nil {
			t.Fatal(err)
		}
		images := make(chan string, 1)
		fairlead.Handle(app, func(_ context.Context, w *fairlead.Work[*Thumbnail]) error {
			images <- w.Args.Image
			return nil
		})
		if err := app.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err = app.Submit(t.Context(), fairlead.Job{User: "a", Args: (*Thumbnail)(nil)})
		if !errors.Is(err, fairlead.ErrInvalid) || !strings.Contains(err.Error(), "args: is a nil *fairlead_test.Thumbnail") {
			t.Errorf("no arguments: %v", err)
		}
		if _, err := app.Submit(t.Context(), fairlead.Job{User: "a", Args: &Thumbnail{Image: "cat"}}); err != nil {
			t.Fatal(err)
		}
		if image := <-images; image != "cat" {
			t.Errorf("the handler has %q", image)
		}
		if err := app.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestStats counts attempts by how they ended.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := appOf(t, fairlead.Options{}, func(ctx context.Context, w *fairlead.Work[Thumbnail]) error {
			switch {
			case w.Args.Image == "wait":
				<-ctx.Done()
				return ctx.Err()
			case w.Args.Image == "later" && w.Attempt == 1:
				return fairlead.Snooze(time.Minute)
			case w.Args.Image == "broken":
				return errors.New("broken")
			}
			return nil
		})
		if err := app.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		var jobs []fairlead.Job
		for _, image := range []string{"wait", "later", "broken"} {
			jobs = append(jobs, fairlead.Job{User: "a", Args: Thumbnail{Image: image}, Retries: 2})
		}
		ids, err := app.Submit(t.Context(), jobs...)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if err := app.Client().Cancel(t.Context(), ids[0]); err != nil {
			t.Fatal(err)
		}
		if err := app.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := app.Stats(), (fairlead.Stats{Succeeded: 1, Failed: 3, Snoozed: 1, Stopped: 1}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

// TestWeightsAtRunTime: a customer who pays for three times as much gets three of four turns from then on, and a
// maximum holds from the next decision on.
func TestWeightsAtRunTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		turns := map[string]int{}
		app := appOf(t, fairlead.Options{Slots: 4}, func(_ context.Context, w *fairlead.Work[Thumbnail]) error {
			mu.Lock()
			turns[w.Job.User]++
			mu.Unlock()
			time.Sleep(time.Second)
			return nil
		})
		var jobs []fairlead.Job
		for range 1000 {
			for _, user := range []string{"acme", "bolt"} {
				jobs = append(jobs, fairlead.Job{User: user, Args: Thumbnail{}})
			}
		}
		if _, err := app.Submit(t.Context(), jobs...); err != nil {
			t.Fatal(err)
		}
		if err := app.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		// during counts the turns of a hundred seconds, after some seconds in which the new shares take effect.
		during := func() map[string]int {
			time.Sleep(500*time.Millisecond + 10*time.Second)
			mu.Lock()
			clear(turns)
			mu.Unlock()
			time.Sleep(100 * time.Second)
			mu.Lock()
			defer mu.Unlock()
			return maps.Clone(turns)
		}
		expect := func(what string, acme, bolt int) {
			t.Helper()
			got := during()
			if d := got["acme"] - acme; d < -8 || d > 8 || got["acme"]+got["bolt"] < acme+bolt-8 {
				t.Errorf("%s: acme had %d turns and bolt %d, want about %d and %d", what, got["acme"], got["bolt"], acme, bolt)
			}
		}
		expect("equal weights", 200, 200)
		if err := app.SetWeight(t.Context(), "acme", 3); err != nil {
			t.Fatal(err)
		}
		expect("weight 3", 300, 100)
		if err := app.SetMax(t.Context(), "acme", fairlead.Amounts{"cpu": 1}); err != nil {
			t.Fatal(err)
		}
		expect("at most one slot", 100, 300)
		if err := app.SetMax(t.Context(), "acme", nil); err != nil {
			t.Fatal(err)
		}
		if err := app.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestWeightsOfPoolsToCome: a weight may be set before the first job of its pool; a path that no pool can have is
// refused.
func TestWeightsOfPoolsToCome(t *testing.T) {
	app := appOf(t, fairlead.Options{}, func(context.Context, *fairlead.Work[Thumbnail]) error { return nil })
	if err := app.SetWeight(t.Context(), "Big Customer", 2); err != nil {
		t.Fatal(err)
	}
	if _, err := app.Submit(t.Context(), fairlead.Job{User: "Big Customer", Args: Thumbnail{}}); err != nil {
		t.Fatal(err)
	}
	pools := app.Shares(t.Context())
	if len(pools) != 2 || pools[1].Weight != 2 {
		t.Errorf("%+v", pools)
	}
	for what, err := range map[string]error{
		"the root": app.SetWeight(t.Context(), "/", 2), "a weight below 0": app.SetWeight(t.Context(), "acme", -1),
		"a strange name":     app.SetWeight(t.Context(), "a\nb//", 2),
		"no number":          app.SetWeight(t.Context(), "acme", math.NaN()),
		"a bound below 0":    app.SetMax(t.Context(), "acme", fairlead.Amounts{"cpu": -1}),
		"a strange resource": app.SetMax(t.Context(), "acme", fairlead.Amounts{"bad name!": 1}),
	} {
		if !errors.Is(err, fairlead.ErrInvalid) && !errors.Is(err, fairlead.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

package fairlead_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/tries"
	"github.com/fairlead/fairlead/store/memory"
)

type resize struct {
	Image string `json:"image"`
	Width int    `json:"width"`
}

func (resize) Kind() string { return "resize" }

type broken struct{ F func() }

func (broken) Kind() string { return "broken" }

// runApp runs an app until the test ends.
func runApp(t *testing.T, a *fairlead.App) {
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error("Run:", err)
		}
	})
}

func newApp(t *testing.T) *fairlead.App {
	t.Helper()
	a, err := fairlead.New(t.Context(), memory.New("cpu"), fairlead.Options{Slots: 2, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAppHandlesTypedJobs: arguments reach the handler as they were submitted, through the middleware, with the first
// outermost.
func TestAppHandlesTypedJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApp(t)
		var mu sync.Mutex
		var said []string
		say := func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, fmt.Sprintf(format, args...))
		}
		around := func(name string) engine.Middleware {
			return func(next engine.Handler) engine.Handler {
				return engine.HandlerFunc(func(ctx context.Context, l *fairlead.Lease) error {
					say("%s before", name)
					defer say("%s after", name)
					return next.Handle(ctx, l)
				})
			}
		}
		fairlead.Handle(a, func(_ context.Context, w *fairlead.Work[resize]) error {
			say("%s for %s, %d wide, attempt %d", w.Args.Image, w.Job.User, w.Args.Width, w.Attempt)
			time.Sleep(time.Second)
			return nil
		})
		a.Use(around("outer"), around("inner"))
		ids, err := a.Submit(t.Context(), fairlead.Job{User: "acme", Args: resize{"cat.jpg", 200}})
		if err != nil {
			t.Fatal(err)
		}
		runApp(t, a)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		want := "outer before, inner before, cat.jpg for acme, 200 wide, attempt 1, inner after, outer after"
		if got := strings.Join(said, ", "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if j, err := a.Client().Job(t.Context(), ids[0]); err != nil || j.State != fairlead.Succeeded ||
			j.Kind != "resize" || j.Args != nil {
			t.Errorf("%+v, %v", j, err)
		}
		if answer, err := a.Why(t.Context(), ids[0]); err != nil || answer.Subject.Job != ids[0] {
			t.Errorf("%+v, %v", answer, err)
		}
		if pools := a.Shares(t.Context()); len(pools) != 2 || pools[1].Path != "acme" {
			t.Errorf("pools %+v", pools)
		}
	})
}

// TestPermanentErrorsAreNotTriedAgain: permanent errors are not tried again, and neither are jobs whose arguments
// cannot be read.
func TestPermanentErrorsAreNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApp(t)
		var mu sync.Mutex
		ran := map[string]int{}
		fairlead.Handle(a, func(_ context.Context, w *fairlead.Work[resize]) error {
			mu.Lock()
			defer mu.Unlock()
			ran[w.Args.Image]++
			err := errors.New("no such image")
			if w.Args.Image == "gone.jpg" {
				return fmt.Errorf("resize: %w", tries.Permanent(err))
			}
			return err
		})
		job := func(image string) fairlead.Job {
			return fairlead.Job{User: "acme", Args: resize{Image: image}, Retries: 2, Backoff: time.Second}
		}
		unreadable := fairlead.Job{User: "acme", Kind: "resize", Payload: []byte(`{"width": "wide"}`), Retries: 2}
		ids, err := a.Submit(t.Context(), job("cat.jpg"), job("gone.jpg"), unreadable)
		if err != nil {
			t.Fatal(err)
		}
		runApp(t, a)
		time.Sleep(time.Minute)
		synctest.Wait()
		if ran["cat.jpg"] != 3 || ran["gone.jpg"] != 1 || len(ran) != 2 {
			t.Errorf("tries %v, want 3 for the cat and 1 for the other", ran)
		}
		for i, cause := range []string{"no such image", "resize: no such image",
			`arguments of kind "resize": json: cannot unmarshal string`} {
			j, err := a.Client().Job(t.Context(), ids[i])
			if err != nil || j.State != fairlead.Failed || !strings.HasPrefix(j.Cause, cause) {
				t.Errorf("job %d is %s by %q, want %q; %v", ids[i], j.State, j.Cause, cause, err)
			}
		}
	})
}

// TestArgsAreChecked: a submission refuses arguments that cannot be stored.
func TestArgsAreChecked(t *testing.T) {
	a := newApp(t)
	for _, c := range []struct {
		job  fairlead.Job
		want string
	}{
		{fairlead.Job{Args: broken{}}, "json: unsupported type: func()"},
		{fairlead.Job{Args: resize{}, Payload: []byte("x")}, "either arguments or a payload"},
		{fairlead.Job{Args: resize{}, Kind: "thumbnail"},
			`of the kind "thumbnail", and its arguments are of the kind "resize"`},
	} {
		c.job.User = "acme"
		if _, err := a.Submit(t.Context(), c.job); !errors.Is(err, fairlead.ErrInvalid) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.job, err, c.want)
		}
	}
}

// TestAppGoesDownGently: a handler that runs when the context ends may continue for the grace period; a job that has
// not begun waits for the next start of the app.
func TestAppGoesDownGently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New("cpu")
		a, err := fairlead.New(t.Context(), store, fairlead.Options{Slots: 1, Grace: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		fairlead.Handle(a, func(ctx context.Context, w *fairlead.Work[resize]) error {
			select {
			case <-time.After(time.Duration(w.Args.Width) * time.Second):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		job := func(seconds int) fairlead.Job { return fairlead.Job{User: "acme", Args: resize{Width: seconds}} }
		ids, err := a.Submit(t.Context(), job(5), job(5))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		began := time.Now()
		if err := a.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("Run took %v, want the 5 s of the handler", took)
		}
		for i, want := range []fairlead.State{fairlead.Succeeded, fairlead.Waiting} {
			if j, err := a.Client().Job(t.Context(), ids[i]); err != nil || j.State != want {
				t.Errorf("job %d is %s, want %s; %v", ids[i], j.State, want, err)
			}
		}
		if err := a.Run(t.Context()); err == nil {
			t.Error("Run twice")
		}
	})
}

// TestCron: each instant of a schedule is one job, however often it is submitted.
func TestCron(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApp(t)
		var at []string
		fairlead.Handle(a, func(_ context.Context, w *fairlead.Work[resize]) error {
			at = append(at, w.Args.Image)
			return nil
		})
		job := func(at time.Time) fairlead.Job {
			return fairlead.Job{User: "system", Args: resize{Image: at.UTC().Format("15:04")}}
		}
		if err := a.Cron("nightly", "0 */6 * * *", job); err != nil {
			t.Fatal(err)
		}
		for name, spec := range map[string]string{
			"nightly": "@daily", "": "@daily", "other": "every day", "never": "0 0 31 2 *",
		} {
			if err := a.Cron(name, spec, job); !errors.Is(err, fairlead.ErrInvalid) {
				t.Errorf("%q %q: %v", name, spec, err)
			}
		}
		runApp(t, a)
		time.Sleep(24*time.Hour + time.Minute)
		synctest.Wait()
		if got := strings.Join(at, " "); got != "06:00 12:00 18:00 00:00" {
			t.Errorf("ran at %s", got)
		}
		jobs, err := a.Client().Jobs(t.Context(), fairlead.Query{})
		if err != nil || len(jobs) != 4 {
			t.Fatal(len(jobs), err)
		}
		again := job(time.Date(2000, 1, 1, 6, 0, 0, 0, time.UTC))
		again.Key = jobs[0].Key
		if ids, err := a.Submit(t.Context(), again); err != nil || ids[0] != jobs[0].ID {
			t.Errorf("submitted again as %v, %v; want job %d", ids, err, jobs[0].ID)
		}
	})
}

package fairlead_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/tries"
	"github.com/fairlead/fairlead/store/memory"
)

// lines is a log that a test can read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// with returns the lines that contain all these words.
func (l *lines) with(words ...string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
line:
	for line := range strings.Lines(l.text.String()) {
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue line
			}
		}
		found = append(found, line)
	}
	return found
}

func (l *lines) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// TestFailuresAreLogged: the log of a program shows which of its tasks failed, and where a handler panicked.
func TestFailuresAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lines
		app, err := fairlead.New(t.Context(), memory.New("cpu"), fairlead.Options{Logger: log.logger()})
		if err != nil {
			t.Fatal(err)
		}
		fairlead.Handle(app, func(ctx context.Context, w *fairlead.Work[resize]) error {
			switch w.Args.Image {
			case "gone.jpg":
				return tries.Permanent(errors.New("no such image"))
			case "torn.jpg":
				return errors.New("half an image")
			case "odd.jpg":
				panicInTest()
			case "large.jpg":
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		job := func(image string) fairlead.Job {
			return fairlead.Job{User: "ann", Args: resize{Image: image}, Retries: 1, Backoff: time.Second,
				Limit: time.Minute}
		}
		ids, err := app.Submit(t.Context(), job("good.jpg"), job("gone.jpg"), job("torn.jpg"), job("odd.jpg"),
			job("large.jpg"))
		if err != nil {
			t.Fatal(err)
		}
		runApp(t, app)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		for i, c := range []struct {
			words []string
			lines int
		}{
			{nil, 0},
			{[]string{"level=WARN", "no such image", "final=true", "attempt=1"}, 1},
			{[]string{"level=WARN", "half an image", "final=false"}, 2},
			{[]string{"level=ERROR", "something odd", "panicInTest"}, 2},
			{[]string{"level=WARN", "time limit", "1m0s"}, 2},
		} {
			about := []string{"job=" + strconv.FormatInt(ids[i], 10) + " ", "kind=resize"}
			if all := log.with(about...); len(all) != c.lines {
				t.Errorf("of job %d the log says %q, want %d lines", ids[i], all, c.lines)
			}
			if found := log.with(append(about, c.words...)...); len(found) != c.lines {
				t.Errorf("of job %d %d lines of the log have %q, want %d: %q", ids[i], len(found), c.words, c.lines,
					log.with(about...))
			}
		}
		if last := log.with("half an image", "attempt=2"); len(last) != 1 {
			t.Errorf("the second attempt is logged %d times", len(last))
		}
	})
}

func panicInTest() { panic("something odd") }

// TestScheduleThatPanics: if the function of a schedule panics, the program continues, and so do the next instants of
// the schedule.
func TestScheduleThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lines
		app, err := fairlead.New(t.Context(), memory.New("cpu"), fairlead.Options{Logger: log.logger()})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan string, 10)
		fairlead.Handle(app,
			func(_ context.Context, w *fairlead.Work[resize]) error { done <- w.Args.Image; return nil })
		first := true
		err = app.Cron("hourly", "@hourly", func(time.Time) fairlead.Job {
			if first {
				first = false
				panicInTest()
			}
			return fairlead.Job{User: "ann", Args: resize{Image: "new.jpg"}}
		})
		if err != nil {
			t.Fatal(err)
		}
		runApp(t, app)
		time.Sleep(2*time.Hour + time.Minute)
		synctest.Wait()
		if len(done) != 1 {
			t.Errorf("%d jobs of two instants ran, the first of which panicked", len(done))
		}
		if said := log.with("level=ERROR", "cron=hourly", "something odd", "panicInTest"); len(said) != 1 {
			t.Errorf("the log says %q of the panic", said)
		}
	})
}

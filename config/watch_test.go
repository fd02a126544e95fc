package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/await"
)

// told is one call of a watcher's functions.
type told struct {
	config *Config
	err    error
}

// watched is a watcher under test with its file.
type watched struct {
	t    *testing.T
	path string
	poke chan struct{}
	told chan told
}

func watch(t *testing.T, text string, start func(ctx context.Context, w *watched) error) *watched {
	t.Helper()
	w := &watched{t: t, path: filepath.Join(t.TempDir(), "fairlead.yaml"), poke: make(chan struct{}),
		told: make(chan told, 100)}
	w.write(text)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- start(ctx, w) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *watched) good(c *Config) { w.told <- told{config: c} }
func (w *watched) bad(err error)  { w.told <- told{err: err} }

// write changes the file in place. It neither shortens the file first nor writes it in parts, because the watcher may
// look at any moment and would rightly report half a file; empty lines cover the rest of a longer old text.
func (w *watched) write(text string) {
	w.t.Helper()
	f, err := os.OpenFile(w.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	old, err := f.Stat()
	if err != nil {
		w.t.Fatal(err)
	}
	if rest := int(old.Size()) - len(text); rest > 0 {
		text += strings.Repeat("\n", rest)
	}
	if _, err := f.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
}

// replace writes the file as editors do.
func (w *watched) replace(text string) {
	w.t.Helper()
	if err := errors.Join(os.WriteFile(w.path+"~", []byte(text), 0o600), os.Rename(w.path+"~", w.path)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watched) next() told {
	w.t.Helper()
	select {
	case got := <-w.told:
		return got
	case <-time.After(await.Patience):
		w.t.Fatal("the change was not noticed")
		return told{}
	}
}

func (w *watched) wantPolicy(want string) {
	w.t.Helper()
	got := w.next()
	if got.err != nil {
		w.t.Fatalf("got %v, want policy %s", got.err, want)
	}
	if p := got.config.Shares.Sched.Root.Policy; p != want {
		w.t.Fatalf("got policy %s, want %s", p, want)
	}
}

func (w *watched) wantBad(want string) {
	w.t.Helper()
	if got := w.next(); got.err == nil || !strings.Contains(got.err.Error(), want) {
		w.t.Fatalf("got %v, want an error with %q", got.err, want)
	}
}

// TestWatch takes a file through its life: each step is noticed, and nothing else.
func TestWatch(t *testing.T) {
	t.Parallel()
	w := watch(t, "policy: fifo", func(ctx context.Context, w *watched) error {
		return (&Config{}).Watch(ctx, w.path, w.poke, w.good, w.bad)
	})
	w.wantPolicy("fifo") // another policy than the current one
	w.replace("policy: lottery")
	w.wantPolicy("lottery")
	w.write("# the same\npolicy: 'lottery'")
	w.replace("policy: [")
	w.wantBad("fairlead.yaml:1:10: the file ends, but a bracket is not closed")
	w.write("policy: lottery")
	w.wantPolicy("lottery") // the file is correct now
	if err := os.Remove(w.path); err != nil {
		t.Fatal(err)
	}
	w.wantBad("no such file")
	w.write("")
	w.wantBad("the file is empty")
	w.poke <- struct{}{}
	w.wantBad("the file is empty")
	w.write("{}")
	w.wantPolicy("fair")
	close(w.poke)
	w.write("policy: fifo")
	w.wantPolicy("fifo")
}

func TestWatchFromHereOn(t *testing.T) {
	t.Parallel()
	w := watch(t, "policy: fifo", func(ctx context.Context, w *watched) error {
		c, err := Load(w.path)
		if err != nil {
			return err
		}
		return c.Watch(ctx, w.path, w.poke, w.good, w.bad)
	})
	w.poke <- struct{}{} // the watcher is running, and knows the policy fifo
	w.write("policy: lottery")
	w.wantPolicy("lottery")
}

// TestWatchLink replaces a link on the way to the file, as Kubernetes does.
func TestWatchLink(t *testing.T) {
	t.Parallel()
	w := watch(t, "policy: fifo", func(ctx context.Context, w *watched) error {
		dir := filepath.Dir(w.path)
		err := errors.Join(os.Mkdir(dir+"/1", 0o700), os.Mkdir(dir+"/2", 0o700),
			os.WriteFile(dir+"/1/f", []byte("policy: fifo"), 0o600),
			os.WriteFile(dir+"/2/f", []byte("policy: lottery"), 0o600), os.Symlink("1", dir+"/data"), os.Remove(w.path),
			os.Symlink("data/f", w.path))
		if err != nil {
			return err
		}
		return (&Config{}).Watch(ctx, w.path, nil, w.good, w.bad)
	})
	w.wantPolicy("fifo")
	dir := filepath.Dir(w.path)
	if err := errors.Join(os.Symlink("2", dir+"/new"), os.Rename(dir+"/new", dir+"/data")); err != nil {
		t.Fatal(err)
	}
	w.wantPolicy("lottery")
}

// TestWatchPolls is without events, as on a network file system.
func TestWatchPolls(t *testing.T) {
	w := watch(t, "policy: fifo", func(ctx context.Context, w *watched) error {
		x := &watcher{path: w.path, abs: w.path, f: w.good, bad: w.bad}
		x.run(ctx, nil, times{time.Millisecond, 5 * time.Millisecond}, nil, nil)
		return nil
	})
	w.wantPolicy("fifo")
	w.write("policy: lottery")
	w.wantPolicy("lottery")
}

// TestSettle writes the state after each look, and the reaction: ! means act, + means look again.
func TestSettle(t *testing.T) {
	for _, c := range []struct{ looks, want string }{
		{"aa", "+!"}, {"aaa", "+!."}, {"abb", "++!"}, {"ababab", "++++++"}, {"aabab", "+!+.+"}, {"aababb",
			"+!+.+!"}, {"aaba bb", "+!+.f+!"},
		{"aa aa", "+!f+!"},
	} {
		var s settle
		got := ""
		for _, found := range c.looks {
			if found == ' ' {
				s.forget()
				got += "f"
				continue
			}
			act, again := s.look(string(found))
			switch {
			case act:
				got += "!"
			case again:
				got += "+"
			default:
				got += "."
			}
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.looks, got, c.want)
		}
	}
}

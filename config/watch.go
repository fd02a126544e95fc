package config

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watch watches the file from which c, the current configuration, was read. It calls f with each new valid
// configuration, and the function "bad" with the problems of an invalid one; then the last good configuration stays
// current. Watch misses no change since c was read. A value on poke makes it look at once, and call the function "bad"
// again if the file is still invalid. It never calls both functions at the same time. It returns when ctx ends.
//
// Unlike Load, Watch treats an empty or missing file as invalid, because it is more likely half written or lost than
// intended. To configure nothing, write {}.
func (c *Config) Watch(ctx context.Context, path string, poke <-chan struct{}, f func(*Config), bad func(error)) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("watch the configuration: %w", err)
	}
	w := &watcher{path: path, abs: abs, f: f, bad: bad, hash: c.Shares.Hash}
	return w.start(ctx, poke)
}

// times says how long a file must stay unchanged, and how often to look at it without an event, because not every file
// system sends events.
type times struct{ quiet, poll time.Duration }

var watchTimes = times{100 * time.Millisecond, 10 * time.Second}

type watcher struct {
	settle
	path string // as given, for messages
	abs  string
	f    func(*Config)
	bad  func(error)
	hash string // hash of the current configuration; "" after a bad file, so that f is called

	subscribe func(dir string) // nil without events
}

// start watches with file system events if the system grants them; otherwise the poll alone finds changes.
func (w *watcher) start(ctx context.Context, poke <-chan struct{}) error {
	notes, err := fsnotify.NewWatcher()
	if err != nil {
		w.run(ctx, poke, watchTimes, nil, nil)
		return nil
	}
	defer notes.Close()
	w.subscribe = func(dir string) { _ = notes.Add(dir) } // adding twice is harmless
	w.run(ctx, poke, watchTimes, notes.Events, notes.Errors)
	return nil
}

// run looks at the file whenever it may have changed.
func (w *watcher) run(ctx context.Context, poke <-chan struct{}, every times, events <-chan fsnotify.Event,
	failures <-chan error) {
	poll := time.NewTicker(every.poll)
	defer poll.Stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	w.follow()
	for armed := true; ; {
		soon := true
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			soon = w.concerns(e)
		case <-failures: // events may be lost
		case <-poll.C:
			w.follow()
		case _, open := <-poke:
			if !open {
				poke = nil
			}
			w.forget()
		case <-timer.C:
			armed = false
			soon = w.look()
		}
		if soon && !armed {
			timer.Reset(every.quiet)
			armed = true
		}
	}
}

// follow subscribes to the directory of the file, because editors replace the file itself, and to the directory of the
// file behind a link.
func (w *watcher) follow() {
	if w.subscribe == nil {
		return
	}
	w.subscribe(filepath.Dir(w.abs))
	if real, err := filepath.EvalSymlinks(w.abs); err == nil {
		w.subscribe(filepath.Dir(real))
	}
}

// concerns reports whether an event may be about the file. Created, renamed or removed names may be links on the way to
// it; writes to other files do not matter.
func (w *watcher) concerns(e fsnotify.Event) bool {
	return filepath.Base(e.Name) == filepath.Base(w.abs) || e.Has(fsnotify.Create|fsnotify.Rename|fsnotify.Remove)
}

// look looks at the file, and acts if it changed and then stayed the same.
func (w *watcher) look() (again bool) {
	found := w.content()
	act, again := w.settle.look(found)
	if act {
		w.act(found)
	}
	return again
}

func (w *watcher) act(found string) {
	c, err := w.read(found)
	switch {
	case err != nil:
		w.hash = ""
		w.bad(err)
	case c.Shares.Hash != w.hash:
		w.hash = c.Shares.Hash
		w.f(c)
	}
}

// content returns a text that begins with one of these, so that an error never looks like the text of a file.
const (
	readable   = "+"
	unreadable = "-"
)

// content returns the content of the file, or the reason why it cannot be read.
func (w *watcher) content() string {
	text, err := readFile(w.abs)
	if err != nil {
		return unreadable + err.Error()
	}
	return readable + string(text)
}

// read parses what content returned.
func (w *watcher) read(content string) (*Config, error) {
	if why, ok := strings.CutPrefix(content, unreadable); ok {
		return nil, errors.New(why)
	}
	text := strings.TrimPrefix(content, readable)
	if strings.TrimSpace(text) == "" {
		return nil, Problems{{File: w.path, Msg: "the file is empty; for an empty configuration, write {}"}}
	}
	return Parse(w.path, []byte(text))
}

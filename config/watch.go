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

// Watch calls f with each configuration that becomes valid after a change of the file from which c,
// the one in force, was read, and bad with the problems of one that is not: then the last good one stays in force.
// No change since c was read is missed. A value on poke has the file looked at at once, and bad
// called again if it is still bad. Both functions are called one after the other. Watch
// returns when ctx ends.
//
// A file that is missing or empty is bad, unlike in Load: it is more likely to be half
// written, or lost, than meant. An empty configuration is {}.
func (c *Config) Watch(ctx context.Context, path string, poke <-chan struct{}, f func(*Config), bad func(error)) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("watch the configuration: %w", err)
	}
	w := &watcher{path: path, abs: abs, f: f, bad: bad, hash: c.Shares.Hash}
	return w.start(ctx, poke)
}

// times are how long a file has to stay as it is, and how often it is looked at
// without a reason: not every file system tells of changes.
type times struct{ quiet, poll time.Duration }

var watchTimes = times{100 * time.Millisecond, 10 * time.Second}

type watcher struct {
	settle
	path string // as given, for messages
	abs  string
	f    func(*Config)
	bad  func(error)
	hash string // of the configuration in force; "" after a bad one, so that f is told

	subscribe func(dir string) // nil without events
}

// start watches with the events of the system, if it has any left: the poll finds
// changes, too.
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

// run looks at the file whenever something may have happened to it.
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

// follow asks for events of the directory, as editors replace the file itself, and of
// that of the file behind a link.
func (w *watcher) follow() {
	if w.subscribe == nil {
		return
	}
	w.subscribe(filepath.Dir(w.abs))
	if real, err := filepath.EvalSymlinks(w.abs); err == nil {
		w.subscribe(filepath.Dir(real))
	}
}

// concerns reports whether an event may be about the file. Names that come and go may
// be links on the way to it; writes to other files do not matter.
func (w *watcher) concerns(e fsnotify.Event) bool {
	return filepath.Base(e.Name) == filepath.Base(w.abs) || e.Has(fsnotify.Create|fsnotify.Rename|fsnotify.Remove)
}

// look looks at the file, and acts when it changed and stays as it is.
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

// What content returns begins with one of these, so that a text is never taken for
// something else.
const (
	readable   = "+"
	unreadable = "-"
)

// content is the content of the file, or the reason why it cannot be read.
func (w *watcher) content() string {
	text, err := readFile(w.abs)
	if err != nil {
		return unreadable + err.Error()
	}
	return readable + string(text)
}

// read makes a configuration of what content returned.
func (w *watcher) read(content string) (*Config, error) {
	if why, ok := strings.CutPrefix(content, unreadable); ok {
		return nil, errors.New(why)
	}
	text := strings.TrimPrefix(content, readable)
	if strings.TrimSpace(text) == "" {
		return nil, Problems{{File: w.path, Msg: "the file is empty; write {} if it is meant to be"}}
	}
	return Parse(w.path, []byte(text))
}

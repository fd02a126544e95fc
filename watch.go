package fairlead

import (
	"fmt"
	"sync"
)

// watchers passes events on to those who watch. Nobody can hold the loop up: a
// watcher that does not keep up misses events, and is told how many.
type watchers struct {
	mu  sync.Mutex
	all map[*Watch]bool
}

// Watch receives what happens from now on.
type Watch struct {
	// C carries the events. An event with the code "missed" stands for those that did
	// not fit.
	C      chan Event
	missed int
	from   *watchers
}

// watchBuffer is how far a watcher may be behind.
const watchBuffer = 1024

// Watch begins to receive events. Close it when it is not needed any more.
func (l *Loop) Watch() *Watch {
	w := &Watch{C: make(chan Event, watchBuffer), from: &l.watchers}
	l.watchers.mu.Lock()
	defer l.watchers.mu.Unlock()
	if l.watchers.all == nil {
		l.watchers.all = map[*Watch]bool{}
	}
	l.watchers.all[w] = true
	return w
}

// Close ends a watch.
func (w *Watch) Close() {
	w.from.mu.Lock()
	defer w.from.mu.Unlock()
	delete(w.from.all, w)
}

// Version counts the changes of what the scheduler knows: jobs, tasks, nodes, shares. While it
// stays the same, only the time goes on.
func (l *Loop) Version() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version
}

func (ws *watchers) publish(e Event) {
	if e.Code == "" {
		return
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.all {
		w.send(e)
	}
}

func (w *Watch) send(e Event) {
	if w.missed > 0 {
		select {
		case w.C <- Event{Code: "missed", At: e.At, Text: fmt.Sprintf("%d events", w.missed)}:
			w.missed = 0
		default:
			w.missed++
			return
		}
	}
	select {
	case w.C <- e:
	default:
		w.missed++
	}
}

// startedEvent tells of a task that began, or went into another queueing system.
func startedEvent(r Run, h Header) Event {
	if r.Queued {
		return Event{
			Job: r.JobID, Task: r.Task, At: r.Started, Code: "queued", Text: fmt.Sprintf("attempt %d, through %s", r.Attempt, r.Holder),
			User: h.User, Pool: h.Pool, State: Queued,
		}
	}
	return Event{
		Job: r.JobID, Task: r.Task, At: r.Started, Code: "started", Text: fmt.Sprintf("attempt %d on %s", r.Attempt, r.Holder),
		User: h.User, Pool: h.Pool, State: Running,
	}
}

// eventOf is a change as watchers see it.
func eventOf(c Change) Event {
	e := Event{Job: c.Job.ID, Task: -1, At: c.At, User: c.Job.User, Pool: c.Job.Pool, State: c.State, Text: c.Reason}
	switch c.What {
	case Waited:
		e.Code = "waiting"
	case Withdrawn:
		e.Code = "withdrawn"
	case Stop:
		e.Code = "stopping"
	case Lost:
		e.Code = "lost"
	case Done:
		e.Code, e.Text = "ended", string(c.State)
		if c.Reason != "" {
			e.Text += ": " + c.Reason
		}
	}
	return e
}

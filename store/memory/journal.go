package memory

import "github.com/fairlead/fairlead/queue"

// journal holds the records beside the jobs.
type journal struct {
	events   map[int64][]queue.Event
	settings map[string]string
	audit    []queue.AuditEntry
}

// note stores an event.
func (w *journal) note(e queue.Event) { w.events[e.Job] = append(w.events[e.Job], e) }

func (w *journal) noteAll(events []queue.Event) {
	for _, e := range events {
		w.note(e)
	}
}

// set stores a value, or removes the key if the value is empty.
func (w *journal) set(key, value string) {
	if w.settings[key] = value; value == "" {
		delete(w.settings, key)
	}
}

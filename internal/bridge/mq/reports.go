package mq

import (
	"maps"
	"slices"
	"sync"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// Reports holds the reports that a bridge has heard from workers. A tag names a report in its queue, so that
// it can be removed there.
type Reports struct {
	mu        sync.Mutex
	heard     map[string]*heard
	forgotten map[string]bool
	oldest    []string // keys of forgotten, in order
	changed   chan struct{}
}

// remembered is how many forgotten markers are remembered. If a later report names one of them, its message
// was delivered twice.
const remembered = 100_000

type heard struct {
	started, end *Report
	tags         map[uint64]bool
}

// NewReports returns an empty Reports.
func NewReports() *Reports {
	return &Reports{heard: map[string]*heard{}, forgotten: map[string]bool{}, changed: make(chan struct{}, 1)}
}

// Changed has an element when a report was heard.
func (r *Reports) Changed() <-chan struct{} { return r.changed }

// Notify puts an element into Changed.
func (r *Reports) Notify() { wait.Wake(r.changed) }

// Hear records a report. It returns false if the report can be removed, because its marker is forgotten.
func (r *Reports) Hear(report *Report, tag uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.forgotten[report.Marker] {
		return false
	}
	h := r.heard[report.Marker]
	if h == nil {
		h = &heard{tags: map[uint64]bool{}}
		r.heard[report.Marker] = h
	}
	h.tags[tag] = true
	switch {
	case !report.Over():
		h.started = report
	case h.end == nil: // the first end counts
		h.end = report
	}
	r.Notify()
	return true
}

// End returns the report of the end of an attempt, or nil if none was heard.
func (r *Reports) End(marker string) *Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.heard[marker]; h != nil {
		return h.end
	}
	return nil
}

// Started returns the report of the last start, or nil if none was heard.
func (r *Reports) Started(marker string) *Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.heard[marker]; h != nil {
		return h.started
	}
	return nil
}

// IsForgotten reports whether a marker was forgotten, as far as Reports remembers.
func (r *Reports) IsForgotten(marker string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.forgotten[marker]
}

// Waits records that an attempt waits again: the worker that had started it no longer has it.
func (r *Reports) Waits(marker string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.heard[marker]; h != nil {
		h.started = nil
	}
}

// Forget forgets a marker, and returns the tags of its reports.
func (r *Reports) Forget(marker string) []uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.forgotten[marker] {
		r.forgotten[marker] = true
		r.oldest = append(r.oldest, marker)
		if len(r.oldest) > remembered {
			delete(r.forgotten, r.oldest[0])
			r.oldest = r.oldest[1:]
		}
	}
	h := r.heard[marker]
	if h == nil {
		return nil
	}
	delete(r.heard, marker)
	return slices.Sorted(maps.Keys(h.tags))
}

// Renumber forgets all tags: the queue delivers their reports again, under other tags.
func (r *Reports) Renumber() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.heard {
		clear(h.tags)
	}
}

// Status returns the report as a status for the bridge.
func (r *Report) Status() bridge.Status {
	s := bridge.Status{
		ID: r.ID, Says: r.State, Began: r.Began, Ended: r.Ended, ExitCode: r.ExitCode, Error: r.Error, Output: r.Output,
		Used: r.Used,
	}
	if r.Worker != "" {
		s.Says += " on " + r.Worker
	}
	switch r.State {
	case string(queue.Succeeded):
		s.Phase = bridge.Succeeded
	case string(queue.Failed):
		s.Phase = bridge.Failed
	case string(queue.Cancelled):
		s.Phase = bridge.Cancelled
	default:
		s.Phase = bridge.Running
	}
	return s
}

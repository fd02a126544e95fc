package wait

import (
	"errors"
	"log/slog"
	"sync"
	"time"
)

// ErrRefused is wrapped by an error if the other side answered and refuses the connection.
var ErrRefused = errors.New("it refuses us")

// Outage logs in a few lines that the other side is unreachable. It writes one line when the other side
// goes away, lines at growing intervals of up to about a minute, and one line when the other side is
// back. All callers that ask the same side share one Outage, so that nothing is logged twice.
type Outage struct {
	log        *slog.Logger
	gone, back string
	refuses    string // in place of gone after ErrRefused; "" if it never refuses

	mu    sync.Mutex
	since time.Time     // zero: the other side is reachable
	next  time.Time     // when the next line is due
	line  time.Duration // the time from that line to the one after it
	tries int           // since the other side went away
}

// The first and the longest time between lines about an outage.
const (
	firstLine = 4 * time.Second
	lastLine  = time.Minute
)

// NewOutage returns an outage with the texts for both events.
func NewOutage(log *slog.Logger, gone, back string) *Outage {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Outage{log: log, gone: gone, back: back}
}

// Refuses sets the text that replaces the text "gone" if the other side answers but refuses.
func (o *Outage) Refuses(text string) *Outage {
	o.refuses = text
	return o
}

// Fail records that the other side did not answer.
func (o *Outage) Fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, gone := time.Now(), o.gone
	if o.refuses != "" && errors.Is(err, ErrRefused) {
		gone = o.refuses
	}
	o.tries++
	switch {
	case o.since.IsZero():
		o.since, o.line = now, firstLine
		o.log.Warn(gone+"; trying again", "error", err)
	case now.Before(o.next):
		return
	default:
		o.line = min(2*o.line, lastLine)
		o.log.Warn(gone+"; still trying", "error", err, "for", now.Sub(o.since).Round(time.Second), "tries", o.tries)
	}
	o.next = now.Add(About(o.line))
}

// Answer records that the other side answered.
func (o *Outage) Answer() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.since.IsZero() {
		o.log.Info(o.back, "after", time.Since(o.since).Round(time.Millisecond), "tries", o.tries)
		o.since, o.tries = time.Time{}, 0
	}
}

package wait

import (
	"errors"
	"log/slog"
	"sync"
	"time"
)

// ErrRefused is in an error if the other side answered, and does not let us in.
var ErrRefused = errors.New("it refuses us")

// Outage tells a log, in few lines, that something is away: one when it goes, then fewer and
// fewer, at most one a minute in the end, and one when it is back. Whoever asks the same thing
// shares one, so that nothing is said twice.
type Outage struct {
	log        *slog.Logger
	gone, back string
	refuses    string // in place of gone after ErrRefused; "" if that does not happen

	mu    sync.Mutex
	since time.Time     // zero: it is not away
	next  time.Time     // when the next line is due
	line  time.Duration // how long after that the one after it
	tries int           // since it went
}

// Lines about the missing side.
const (
	firstLine = 4 * time.Second
	lastLine  = time.Minute
)

// NewOutage says gone and back to a log.
func NewOutage(log *slog.Logger, gone, back string) *Outage {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Outage{log: log, gone: gone, back: back}
}

// Refuses sets the text in place of gone if the other side answers, and refuses.
func (o *Outage) Refuses(text string) *Outage {
	o.refuses = text
	return o
}

// Fail notes that it did not answer.
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
		o.log.Warn(gone+" still; trying again", "error", err, "for", now.Sub(o.since).Round(time.Second), "tries", o.tries)
	}
	o.next = now.Add(About(o.line))
}

// Answer notes that it answered.
func (o *Outage) Answer() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.since.IsZero() {
		o.log.Info(o.back, "after", time.Since(o.since).Round(time.Millisecond), "tries", o.tries)
		o.since, o.tries = time.Time{}, 0
	}
}

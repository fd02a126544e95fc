package bridge

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
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

// Lines about what is away.
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

// Refuses sets what is said in place of gone if it answers, and refuses.
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
	o.next = now.Add(jitter(o.line))
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

// Backoff is how long to wait between tries: longer each time, and never quite the same, so
// that many who lost one thing do not all come back to it at once.
type Backoff struct {
	First, Most time.Duration
	last        time.Duration
}

// Next is the next pause.
func (b *Backoff) Next() time.Duration {
	b.last = min(max(2*b.last, b.First), b.Most)
	return jitter(b.last)
}

// Reset begins again.
func (b *Backoff) Reset() { b.last = 0 }

// jitter is a time up to a quarter longer or shorter.
func jitter(d time.Duration) time.Duration {
	return d - d/4 + rand.N(d/2+1)
}

// Cause is what is wrong with a connection, without the address, which the message around it
// names, and the call of the system.
func Cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return err
}

package fairlead

import (
	"context"
	"time"
)

// Pulse is how the scheduler does at this moment.
type Pulse struct {
	// Store is how long the store took to answer, and CaughtUp how long it took until the
	// scheduler knew all that is in it.
	Store, CaughtUp time.Duration
	// Steps and Starts are how many of these there were each second, over the last minute, or
	// since the server was started, if that was later.
	Steps, Starts float64
}

// beat is what had been done at an instant.
type beat struct {
	at             time.Time
	steps, started uint64
}

// beats are those of the last minute and one before it.
type beats []beat

// note adds a beat.
func (b *beats) note(now time.Time, s *Stats) {
	*b = append(*b, beat{now, s.Steps, s.Started})
	for len(*b) > 2 && now.Sub((*b)[1].at) > time.Minute {
		*b = (*b)[1:]
	}
}

// Pulse looks at how the scheduler does.
func (l *Loop) Pulse(ctx context.Context) (Pulse, error) {
	began := time.Now()
	if _, err := l.store.Jobs(ctx, Query{Limit: 1, Newest: true}); err != nil {
		return Pulse{}, err
	}
	p := Pulse{Store: time.Since(began)}
	began = time.Now()
	if err := l.sync(ctx); err != nil {
		return p, err
	}
	now := time.Now()
	p.CaughtUp = now.Sub(began)
	l.mu.Lock()
	defer l.mu.Unlock()
	first := beat{at: l.made}
	if len(l.beats) > 0 {
		first = l.beats[0]
	}
	if over := now.Sub(first.at).Seconds(); over > 0 {
		p.Steps, p.Starts = float64(l.stats.Steps-first.steps)/over, float64(l.stats.Started-first.started)/over
	}
	return p, nil
}

package engine

import (
	"context"
	"time"
)

// The repeated actions of an engine. Each may fail by itself.
const (
	toSchedule = "schedule"
	toExpire   = "expire leases"
	toAnnounce = "announce this server"
)

// troubles records failures, and notifies callers who wait for another try.
type troubles struct{ *base }

// failed records that an action failed, and will be tried again after a pause.
func (t *troubles) failed(what string, err error, pause time.Duration) {
	said := false // the log has a line about it already, and the next one is not due
	t.Update(func(s *State) {
		s.stats.LastError, s.stats.ErrorAt = err.Error(), time.Now()
		if s.trouble.with == nil {
			s.trouble.with = map[string]*repeated{}
		}
		if s.trouble.with[what] == nil {
			s.trouble.with[what] = &repeated{}
		}
		said = !s.trouble.with[what].due(time.Now())
		s.trouble.notify()
	})
	if !said {
		t.Log.Error("scheduling failed; trying again", "error", err, "in", pause)
	}
}

// worked records that an action succeeded.
func (t *troubles) worked(what string) {
	t.Update(func(s *State) {
		if s.trouble.with[what] != nil {
			delete(s.trouble.with, what)
			s.trouble.notify()
		}
	})
}

// has reports whether the last try of an action failed.
func (t *troubles) has(what string) bool {
	return read(t.base, func(s *State) bool {
		return s.trouble.with[what] != nil
	})
}

// retry makes failed actions run again now, and waits for them a little.
func (t *troubles) retry(ctx context.Context) {
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		bad, tried := read2(t.base, func(s *State) (bool, chan struct{}) { return len(s.trouble.with) > 0, s.trouble.tried })
		if !bad {
			return
		}
		t.poke()
		select {
		case <-tried:
		case <-ctx.Done():
			return
		}
	}
}

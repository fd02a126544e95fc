package engine

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/poolnames"
	"github.com/fairlead/fairlead/queue"
)

// reservations are keyed by their names.
var reservations = override[Reservation]{
	name: "reservation", prefix: poolnames.ReservationSetting,
	in: func(s *State) *map[string]Reservation { return &s.InForce.reservations },
	enforce: func(s *State, _ string, _ Reservation, at moment) {
		s.Core.SetWindows(s.InForce.windowsAt(at.now), at.now)
	},
	lift: func(s *State, _ string, _ Reservation, at moment) {
		s.Core.SetWindows(s.InForce.windowsAt(at.now), at.now)
	},
	ended: func(s *State, now time.Time) (over []string) {
		for name, r := range s.InForce.reservations {
			if !r.Until.After(now) {
				over = append(over, name)
			}
		}
		return over
	},
	record: func(r Reservation) queue.AuditEntry {
		return queue.AuditEntry{Who: r.By, Subject: r.Name, Old: r.text()}
	},
}

// Reserve makes a reservation, or changes the one of that name: nodes, times and users that r does not set stay the
// same. It returns the reservation, and the running tasks that may overrun its beginning.
func (o *Overrides) Reserve(
	ctx context.Context, r Reservation, how ReserveOptions,
) (made Reservation, over []Overrun, err error) {
	if !queue.ReservationName.MatchString(r.Name) {
		return r, nil, queue.Invalidf("name",
			"%q is not a name for a reservation: only letters, digits, - _ and . are allowed", r.Name)
	}
	if err := queue.CheckText("reason", r.Reason, queue.MaxName); err != nil {
		return r, nil, err
	}
	if err := o.follower.sync(ctx); err != nil {
		return r, nil, err
	}
	err = reservations.change(ctx, o.changer, func(s *State) (*change[Reservation], error) {
		now := time.Now()
		entry := queue.AuditEntry{Who: r.By, From: how.From, What: "reserve", Subject: r.Name}
		r.Made = now
		if old, there := s.InForce.reservations[r.Name]; there {
			r.keep(&old, how.Lasts)
			entry.Old = old.text()
		} else if r.Until.IsZero() && how.Lasts > 0 && !r.From.IsZero() {
			r.Until = r.From.Add(how.Lasts)
		}
		if over, err = r.check(s, how, now); err != nil || how.DryRun {
			return nil, err
		}
		entry.New, entry.Note = r.text(), r.Reason
		return &change[Reservation]{key: r.Name, x: r, at: moment{now: now}, entry: []queue.AuditEntry{entry}}, nil
	})
	return r, over, err
}

// Unreserve ends a reservation early.
func (o *Overrides) Unreserve(ctx context.Context, name, by, from string) (r Reservation, err error) {
	err = reservations.change(ctx, o.changer, func(s *State) (*change[Reservation], error) {
		var there bool
		if r, there = s.InForce.reservations[name]; !there {
			return nil, queue.Missingf("no reservation %q; see fairlead reserve", name)
		}
		return reservations.ending(name, r, queue.AuditEntry{Who: by, From: from, What: "unreserve"}), nil
	})
	return r, err
}

// Reservations lists the reservations that are not over, by their beginning.
func (o *Overrides) Reservations() []Reservation {
	return read(o.base, func(s *State) []Reservation {
		return s.InForce.reservationsAt(time.Now())
	})
}

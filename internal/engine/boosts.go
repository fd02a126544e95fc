package engine

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/poolnames"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// lastBoost is the setting with the number of the last boost, so that no number is used twice.
const lastBoost = "boost-last"

// boosts are keyed by their numbers.
var boosts = override[Boost]{
	name: "boost", prefix: poolnames.BoostSetting, accounts: true,
	in: func(s *State) *map[string]Boost { return &s.InForce.boosts },
	enforce: func(s *State, _ string, b Boost, at moment) {
		b.Had = max(0, s.received(b.Pool, at.accounts, at.now)-b.Base)
		s.InForce.lastBoost = max(s.InForce.lastBoost, b.ID)
		s.Core.Boost(b.core(), at.now)
	},
	lift:   func(s *State, _ string, b Boost, at moment) { s.Core.Unboost(b.ID, at.now) },
	beside: func(b Boost) map[string]string { return map[string]string{lastBoost: b.key()} },
	loaded: func(s *State, settings map[string]string) {
		s.InForce.lastBoost, _ = strconv.ParseInt(settings[lastBoost], 10, 64)
	},
	ended: func(s *State, _ time.Time) (over []string) {
		for _, c := range s.Core.EndedBoosts() {
			if _, there := s.InForce.boosts[fmt.Sprint(c.ID)]; there {
				over = append(over, fmt.Sprint(c.ID))
			}
		}
		return over
	},
	record: func(b Boost) queue.AuditEntry { return queue.AuditEntry{Who: b.By, Subject: b.Pool, Old: b.text()} },
}

// Boost boosts the pool or the user's pool that b names, and returns the boost with its number. The argument "from" is
// the channel of the request, such as socket.
func (o *Overrides) Boost(ctx context.Context, b Boost, from string) (Boost, error) {
	switch err := sched.CheckFactor(b.Factor); {
	case err != nil:
		return b, queue.Invalidf("factor", "%v", err)
	case b.Until.IsZero() && b.Usage <= 0:
		return b, queue.Invalidf("until", "a boost has to end: give a time, a usage, or both")
	case b.Usage < 0 || b.Usage > queue.MaxAmount:
		return b, queue.Invalidf("usage", "must be from 0 to %d slot-seconds, got %v", int64(queue.MaxAmount), b.Usage)
	}
	now := time.Now()
	if err := checkOverride(b.Until, b.Reason, now); err != nil {
		return b, err
	}
	if err := o.follower.meet(ctx, b.Pool); err != nil {
		return b, err
	}
	accounts, unlock, err := o.follower.standstill(ctx)
	if err != nil {
		return b, err
	}
	defer unlock()
	err = boosts.change(ctx, o.changer, func(s *State) (*change[Boost], error) {
		before, err := b.aim(s, accounts, now)
		entry := queue.AuditEntry{
			Who: b.By, From: from, What: "boost", Subject: b.Pool, Old: number(before), New: b.text(), Note: b.Reason,
		}
		at := moment{now, accounts}
		return &change[Boost]{key: b.key(), x: b, at: at, entry: []queue.AuditEntry{entry}}, err
	})
	return b, err
}

// aim fills in the pool of a new boost, its number, and the present usage of the pool. It returns the weight of the
// pool without the boost.
func (b *Boost) aim(s *State, accounts queue.Accounts, now time.Time) (weight float64, err error) {
	core, id, err := target(s, b.Pool, "the root has no weight; name one of its pools")
	if err != nil {
		return 0, err
	}
	b.Pool, b.Began = core.Path(id), now
	b.Base, b.Had = s.received(b.Pool, accounts, now), 0
	b.ID = s.InForce.lastBoost + 1
	return core.View(id).Weight, nil
}

// Unboost ends a boost early, if all functions in the argument "may" allow that.
func (o *Overrides) Unboost(
	ctx context.Context, id int64, by, from string, may ...func(Boost) error,
) (b Boost, err error) {
	err = boosts.change(ctx, o.changer, func(s *State) (*change[Boost], error) {
		var there bool
		if b, there = s.InForce.boosts[fmt.Sprint(id)]; !there {
			return nil, queue.Missingf("no current boost has the number %d; see fairlead boost --list", id)
		}
		if err := permitted(b, may); err != nil {
			return nil, err
		}
		return boosts.ending(b.key(), b, queue.AuditEntry{Who: by, From: from, What: "unboost"}), nil
	})
	return b, err
}

// Boosts lists the current boosts, by number.
func (o *Overrides) Boosts() []Boost {
	return read(o.base, func(s *State) []Boost {
		s.Core.Advance(time.Now())
		out := []Boost{}
		for _, c := range s.Core.Read().Boosts() {
			out = append(out, s.InForce.BoostOf(c))
		}
		return out
	})
}

// text describes the effect of a boost.
func (b *Boost) text() string {
	text := "x" + number(b.Factor)
	if !b.Until.IsZero() {
		text += " until " + instant.Text(b.Until)
	}
	if b.Usage > 0 {
		text += fmt.Sprintf(" for %s slot-hours", number(b.Usage/3600))
	}
	return text
}

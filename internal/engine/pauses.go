package engine

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/poolnames"
	"github.com/fairlead/fairlead/internal/poolpath"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// pauses are keyed by the paths of their pools.
var pauses = override[Pause]{
	name: "pause", prefix: poolnames.PauseSetting,
	in:      func(s *State) *map[string]Pause { return &s.InForce.Pauses },
	enforce: func(s *State, _ string, p Pause, at moment) { s.Core.Pause(p.core(), at.now) },
	lift:    func(s *State, pool string, _ Pause, at moment) { s.Core.Resume(pool, at.now) },
	ended: func(s *State, _ time.Time) (over []string) {
		for _, c := range s.Core.EndedPauses() {
			if p, there := s.InForce.Pauses[c.Pool]; there && p.Until.Equal(c.Until) {
				over = append(over, c.Pool)
			}
		}
		return over
	},
	record: func(p Pause) queue.AuditEntry { return queue.AuditEntry{Who: p.By, Subject: p.Pool, Old: p.text()} },
}

// Pause pauses the pool or the user's pool that p names, and returns the pause. A new pause replaces an earlier one of
// the pool, if all functions in the argument "may" allow that. The argument "from" is the channel of the request, such
// as socket.
func (o *Overrides) Pause(ctx context.Context, p Pause, from string, may ...func(Pause) error) (Pause, error) {
	now := time.Now()
	if err := checkOverride(p.Until, p.Reason, now); err != nil {
		return p, err
	}
	if err := o.follower.meet(ctx, p.Pool); err != nil {
		return p, err
	}
	err := pauses.change(ctx, o.changer, func(s *State) (*change[Pause], error) {
		before, err := p.aim(s, now)
		if old, paused := s.InForce.Pauses[p.Pool]; err == nil && paused {
			err = permitted(old, may)
		}
		entry := queue.AuditEntry{
			Who: p.By, From: from, What: "pause", Subject: p.Pool, Old: before, New: p.text(), Note: p.Reason,
		}
		return &change[Pause]{key: p.Pool, x: p, at: moment{now: time.Now()}, entry: []queue.AuditEntry{entry}}, err
	})
	return p, err
}

// aim fills in the pool and the beginning of a new pause. It returns the text of the pause that it replaces, "" if
// none.
func (p *Pause) aim(s *State, now time.Time) (before string, err error) {
	core, id, err := target(s, p.Pool, "the root cannot be paused; pause its pools, or drain the nodes: fairlead drain NODE")
	if err != nil {
		return "", err
	}
	p.Pool, p.Began = core.Path(id), now
	if old, paused := s.InForce.Pauses[p.Pool]; paused {
		p.Began, before = old.Began, old.text()
	}
	return before, nil
}

// pauseCalled returns the current pause of a pool, or of a user's pool.
func pauseCalled(s *State, pool string) (Pause, error) {
	p, paused := s.InForce.Pauses[pool]
	for _, path := range share.Named(pool) {
		if !paused { // the pause of a pool that does not exist yet is known only by its path
			p, paused = s.InForce.Pauses[path]
		}
	}
	if id, err := poolpath.Find(s.Core, pool); !paused && err == nil {
		p, paused = s.InForce.Pauses[s.Core.Path(id)]
		if above, of := s.Core.Read().PauseOf(id); of && !paused {
			return p, queue.Missingf("%s itself is not paused, but %s above it is: fairlead resume %s",
				share.Original(s.Core.Path(id)), share.Original(above.Pool), above.Pool)
		}
	}
	if !paused {
		return p, queue.Missingf("no pool %.256q is paused; see fairlead pause --list", pool)
	}
	return p, nil
}

// Resume ends the pause of a pool, and returns that pause, if all functions in the argument "may" allow that.
func (o *Overrides) Resume(
	ctx context.Context, pool, by, from string, may ...func(Pause) error,
) (p Pause, err error) {
	err = pauses.change(ctx, o.changer, func(s *State) (_ *change[Pause], err error) {
		if p, err = pauseCalled(s, pool); err != nil {
			return nil, err
		}
		if err := permitted(p, may); err != nil {
			return nil, err
		}
		return pauses.ending(p.Pool, p, queue.AuditEntry{Who: by, From: from, What: "resume"}), nil
	})
	return p, err
}

// Pauses lists the current pauses, by pool.
func (o *Overrides) Pauses() []Pause {
	return read(o.base, func(s *State) []Pause {
		s.Core.Advance(time.Now())
		out := []Pause{}
		for _, p := range s.Core.Read().Pauses() {
			out = append(out, s.InForce.Pauses[p.Pool])
		}
		return out
	})
}

func (p *Pause) core() sched.Pause {
	return sched.Pause{Pool: p.Pool, Since: p.Began, Until: p.Until, Note: note(p.By, p.Reason)}
}

// text says how long a pause lasts.
func (p *Pause) text() string {
	if p.Until.IsZero() {
		return "until it is resumed"
	}
	return "until " + instant.Text(p.Until)
}

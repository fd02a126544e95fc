package fairlead

import (
	"context"
	"reflect"
	"time"

	"github.com/fairlead/fairlead/sched"
)

// Configure puts shares in force. On an error the old ones stay.
func (l *Loop) Configure(ctx context.Context, s Shares) error {
	var accounts Accounts
	if s.starters() {
		known, unlock, err := l.standstill(ctx)
		if err != nil {
			return err
		}
		defer unlock()
		accounts = known
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ranked, now := l.core.Ranks(), time.Now()
	if err := l.core.Configure(s.Sched, now); err != nil {
		return err
	}
	// What counts of a job for its priority was told to the core when the job was.
	if l.core.Ranks() && (!ranked || !reflect.DeepEqual(l.shares.SiteRules, s.SiteRules) || !reflect.DeepEqual(l.shares.Sched.Multifactor, s.Sched.Multifactor)) {
		l.untold = true
	}
	half := l.shares.Sched.HalfLife
	l.shares = s
	l.know(accounts, now)
	l.client.shares.Store(&s)
	l.version++
	l.poke()
	if acc, ok := l.store.(Accountant); ok && half != s.Sched.HalfLife {
		if err := acc.SetHalfLife(ctx, s.Sched.HalfLife); err != nil {
			return err
		}
	}
	return l.keepDays(ctx)
}

// retell reports whether all jobs have to be told to the core again.
func (l *Loop) retell() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	again := l.untold
	l.untold = false
	return again
}

// classOf numbers what of a job counts for its priority, where jobs have one.
func (l *Loop) classOf(h Header) sched.Class {
	if !l.core.Ranks() {
		return 0
	}
	return l.core.Class(l.shares.Traits(h))
}

package engine

import (
	"context"
	"reflect"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/queue"
)

// Configure puts shares in force. On an error the old ones stay. Shares that are counted in another
// unit are refused: they take effect with a new loop.
func (l *Loop) Configure(ctx context.Context, s allocation.Config) error {
	if err := l.CheckUnit(s); err != nil {
		return err
	}
	var accounts queue.Accounts
	if starters(&s) {
		known, unlock, err := l.follower.standstill(ctx)
		if err != nil {
			return err
		}
		defer unlock()
		accounts = known
	}
	return update1(l.base, func(st *State) error {
		ranked, now := st.Core.Read().Ranks(), time.Now()
		if err := st.Core.Configure(s.Sched, now); err != nil {
			return err
		}
		// What counts of a job for its priority was told to the core when the job was.
		if st.Core.Read().Ranks() && (!ranked || !reflect.DeepEqual(st.Shares.SiteRules, s.SiteRules) || !reflect.DeepEqual(st.Shares.Sched.Multifactor, s.Sched.Multifactor)) {
			st.dirty = true
		}
		half := st.Shares.Sched.HalfLife
		st.Shares = s
		st.know(accounts, now)
		l.client.Shares.Store(&s)
		st.touch()
		st.wakeUp()
		if acc, ok := l.Store.(queue.Accountant); ok && half != s.Sched.HalfLife {
			if err := acc.SetHalfLife(ctx, s.Sched.HalfLife); err != nil {
				return err
			}
		}
		seed, err := l.builder.keepDays(ctx, st)
		if seed {
			st.dirty = true // the days have to be read at a moment at which all running tasks are known
		}
		return err
	})
}

// CheckUnit refuses another unit than the one in force: all that runs, waits and was used is counted
// in that one, and what the shares say of the new one, as limits and charges, would hold for the
// old one.
func (l *Loop) CheckUnit(s allocation.Config) error {
	return Read(l, func(st *State) error {
		if is, next := st.Core.Cluster().Unit(), s.Unit(); next != is {
			return queue.Invalidf("unit", "%s -> %s takes effect when the server starts the next time; until then nothing else of the file does either: restart the server, or put the unit back", is, next)
		}
		return nil
	})
}

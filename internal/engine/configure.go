package engine

import (
	"context"
	"reflect"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/queue"
)

// Configure applies shares. On an error the old ones stay. It refuses shares in another unit, which need a new engine.
func (l *Loop) Configure(ctx context.Context, s allocation.Config) error {
	s = s.Complete()
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
		// The core received the priority factors of each job when the job was added.
		if st.Core.Read().Ranks() && (!ranked || !reflect.DeepEqual(st.Shares.SiteRules, s.SiteRules) || !reflect.DeepEqual(st.Shares.Sched.Multifactor, s.Sched.Multifactor)) {
			st.dirty = true
		}
		// Limits of running tasks need the user in each request.
		st.dirty = st.dirty || (st.Shares.Users.Running > 0) != (s.Users.Running > 0)
		half := st.Shares.Sched.HalfLife
		st.Shares = s
		st.know(accounts, now)
		l.client.Shares.Store(&s)
		st.touch()
		st.wakeUp()
		// The shares are current now. If the store did not get the half-life, the rebuild sends it again as soon as the
		// store answers. The rebuild also reads the days, at a moment at which all running tasks are known.
		seed, err := l.sendShares(ctx, st, half)
		st.dirty = st.dirty || seed || err != nil
		return nil
	})
}

// sendShares sets the half-life in the store if it changed, and the number of days for which usage is kept. It reports
// whether there are pools without usage of those days.
func (l *Loop) sendShares(ctx context.Context, s *State, before time.Duration) (seed bool, err error) {
	if acc, ok := l.Store.(queue.Accountant); ok && before != s.Shares.Sched.HalfLife {
		if err := acc.SetHalfLife(ctx, s.Shares.Sched.HalfLife); err != nil {
			return false, err
		}
	}
	return l.builder.keepDays(ctx, s)
}

// CheckUnit refuses a unit other than the current one. All running and waiting tasks and all usage are counted in the
// current unit, so limits and charges in the new unit would apply to amounts in the old unit.
func (l *Loop) CheckUnit(s allocation.Config) error {
	return Read(l, func(st *State) error {
		if is, next := st.Core.Cluster().Unit(), s.Unit(); next != is {
			return queue.Invalidf("unit", "%s -> %s takes effect at the next start of the server, and so does the rest of the file: restart the server, or restore the unit in the file", is, next)
		}
		return nil
	})
}

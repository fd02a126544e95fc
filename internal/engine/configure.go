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
		// The shares are in force. What the store did not hear of them it is told when the core is made anew, as soon
		// as it answers; then days are read, too, which have to be as of a moment at which all running tasks are known.
		seed, err := l.sendShares(ctx, st, half)
		st.dirty = st.dirty || seed || err != nil
		return nil
	})
}

// sendShares tells the store how usage decays, if it decayed otherwise before, and for how many days to keep it. It
// reports whether there are pools that know nothing of those days yet.
func (l *Loop) sendShares(ctx context.Context, s *State, before time.Duration) (seed bool, err error) {
	if acc, ok := l.Store.(queue.Accountant); ok && before != s.Shares.Sched.HalfLife {
		if err := acc.SetHalfLife(ctx, s.Shares.Sched.HalfLife); err != nil {
			return false, err
		}
	}
	return l.builder.keepDays(ctx, s)
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

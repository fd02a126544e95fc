package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// snapshot holds all data of the store from which a core is built.
type snapshot struct {
	changes  changeList
	cursor   int64
	accounts queue.Accounts
	days     []queue.DayUsage
	stops    []queue.Stopped
	rates    []sched.RateState
	levels   []sched.Known // as the store keeps them
	of       readFor
}

// empty reports whether the store was never used. Some stores count changes from when they were opened.
func (s *snapshot) empty() bool {
	return s.cursor == 0 && len(s.changes) == 0 && len(s.accounts.Pools) == 0
}

// readFor is the part of a configuration that decides which data is read from the store for a core.
type readFor struct{ halfLife, grace time.Duration }

// readForShares returns the part of these shares that decides which data is read.
func readForShares(s *allocation.Config) readFor {
	return readFor{halfLife: s.Sched.HalfLife, grace: s.Sched.Reclaim.Grace}
}

// builder builds a core from the store.
type builder struct {
	*base
	applier *applier
	users   *users
	kinds   []anOverride
	found   bool // the store held data when the first core was built
}

// rebuild builds the core's state from the store: at the beginning, and when the engine has missed changes. Other calls
// continue while the store is read; overrides that they set meanwhile apply to the new core.
func (b *builder) rebuild(ctx context.Context) error {
	// No attempt may end between the snapshot of the store and the core built from it: it would count as running
	// forever.
	b.ending.Lock()
	defer b.ending.Unlock()
	for {
		var of readFor
		b.Update(func(st *State) {
			st.dirty = true // until done: if the store fails, the next sync tries again
			of = readForShares(&st.Shares)
		})
		s, err := b.takeSnapshot(ctx, of)
		if err != nil {
			return err
		}
		b.found = b.found || !s.empty()
		if made, err := b.makeCore(ctx, s); made || err != nil {
			return err
		}
	}
}

// takeSnapshot reads the data for a core.
func (b *builder) takeSnapshot(ctx context.Context, of readFor) (s *snapshot, err error) {
	s = &snapshot{of: of}
	if err := b.readState(ctx, s); err != nil {
		return nil, err
	}
	if s.stops, err = b.Store.Stops(ctx, queue.StopQuery{Since: time.Now().Add(-of.grace)}); err != nil {
		return nil, fmt.Errorf("read the stops: %w", err)
	}
	if s.levels, err = b.readLevels(ctx); err != nil {
		return nil, err
	}
	if keeper, ok := b.Store.(queue.RateKeeper); ok {
		if s.rates, err = keeper.Rates(ctx); err != nil {
			return nil, fmt.Errorf("read the rates: %w", err)
		}
	}
	return s, nil
}

// readState reads the jobs and the usage of pools at one moment. Otherwise an attempt that ended elsewhere between two
// reads would be charged twice, as running and as ended.
func (b *builder) readState(ctx context.Context, s *snapshot) (err error) {
	tell := func(c queue.Change) error { s.changes.add(c); return nil }
	acc, ok := b.Store.(queue.Accountant)
	if !ok {
		if s.cursor, err = b.Store.Snapshot(ctx, tell); err != nil {
			return fmt.Errorf("read the state: %w", err)
		}
		return nil
	}
	if err := acc.SetHalfLife(ctx, s.of.halfLife); err != nil {
		return fmt.Errorf("set the half-life: %w", err)
	}
	found, err := acc.Balance(ctx, tell)
	if err != nil {
		return fmt.Errorf("read the state: %w", err)
	}
	s.cursor, s.accounts, s.days = found.Cursor, found.Accounts, found.Days
	return nil
}

// makeCore builds a core from a snapshot and replaces the old one. It reports false, and does nothing, if the current
// configuration needs another snapshot.
func (b *builder) makeCore(ctx context.Context, s *snapshot) (made bool, err error) {
	return update2(b.base, func(st *State) (made bool, err error) {
		if readForShares(&st.Shares) != s.of {
			return false, nil
		}
		now := time.Now()
		core, err := sched.New(st.Shares.Sched, now, b.Options.Seed)
		if err != nil {
			return false, err
		}
		for _, r := range s.rates {
			core.SetRate(r, core.Read().Instant())
		}
		levels := s.levels
		if st.Core != nil {
			st.Core.Advance(now)
			levels = st.Core.Memory().Levels()
		}
		st.replace(core)
		b.applier.cursor = s.cursor
		protect(st.Core, s.stops)
		core.SetWindows(st.InForce.windowsAt(now), now)
		b.users.load(s.accounts.Pools)
		for _, path := range byAge(s.accounts.Pools) {
			a := s.accounts.Pools[path]
			core.Memory().Restore(core.Pool(path), a.Used, a.Mean, a.Seen)
		}
		st.placeAll(now)
		b.addAll(st, s)
		at := moment{time.Now(), s.accounts}
		st.know(at.accounts, at.now)
		core.Memory().Know(levels, at.now)
		for _, k := range b.kinds {
			k.resend(st, at)
		}
		core.Memory().Renew()
		st.touch()
		b.rereadSettings(st)
		seed, err := b.keepDays(ctx, st)
		if err != nil {
			return false, err
		}
		if seed {
			seedDays(st.Core, s.days)
		}
		st.dirty = false
		return true, nil
	})
}

// replace replaces the core by a new one.
func (s *State) replace(core *sched.Scheduler) {
	s.Fairness.leave(s.Core)
	s.Core, s.Lengths = core, Lengths{}
}

// addAll adds all jobs to a new core, and removes them from the snapshot.
func (b *builder) addAll(st *State, s *snapshot) {
	st.Runs, st.Decided = runs{}, decisions{}
	for i, chunk := range s.changes {
		b.applier.applyAll(st, chunk)
		s.changes[i] = nil
	}
}

// keepDays makes the store keep as many days of usage as the policies count. It reports whether there are pools without
// usage of those days. Nobody else may use the core meanwhile.
func (b *builder) keepDays(ctx context.Context, s *State) (seed bool, err error) {
	keeper, ok := b.Store.(queue.DayKeeper)
	n, seed := s.Core.Memory().DaysKept()
	if !ok {
		return false, nil
	}
	if err := keeper.KeepDays(ctx, n); err != nil {
		return false, fmt.Errorf("keep the days: %w", err)
	}
	return seed, nil
}

// rereadSettings schedules another read of all settings, because other servers may have changed them before this one
// follows the changes.
func (b *builder) rereadSettings(s *State) {
	if !s.Others.shared {
		return
	}
	for _, k := range b.kinds {
		s.changed[k.setting()] = true
	}
	s.changed[mendedSetting], s.changed[ConfigSetting] = true, true
}

// seedDays gives the core the usage of pools on the last days, without running tasks. The days must be as of a moment
// at which the core knew all running tasks.
func seedDays(core *sched.Scheduler, days []queue.DayUsage) {
	core.Advance(time.Now())
	core.Memory().SeedDays(len(days), func(i int) (sched.PoolID, float64, time.Time) {
		return core.Pool(days[i].Pool), days[i].Used, days[i].Day
	})
}

// protect marks jobs in the core as safe from further stops because of recent stops.
func protect(core *sched.Scheduler, stops []queue.Stopped) {
	for i := range stops {
		core.Memory().Protect(stops[i].Ref.JobID, stops[i].Reason.Safe)
	}
}

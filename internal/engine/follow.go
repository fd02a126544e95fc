package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// follower keeps the state up to date with the store: it follows the change feed, and rebuilds the core if the feed has
// gaps.
type follower struct {
	*base
	peers   *peers
	applier *applier
	builder *builder
}

// accountsNow returns the accounts, and brings the core to the same moment, because other servers may end attempts
// meanwhile. The caller holds syncing and ending. It fails with [queue.ErrBehind] if the core must be rebuilt first.
func (f *follower) accountsNow(ctx context.Context) (queue.Accounts, error) {
	acc, ok := f.Store.(queue.Accountant)
	if !ok {
		return queue.Accounts{}, nil
	}
	b, err := acc.Balance(ctx, nil)
	if err != nil {
		return queue.Accounts{}, fmt.Errorf("read the usage: %w", err)
	}
	if b.Cursor == f.applier.cursor {
		return b.Accounts, nil
	}
	return b.Accounts, f.followTo(ctx, b.Cursor)
}

// isDirty reports whether the core must be rebuilt.
func (f *follower) isDirty() bool {
	return read(f.base, func(s *State) bool {
		return s.dirty
	})
}

// sync applies the new changes of the store.
func (f *follower) sync(ctx context.Context) error {
	if err := f.syncing.LockBefore(ctx); err != nil {
		return fmt.Errorf("wait for the store: %w", err)
	}
	defer f.syncing.Unlock()
	return f.syncHeld(ctx)
}

// syncHeld is sync for a caller that holds syncing.
func (f *follower) syncHeld(ctx context.Context) error {
	if f.isDirty() {
		return f.builder.rebuild(ctx)
	}
	if err := f.readChanges(ctx, 0); err != nil {
		return err
	}
	if err := f.settle(ctx); err != nil {
		return err
	}
	return f.resettle(ctx)
}

// readChanges applies the changes of the store up to a cursor, or all changes if the cursor is 0.
func (f *follower) readChanges(ctx context.Context, upTo int64) error {
	err := f.followTo(ctx, upTo)
	if errors.Is(err, queue.ErrBehind) {
		return f.builder.rebuild(ctx)
	}
	return err
}

// followTo is readChanges while the store still has all changes since the last one read; otherwise it fails with
// [queue.ErrBehind].
func (f *follower) followTo(ctx context.Context, upTo int64) error {
	for {
		n := 1000
		if upTo > 0 {
			if n = int(min(int64(n), upTo-f.applier.cursor)); n <= 0 {
				return nil
			}
		}
		changes, next, err := f.Store.Changes(ctx, f.applier.cursor, n)
		if err != nil {
			return fmt.Errorf("read changes: %w", err)
		}
		if len(changes) == 0 {
			return nil
		}
		f.Update(func(s *State) {
			f.applier.applyAll(s, changes)
			f.applier.cursor = next
			s.touch()
		})
		if len(changes) < n {
			return nil // the feed has all later changes
		}
	}
}

// settle asks the store about jobs that are still in doubt after all changes were read.
func (f *follower) settle(ctx context.Context) error {
	ids := read(f.base, func(s *State) []int64 { return slices.Sorted(maps.Keys(s.Others.doubts)) })
	if len(ids) == 0 {
		return nil
	}
	waits, upTo, err := f.peers.store.Recheck(ctx, ids)
	if err != nil {
		return fmt.Errorf("recheck waiting jobs: %w", err)
	}
	if err := f.readChanges(ctx, upTo); err != nil {
		return err
	}
	now := time.Now()
	return update1(f.base, func(s *State) error {
		known := map[int64][]sched.Job{}
		for _, c := range waits {
			known[c.Job.ID] = append(known[c.Job.ID], s.waiting(c)...)
		}
		for _, id := range slices.Sorted(maps.Keys(s.Others.doubts)) {
			s.Core.Exchange(s.Others.doubts[id], known[id], now)
		}
		clear(s.Others.doubts)
		s.touch()
		return nil
	})
}

// resettle loads the settings that other servers have changed.
func (f *follower) resettle(ctx context.Context) error {
	keeper, ok := f.Store.(queue.Settings)
	if !ok {
		return nil
	}
	accounts, unlock, err := f.accountsForKinds(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	keys := read(f.base, func(s *State) []string { return slices.Sorted(maps.Keys(s.changed)) })
	if len(keys) == 0 {
		return nil
	}
	all, err := keeper.Settings(ctx)
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	about := func(prefix string) bool { return concern(keys, prefix) }
	return update1(f.base, func(s *State) error {
		now := time.Now()
		for _, k := range f.builder.kinds {
			if !about(k.setting()) {
				continue
			}
			if err := k.take(s, all, moment{now, accounts}); err != nil {
				return err
			}
			s.wakeUp()
		}
		if about(mendedSetting) && s.Mended.load(all) {
			s.dirty = true
			s.wakeUp()
		}
		if about(UsageReset) {
			s.dirty = true
			s.wakeUp()
		}
		if f.Options.Changed != nil {
			f.Options.Changed(keys)
		}
		for _, k := range keys {
			delete(s.changed, k)
		}
		s.touch()
		return nil
	})
}

// accountsForKinds returns the accounts if other servers have changed overrides that depend on them. No attempt ends
// between the moment of the accounts and the call of unlock. The caller holds syncing.
func (f *follower) accountsForKinds(ctx context.Context) (accounts queue.Accounts, unlock func(), err error) {
	for {
		needed := read(f.base, func(s *State) bool { return f.needsAccounts(s) })
		if !needed {
			return accounts, func() {}, nil
		}
		f.ending.Lock()
		accounts, err := f.accountsNow(ctx)
		if err == nil {
			return accounts, f.ending.Unlock, nil
		}
		f.ending.Unlock()
		if !errors.Is(err, queue.ErrBehind) {
			return accounts, nil, err
		}
		if err := f.builder.rebuild(ctx); err != nil {
			return accounts, nil, err
		}
	}
}

// needsAccounts reports whether other servers have changed overrides that depend on the accounts.
func (f *follower) needsAccounts(s *State) bool {
	keys := slices.Collect(maps.Keys(s.changed))
	return slices.ContainsFunc(f.builder.kinds, func(k anOverride) bool {
		return k.needsAccounts() && concern(keys, k.setting())
	})
}

// concern reports whether any key has the prefix.
func concern(keys []string, prefix string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, prefix) })
}

// standstill returns the accounts at a moment at which no attempt ends: ended attempts are in the accounts, and all
// others are among the runs. The caller calls unlock to let attempts end again.
func (f *follower) standstill(ctx context.Context) (accounts queue.Accounts, unlock func(), err error) {
	f.syncing.Lock()
	for {
		if err := f.syncHeld(ctx); err != nil {
			f.syncing.Unlock()
			return accounts, nil, err
		}
		f.ending.Lock()
		accounts, err = f.accountsNow(ctx)
		switch {
		case err == nil:
			return accounts, func() { f.ending.Unlock(); f.syncing.Unlock() }, nil
		case !errors.Is(err, queue.ErrBehind):
			f.ending.Unlock()
			f.syncing.Unlock()
			return accounts, nil, err
		}
		f.ending.Unlock() // rebuilding the core needs the lock
	}
}

package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Books changes the usage of pools, in the store and in the core.
type Books struct {
	*base
	follower *follower
}

// maxUsed is the largest usage that [Books.SetUsed] accepts, in slot-seconds.
const maxUsed = 1e15

// SetUsed sets the usage of a leaf pool as of now, in slot-seconds. If used is 0 it clears the usage of a pool and of
// all pools below it. Running tasks are not affected. The argument "by" is the user who asked for the change, and
// "from" the channel of the request. It returns the former usage of each leaf.
func (b *Books) SetUsed(
	ctx context.Context, pool string, used float64, by, from string,
) (before map[string]float64, err error) {
	charger, ok := b.Store.(queue.Charger)
	if !ok {
		return nil, queue.Invalidf("pool", "the store cannot set the usage of pools")
	}
	if !(used >= 0 && used <= maxUsed) {
		return nil, queue.Invalidf("used", "must be from 0 to %g slot-seconds, got %v", maxUsed, used)
	}
	if err := b.follower.meet(ctx, pool); err != nil {
		return nil, err
	}
	accounts, unlock, err := b.follower.standstill(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	leaves, err := read2(b.base, func(s *State) ([]string, error) { return leavesOf(s.Core, &s.Shares, pool) })
	if err == nil && used > 0 && len(leaves) != 1 {
		err = queue.Invalidf("pool", "%s has %d pools below it; name one of them, or set 0 to clear the usage of all of them", pool, len(leaves))
	}
	if err != nil {
		return nil, err
	}
	before, set := map[string]float64{}, map[string]float64{}
	var entries []queue.AuditEntry
	for _, path := range leaves {
		before[path], set[path] = accounts.Pools[path].Used, used
		if len(leaves) > 1 && before[path] == used {
			continue // do not record every empty leaf
		}
		entries = append(entries, queue.AuditEntry{Who: by, From: from, What: "usage", Subject: path,
			Old: number(before[path]) + " slot-seconds", New: number(used) + " slot-seconds"})
	}
	if err := charger.SetUsed(ctx, set); err != nil {
		return nil, err
	}
	if a, ok := b.Store.(queue.Auditor); ok {
		if err := a.Audit(ctx, entries, nil); err != nil {
			return nil, err
		}
	}
	return before, b.recharge(ctx, set)
}

// recharge sets the usage of pools in the core. The caller ensures that no attempt ends meanwhile.
func (b *Books) recharge(ctx context.Context, set map[string]float64) error {
	return update1(b.base, func(s *State) error {
		now := time.Now()
		for path, used := range set {
			s.Core.Memory().SetUsed(s.Core.Pool(path), used, now)
		}
		if s.Others.shared {
			s.dirty = true // earlier ends at other servers may be reported only now
		}
		s.touch()
		s.wakeUp()
		keeper, ok := b.Store.(queue.DayKeeper)
		if n, _ := s.Core.Memory().DaysKept(); !ok || n == 0 {
			return nil
		}
		days, err := keeper.Days(ctx)
		if err != nil {
			return fmt.Errorf("read the days: %w", err)
		}
		seedDays(s.Core, days)
		return nil
	})
}

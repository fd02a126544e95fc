package fairlead

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/sched"
)

// keepDays lets the store keep as many days as the policies count, and tells the core
// what it kept, if there are pools that know nothing of it yet. Nobody else may use the
// core meanwhile.
func (l *Loop) keepDays(ctx context.Context) error {
	keeper, ok := l.store.(DayKeeper)
	n, seed := l.core.DaysKept()
	if !ok {
		return nil
	}
	if err := keeper.KeepDays(ctx, n); err != nil {
		return fmt.Errorf("keep the days: %w", err)
	}
	if !seed {
		return nil
	}
	return l.seedDays(ctx, keeper)
}

// seedDays tells the core what pools received on the last days, besides what runs.
func (l *Loop) seedDays(ctx context.Context, keeper DayKeeper) error {
	days, err := keeper.Days(ctx)
	if err != nil {
		return fmt.Errorf("read the days: %w", err)
	}
	l.core.Advance(time.Now())
	l.core.ClearDays()
	for _, d := range days {
		l.core.SeedDay(l.core.Pool(d.Pool), d.Used, d.Day)
	}
	return nil
}

// MaxUsed bounds what [Loop.SetUsed] takes, in slot-seconds.
const MaxUsed = 1e15

// SetUsed sets what a leaf has received, as of now, in slot-seconds, or forgets what a
// pool and all below it received if used is 0. What runs is not touched. by is who asked
// for it, and from by which way. It returns what each leaf had.
func (l *Loop) SetUsed(ctx context.Context, pool string, used float64, by, from string) (before map[string]float64, err error) {
	charger, ok := l.store.(Charger)
	if !ok {
		return nil, invalid("pool", "the store cannot set what pools have received")
	}
	if !(used >= 0 && used <= MaxUsed) {
		return nil, invalid("used", "must be from 0 to %g slot-seconds, got %v", MaxUsed, used)
	}
	accounts, unlock, err := l.standstill(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	l.mu.Lock()
	leaves, err := l.leavesOf(pool)
	l.mu.Unlock()
	if err == nil && used > 0 && len(leaves) != 1 {
		err = invalid("pool", "%s has %d pools below it; name one of them, or set 0 to forget what all of them received", pool, len(leaves))
	}
	if err != nil {
		return nil, err
	}
	before, set := map[string]float64{}, map[string]float64{}
	var entries []AuditEntry
	for _, path := range leaves {
		before[path], set[path] = accounts.Pools[path].Used, used
		if len(leaves) > 1 && before[path] == used {
			continue // of many, those that had nothing are not worth a line of the record
		}
		entries = append(entries, AuditEntry{Who: by, From: from, What: "usage", Subject: path,
			Old: number(before[path]) + " slot-seconds", New: number(used) + " slot-seconds"})
	}
	if err := charger.SetUsed(ctx, set); err != nil {
		return nil, err
	}
	if a, ok := l.store.(Auditor); ok {
		if err := a.Audit(ctx, entries, nil); err != nil {
			return nil, err
		}
	}
	return before, l.recharge(ctx, set)
}

// recharge tells the core what was set.
func (l *Loop) recharge(ctx context.Context, set map[string]float64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for path, used := range set {
		l.core.SetUsed(l.core.Pool(path), used, now)
	}
	l.version++
	l.poke()
	if keeper, ok := l.store.(DayKeeper); ok {
		if n, _ := l.core.DaysKept(); n > 0 {
			return l.seedDays(ctx, keeper)
		}
	}
	return nil
}

// leavesOf are the paths of a pool, or of those below it that hold jobs.
func (l *Loop) leavesOf(name string) ([]string, error) {
	id, err := l.findPool(name)
	if err != nil {
		return nil, err
	}
	var paths []string
	var walk func(id sched.PoolID)
	walk = func(id sched.PoolID) {
		if !l.core.View(id).Divides() {
			paths = append(paths, l.core.Path(id))
			return
		}
		for _, kid := range l.core.Children(id) {
			walk(kid)
		}
	}
	walk(id)
	return paths, nil
}

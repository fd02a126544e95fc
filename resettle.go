package fairlead

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// ConfigSetting begins the keys under which the configuration of a server is kept.
const ConfigSetting = "config/"

// UsageReset is the key under which a store says in the feed that what pools have received
// was set.
const UsageReset = "usage"

// rereadSettings has all settings read once more, where others may have changed them before
// the changes are followed.
func (l *Loop) rereadSettings() {
	if l.peers.store == nil {
		return
	}
	for _, k := range []string{drainSetting, boostSetting, pauseSetting, reservationSetting, ConfigSetting} {
		l.changed[k] = true
	}
}

// resettle takes over what other servers have changed of the settings.
func (l *Loop) resettle(ctx context.Context) error {
	l.mu.Lock()
	keys := slices.Sorted(maps.Keys(l.changed))
	l.mu.Unlock()
	if len(keys) == 0 {
		return nil
	}
	keeper, ok := l.store.(Settings)
	if !ok {
		return nil
	}
	all, err := keeper.Settings(ctx)
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	about := func(prefix string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, prefix) })
	}
	var accounts Accounts
	if acc, ok := l.store.(Accountant); ok && about(boostSetting) {
		if accounts, err = acc.Usage(ctx); err != nil {
			return fmt.Errorf("read the usage: %w", err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if about(drainSetting) {
		l.redrain(all, now)
	}
	if about(boostSetting) {
		if err := l.takeBoosts(all, accounts, now); err != nil {
			return err
		}
	}
	if about(pauseSetting) {
		if err := l.takePauses(all, now); err != nil {
			return err
		}
	}
	if about(reservationSetting) {
		clear(l.reservations.all)
		if err := l.loadReservations(all); err != nil {
			return err
		}
		l.enforceReservations(now)
	}
	if about(UsageReset) {
		l.untold = true
		l.poke()
	}
	if l.options.Changed != nil {
		l.options.Changed(keys)
	}
	for _, k := range keys {
		delete(l.changed, k)
	}
	l.version++
	return nil
}

// redrain takes over which nodes are drained.
func (l *Loop) redrain(settings map[string]string, now time.Time) {
	before := l.drained
	l.drained = map[string]string{}
	l.loadDrained(settings)
	for name, m := range l.members {
		if id, ok := l.core.Cluster().Lookup(name); ok && before[name] != l.drained[name] && l.core.Cluster().Nodes()[id].State != cluster.Down {
			l.core.SetNode(id, l.stateOf(name, m), now)
		}
	}
}

// takeBoosts takes over the boosts that others made and ended.
func (l *Loop) takeBoosts(settings map[string]string, accounts Accounts, now time.Time) error {
	before := l.boosts
	l.boosts = map[int64]Boost{}
	if err := l.loadBoosts(settings); err != nil {
		l.boosts = before
		return err
	}
	for id := range before {
		if _, still := l.boosts[id]; !still {
			l.core.Unboost(id, now)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(l.boosts)) {
		if _, had := before[id]; !had {
			b := l.boosts[id]
			b.Had = max(0, l.received(b.Pool, accounts, now)-b.Base)
			l.core.Boost(b.core(), now)
		}
	}
	return nil
}

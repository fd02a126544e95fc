package fairlead

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// Boost is more weight, or less, for a pool until an instant or until it has received
// some service.
type Boost struct {
	ID     int64     `json:"id"`
	Pool   string    `json:"pool"`
	Factor float64   `json:"factor"`
	Began  time.Time `json:"began"`
	// Until is when it ends at the latest; zero if only usage ends it.
	Until time.Time `json:"until,omitzero"`
	// Usage is after how many slot-seconds it ends, received since it began; 0 if only
	// time ends it.
	Usage float64 `json:"usage,omitempty"`
	// Had is how many of these the pool has received so far.
	Had     float64 `json:"had"`
	By      string  `json:"by,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	Starter bool    `json:"starter,omitempty"` // of a new pool, by the configuration

	// Base is what the pool had received in all when the boost began: the difference to
	// what it has received by now is the same before and after a restart.
	Base float64 `json:"base,omitempty"`
}

// Settings under which boosts are kept.
const (
	boostSetting = "boost/"
	lastBoost    = "boost-last"
)

// Boost puts a boost into force: b names the pool, or a user for the user's pool, the
// factor, how it ends, by whom and why. It returns the boost with its number. from says
// by which way it was asked for.
func (l *Loop) Boost(ctx context.Context, b Boost, from string) (Boost, error) {
	now := time.Now()
	switch err := sched.CheckFactor(b.Factor); {
	case err != nil:
		return b, invalid("factor", "%v", err)
	case b.Until.IsZero() && b.Usage <= 0:
		return b, invalid("until", "a boost has to end: give it a time, a usage, or both")
	case !b.Until.IsZero() && !b.Until.After(now):
		return b, invalid("until", "%s is over already", b.Until.Format(time.RFC3339))
	case b.Usage < 0 || b.Usage > maxAmount:
		return b, invalid("usage", "must be from 0 to %d slot-seconds, got %v", int64(maxAmount), b.Usage)
	}
	if err := checkText("reason", b.Reason, MaxName); err != nil {
		return b, err
	}
	accounts, unlock, err := l.standstill(ctx)
	if err != nil {
		return b, err
	}
	defer unlock()
	l.mu.Lock()
	id, err := l.findPool(b.Pool)
	if err == nil && id == sched.Root {
		err = invalid("pool", "the root has no weight; name one of its pools")
	}
	if err != nil {
		l.mu.Unlock()
		return b, err
	}
	b.Pool, b.Began = l.core.Path(id), now
	b.Base, b.Had = l.received(b.Pool, accounts, now), 0
	b.ID = l.lastBoost + 1
	before := l.core.View(id).Weight
	l.mu.Unlock()
	entry := AuditEntry{Who: b.By, From: from, What: "boost", Subject: b.Pool, Old: number(before), New: b.text(), Note: b.Reason}
	if err := l.keepBoost(ctx, &b, entry); err != nil {
		return b, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastBoost = b.ID
	l.boosts[b.ID] = b
	l.core.Boost(b.core(), now)
	l.version++
	l.poke()
	return b, nil
}

// Unboost ends a boost before its time.
func (l *Loop) Unboost(ctx context.Context, id int64, by, from string) (Boost, error) {
	l.mu.Lock()
	b, there := l.boosts[id]
	l.mu.Unlock()
	if !there {
		return b, missing("no boost %d is in force; see fairlead boost --list", id)
	}
	if err := l.dropBoost(ctx, b, AuditEntry{Who: by, From: from, What: "unboost", Subject: b.Pool, Old: b.text()}); err != nil {
		return b, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.boosts, id)
	l.core.Unboost(id, time.Now())
	l.version++
	l.poke()
	return b, nil
}

// Boosts lists the boosts in force, by number.
func (l *Loop) Boosts() []Boost {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.core.Advance(time.Now())
	out := []Boost{}
	for _, c := range l.core.Boosts() {
		out = append(out, l.boostOf(c))
	}
	return out
}

// boostOf is a boost of the core with what else is known of it.
func (l *Loop) boostOf(c sched.Boost) Boost {
	b, there := l.boosts[c.ID]
	if !there {
		b = Boost{Pool: c.Pool, Factor: c.Factor, Until: c.Until, Usage: c.Usage, Starter: c.Starter}
	}
	b.Had, b.Base = c.Had, 0
	return b
}

// boostsOf are the boosts of a pool, starters included.
func (l *Loop) boostsOf(id sched.PoolID) []Boost {
	var out []Boost
	for _, b := range l.core.BoostsOf(id) {
		out = append(out, l.boostOf(b))
	}
	return out
}

func (b *Boost) core() sched.Boost {
	return sched.Boost{ID: b.ID, Pool: b.Pool, Factor: b.Factor, Until: b.Until, Usage: b.Usage, Had: b.Had, Note: note(b.By, b.Reason)}
}

// text says what a boost does.
func (b *Boost) text() string {
	text := "x" + number(b.Factor)
	if !b.Until.IsZero() {
		text += " until " + b.Until.UTC().Format(time.RFC3339)
	}
	if b.Usage > 0 {
		text += fmt.Sprintf(" for %s slot-hours", number(b.Usage/3600))
	}
	return text
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// standstill returns the accounts at a moment at which no attempt ends: what has ended is
// in the accounts, and what has not is among the runs.
func (l *Loop) standstill(ctx context.Context) (accounts Accounts, unlock func(), err error) {
	l.syncing.Lock()
	if err := l.syncHeld(ctx); err != nil {
		l.syncing.Unlock()
		return accounts, nil, err
	}
	l.ending.Lock()
	unlock = func() { l.ending.Unlock(); l.syncing.Unlock() }
	if acc, ok := l.store.(Accountant); ok {
		if accounts, err = acc.Usage(ctx); err != nil {
			unlock()
			return accounts, nil, fmt.Errorf("read the usage: %w", err)
		}
	}
	return accounts, unlock, nil
}

// received is what a pool has received since it is there, in slot-seconds, not decayed,
// running tasks included.
func (l *Loop) received(pool string, accounts Accounts, now time.Time) float64 {
	sum := 0.0
	for path, a := range accounts.Pools {
		if share.Inside(path, pool) {
			sum += a.Total
		}
	}
	for _, r := range l.runs {
		if share.Inside(r.header.Pool, pool) {
			sum += l.core.Rate(r.run) * now.Sub(r.started).Seconds()
		}
	}
	return sum
}

// keepBoost makes a boost durable, and records it.
func (l *Loop) keepBoost(ctx context.Context, b *Boost, entry AuditEntry) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return l.record(ctx, []AuditEntry{entry}, map[string]string{
		boostSetting + fmt.Sprint(b.ID): string(text), lastBoost: fmt.Sprint(b.ID),
	})
}

func (l *Loop) dropBoost(ctx context.Context, b Boost, entry AuditEntry) error {
	return l.record(ctx, []AuditEntry{entry}, map[string]string{boostSetting + fmt.Sprint(b.ID): ""})
}

// record keeps settings and the record of their change, as far as the store does.
func (l *Loop) record(ctx context.Context, entries []AuditEntry, settings map[string]string) error {
	if a, ok := l.store.(Auditor); ok {
		return a.Audit(ctx, entries, settings)
	}
	if keeper, ok := l.store.(Settings); ok {
		for _, key := range slices.Sorted(maps.Keys(settings)) {
			if err := keeper.Set(ctx, key, settings[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadBoosts reads the boosts that were in force.
func (l *Loop) loadBoosts(settings map[string]string) error {
	l.lastBoost, _ = strconv.ParseInt(settings[lastBoost], 10, 64)
	kept, err := keptBelow[Boost](settings, boostSetting)
	for _, b := range kept {
		l.boosts[b.ID] = b
	}
	return err
}

// reboost tells a new core of the boosts, and since when the pools are there.
func (l *Loop) reboost(accounts Accounts, now time.Time) {
	l.know(accounts, now)
	for _, id := range slices.Sorted(maps.Keys(l.boosts)) {
		b := l.boosts[id]
		b.Had = max(0, l.received(b.Pool, accounts, now)-b.Base)
		l.core.Boost(b.core(), now)
	}
}

// know tells the core since when the pools are there, and what they have received: new
// ones may have a starter.
func (l *Loop) know(accounts Accounts, now time.Time) {
	if !l.shares.starters() {
		return
	}
	known := map[string]*sched.Known{}
	each := func(path string, f func(k *sched.Known)) {
		for i := range len(path) + 1 {
			if i < len(path) && path[i] != '/' {
				continue
			}
			k := known[path[:i]]
			if k == nil {
				k = &sched.Known{Pool: path[:i], First: now}
				known[path[:i]] = k
			}
			f(k)
		}
	}
	for path, a := range accounts.Pools {
		each(path, func(k *sched.Known) {
			k.Had += a.Total
			if a.Since.Before(k.First) {
				k.First = a.Since
			}
		})
	}
	for _, r := range l.runs {
		each(r.header.Pool, func(k *sched.Known) {
			k.Had += l.core.Rate(r.run) * now.Sub(r.started).Seconds()
		})
	}
	all := make([]sched.Known, 0, len(known))
	for _, path := range slices.Sorted(maps.Keys(known)) {
		all = append(all, *known[path])
	}
	l.core.Know(all, now)
}

// starters reports whether some pool gives new ones a starter.
func (s *Shares) starters() bool {
	if s.Sched.Root.Starter.Weight > 0 {
		return true
	}
	for _, p := range s.Sched.Root.All() {
		if p.Starter.Weight > 0 {
			return true
		}
	}
	return false
}

// endBoosts forgets the boosts that the core has ended. If that fails they end once more
// after a restart.
func (l *Loop) endBoosts(ctx context.Context) {
	l.mu.Lock()
	var over []Boost
	for _, c := range l.core.EndedBoosts() {
		if b, there := l.boosts[c.ID]; there {
			over = append(over, b)
			delete(l.boosts, c.ID)
		}
	}
	others := l.othersRecord()
	l.mu.Unlock()
	if others {
		return // one of the servers records it for all
	}
	for _, b := range over {
		err := l.dropBoost(ctx, b, AuditEntry{Who: cmp.Or(b.By, "fairlead"), From: "scheduler", What: "boost ended", Subject: b.Pool, Old: b.text()})
		if err != nil && ctx.Err() == nil {
			l.log.Warn("the end of a boost could not be recorded", "boost", b.ID, "error", err)
		}
	}
}

package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
	"golang.org/x/sync/semaphore"
)

// override is a kind of settings beside the configuration: drained nodes, pauses, boosts, reservations, nodes of
// bridges. An override survives a restart, applies on all servers of a store, and ends by itself or when somebody ends
// it. To add a kind, write a file that fills in these fields. Then add a line in overrideKinds, a field in inforce.go
// with its map in newInForce, and the prefix in package poolnames. That package also needs to know whether the kind
// names pools.
type override[T any] struct {
	name   string // for the log
	prefix string // of the setting keys; the values are JSON, except strings
	// in returns the state's map of current overrides, keyed by the rest of the setting key.
	in func(*State) *map[string]T
	// enforce applies an override to the core, and lift removes it; nil if the kind does not affect the core.
	enforce func(s *State, key string, x T, at moment)
	lift    func(s *State, key string, x T, at moment)
	// decode reads a stored override; nil if it is JSON.
	decode func(text string) (T, error)
	// beside returns the settings that are stored along with an override; nil: none.
	beside func(x T) map[string]string
	// loaded reads the kind's further settings; nil if it has none.
	loaded func(s *State, settings map[string]string)
	// ended returns the keys of overrides that have ended by themselves, as the core already knows; nil: no override
	// of this kind does. The function record returns the user and the text of an override.
	ended  func(s *State, now time.Time) []string
	record func(x T) queue.AuditEntry
	// accounts means that enforce needs the usage of pools.
	accounts bool
}

// moment is the instant at which an override is applied, with the usage of pools up to then if enforce needs it.
type moment struct {
	now      time.Time
	accounts queue.Accounts
}

// anOverride is an [override] of some type.
type anOverride interface {
	setting() string
	load(s *State, settings map[string]string) error
	take(s *State, settings map[string]string, at moment) error
	resend(s *State, at moment)
	end(ctx context.Context, c *changer)
	needsAccounts() bool
}

func (k *override[T]) setting() string { return k.prefix }

func (k *override[T]) needsAccounts() bool { return k.accounts }

func (k *override[T]) encode(x T) (string, error) {
	if text, plain := any(x).(string); plain {
		return text, nil
	}
	text, err := json.Marshal(x)
	return string(text), err
}

// load reads the overrides from the settings.
func (k *override[T]) load(s *State, settings map[string]string) error {
	all := map[string]T{}
	for key, text := range settings {
		name, is := strings.CutPrefix(key, k.prefix)
		if !is {
			continue
		}
		x, err := k.read(text)
		if err != nil {
			return fmt.Errorf("the setting %s: %w", key, err)
		}
		all[name] = x
	}
	if *k.in(s) = all; k.loaded != nil {
		k.loaded(s, settings)
	}
	return nil
}

func (k *override[T]) read(text string) (x T, err error) {
	if k.decode != nil {
		return k.decode(text)
	}
	if at, plain := any(&x).(*string); plain {
		*at = text
		return x, nil
	}
	return x, json.Unmarshal([]byte(text), &x)
}

// take loads the overrides that other servers have set and ended.
func (k *override[T]) take(s *State, settings map[string]string, at moment) error {
	before := *k.in(s)
	if err := k.load(s, settings); err != nil {
		return err
	}
	now := *k.in(s)
	for _, key := range inOrder(before) {
		if _, still := now[key]; !still && k.lift != nil {
			k.lift(s, key, before[key], at)
		}
	}
	for _, key := range inOrder(now) {
		if old, had := before[key]; k.enforce != nil && (!had || !k.same(old, now[key])) {
			k.enforce(s, key, now[key], at)
		}
	}
	return nil
}

func (k *override[T]) same(a, b T) bool {
	x, err := k.encode(a)
	y, err2 := k.encode(b)
	return err == nil && err2 == nil && x == y
}

// resend applies the current overrides to a new core.
func (k *override[T]) resend(s *State, at moment) {
	if all := *k.in(s); k.enforce != nil {
		for _, key := range inOrder(all) {
			k.enforce(s, key, all[key], at)
		}
	}
}

// inOrder returns the keys of overrides in order; numbers are ordered by value.
func inOrder[T any](all map[string]T) []string {
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
}

// changer changes overrides one at a time, in the store first and then in the state.
type changer struct {
	*base
	changing *semaphore.Weighted // held while an override is changed, also in the store
}

func newChanger(b *base) *changer { return &changer{b, semaphore.NewWeighted(1)} }

// change is the change of one override.
type change[T any] struct {
	key   string
	x     T
	ends  bool // ends it early; else it is applied
	at    moment
	entry []queue.AuditEntry // for the record
}

// change makes the change that decide chooses from the state; nil means no change. No other override changes between
// the decision and its effect.
func (k *override[T]) change(ctx context.Context, c *changer, decide func(*State) (*change[T], error)) error {
	if err := c.changing.Acquire(ctx, 1); err != nil {
		return err
	}
	defer c.changing.Release(1)
	x, err := read2(c.base, decide)
	switch {
	case err != nil || x == nil:
		return err
	case x.ends:
		return k.drop(ctx, c.base, x)
	}
	return k.put(ctx, c.base, x)
}

// permitted asks all functions in the argument "may" whether the user may change a current override.
func permitted[T any](x T, may []func(T) error) error {
	for _, ask := range may {
		if err := ask(x); err != nil {
			return err
		}
	}
	return nil
}

// ending returns the change that ends an override early. The entry e says who ends it.
func (k *override[T]) ending(key string, x T, e queue.AuditEntry) *change[T] {
	ended := k.record(x)
	e.Subject, e.Old = ended.Subject, ended.Old
	return &change[T]{key: key, ends: true, entry: []queue.AuditEntry{e}}
}

// put stores an override, records it, and applies it.
func (k *override[T]) put(ctx context.Context, b *base, c *change[T]) error {
	text, err := k.encode(c.x)
	if err != nil {
		return err
	}
	settings := map[string]string{k.prefix + c.key: text}
	if k.beside != nil {
		maps.Copy(settings, k.beside(c.x))
	}
	if err := b.record(ctx, c.entry, settings); err != nil {
		return err
	}
	b.Update(func(s *State) {
		(*k.in(s))[c.key] = c.x
		if k.enforce != nil {
			k.enforce(s, c.key, c.x, c.at)
		}
		s.touch()
		s.wakeUp()
	})
	return nil
}

// drop ends an override early.
func (k *override[T]) drop(ctx context.Context, b *base, c *change[T]) error {
	if err := b.record(ctx, c.entry, map[string]string{k.prefix + c.key: ""}); err != nil {
		return err
	}
	b.Update(func(s *State) {
		x := (*k.in(s))[c.key]
		delete(*k.in(s), c.key)
		if k.lift != nil {
			k.lift(s, c.key, x, moment{now: time.Now()})
		}
		s.touch()
		s.wakeUp()
	})
	return nil
}

// end removes overrides that have ended by themselves. If that fails they end once more after a restart.
func (k *override[T]) end(ctx context.Context, c *changer) {
	if k.ended == nil || !c.changing.TryAcquire(1) {
		return // none ends by itself, or an override is being changed
	}
	defer c.changing.Release(1)
	others, over := false, map[string]T{}
	c.Update(func(s *State) {
		all := *k.in(s)
		for _, key := range k.ended(s, time.Now()) {
			over[key] = all[key]
			delete(all, key)
		}
		others = s.Others.Record()
	})
	if others {
		return // one of the servers records it for all
	}
	for _, key := range inOrder(over) {
		e := k.record(over[key])
		e.Who, e.From, e.What = cmp.Or(e.Who, "fairlead"), "scheduler", k.name+" ended"
		err := c.record(ctx, []queue.AuditEntry{e}, map[string]string{k.prefix + key: ""})
		if err != nil && ctx.Err() == nil {
			c.Log.Warn("the end of a "+k.name+" could not be recorded", k.name, key, "error", err)
		}
	}
}

// record stores settings and the audit record of their change, as far as the store supports it.
func (b *base) record(ctx context.Context, entries []queue.AuditEntry, settings map[string]string) error {
	if a, ok := b.Store.(queue.Auditor); ok && len(entries) > 0 {
		return a.Audit(ctx, entries, settings)
	}
	if keeper, ok := b.Store.(queue.Settings); ok {
		for _, key := range slices.Sorted(maps.Keys(settings)) {
			if err := keeper.Set(ctx, key, settings[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

// number formats a number for the audit record.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// ConfigSetting is the prefix of the keys that hold the configuration of a server.
const ConfigSetting = "config/"

// UsageReset is the key with which a store reports in the feed that the usage of pools was set.
const UsageReset = "usage"

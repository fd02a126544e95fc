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

// override is a kind of settings beside the configuration: drained nodes, pauses, boosts,
// reservations, nodes of bridges. An override lasts over a restart, holds on all servers of a
// store, and ends when somebody ends it, or by itself. A new kind is a file that fills in these
// fields, a line in overrideKinds, and a field in inforce.go with its map in newInForce.
type override[T any] struct {
	name   string // for the log
	prefix string // of the keys of settings under which they are kept, as JSON but for strings
	// in is where the state has those in force, by what follows the prefix in their keys.
	in func(*State) *map[string]T
	// enforce has the core know of one, and lift has it forget one; nil: the core is not concerned.
	enforce func(s *State, key string, x T, at moment)
	lift    func(s *State, key string, x T, at moment)
	// beside are the settings that are kept along with one; nil: none.
	beside func(x T) map[string]string
	// loaded reads what else the settings tell of the kind; nil: nothing.
	loaded func(s *State, settings map[string]string)
	// ended returns the keys of overrides that have ended by themselves, as the core knows already, and
	// record returns the user and the text of one; nil: none ends by itself.
	ended  func(s *State, now time.Time) []string
	record func(x T) queue.AuditEntry
	// accounts: enforce has to know what pools have received.
	accounts bool
}

// moment is when something is enforced, and what pools have received by then, where that matters.
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
		var x T
		if at, plain := any(&x).(*string); plain {
			*at = text
		} else if err := json.Unmarshal([]byte(text), &x); err != nil {
			return fmt.Errorf("the setting %s: %w", key, err)
		}
		all[name] = x
	}
	if *k.in(s) = all; k.loaded != nil {
		k.loaded(s, settings)
	}
	return nil
}

// take takes over what others have set and ended.
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

// resend tells a new core of those in force.
func (k *override[T]) resend(s *State, at moment) {
	if all := *k.in(s); k.enforce != nil {
		for _, key := range inOrder(all) {
			k.enforce(s, key, all[key], at)
		}
	}
}

// inOrder returns the keys of overrides; numbers are in the order of numbers.
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
	ends  bool // before its time; else it is put into force
	at    moment
	entry []queue.AuditEntry // for the record
}

// change makes the change that a function decides on by the state; nil: none. The state may not
// change in this kind between the decision and its effect.
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

// permitted asks whether whoever changes an override that is in force may do so.
func permitted[T any](x T, may []func(T) error) error {
	for _, ask := range may {
		if err := ask(x); err != nil {
			return err
		}
	}
	return nil
}

// ending is the change that ends an override before its time. e says who ends it.
func (k *override[T]) ending(key string, x T, e queue.AuditEntry) *change[T] {
	ended := k.record(x)
	e.Subject, e.Old = ended.Subject, ended.Old
	return &change[T]{key: key, ends: true, entry: []queue.AuditEntry{e}}
}

// put keeps one, records it, and puts it into force.
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

// drop ends one before its time.
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

// end forgets overrides that have ended by themselves. If that fails they end once more after a restart.
func (k *override[T]) end(ctx context.Context, c *changer) {
	if k.ended == nil || !c.changing.TryAcquire(1) {
		return // none ends by itself, or something is being changed
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

// record keeps settings and the record of their change, as far as the store does.
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

// number writes a number for the record.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// ConfigSetting begins the keys under which the configuration of a server is kept.
const ConfigSetting = "config/"

// UsageReset is the key under which a store says in the feed that what pools have received
// was set.
const UsageReset = "usage"

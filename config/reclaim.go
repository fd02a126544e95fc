package config

import (
	"time"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// starvingFields say when a pool gets room from others. What is left out is that of the
// pool above.
func starvingFields[T any](at func(*T) *share.Reclaim) []field {
	return []field{
		unless("that of the pool above; off at the top", of("min_after", "", "For how long it may have less than its min although it has work that would fit on a node, before tasks of others are stopped for it. off: for ever.",
			patience(), func(t *T) *time.Duration { return &at(t).MinAfter })),
		unless("that of the pool above; off at the top", of("share_after", "", "The same for its fair part, which is its FAIR NOW in `fairlead shares`: when it has less than `below` of that.",
			patience(), func(t *T) *time.Duration { return &at(t).ShareAfter })),
		unless("that of the pool above; 50% at the top", of("below", "", "The percentage of its fair part below which it is badly served.",
			left(percentOf), func(t *T) *float64 { return &at(t).Below })),
		unless("that of the pool above", of("protect", "", "Its running tasks, and those of the pools below it, are never stopped for others.",
			left(boolean), func(t *T) *bool { return &at(t).Protect })),
	}
}

func reclaimFields() []field {
	return append(starvingFields(func(c *Config) *share.Reclaim { return &c.Shares.Sched.Root.Reclaim }),
		of("grace", "30m", "No job is stopped twice within this time. 0: there is none.",
			unlessIs(30*time.Minute, span(time.Second, "0")), func(c *Config) *time.Duration { return &c.Shares.Sched.Reclaim.Grace }),
		of("choose", "newest", "Which tasks are stopped first: the newest, or the cheapest, which have received the fewest slot-seconds.",
			unlessIs(sched.Newest, choice("choose", []string{"newest", "cheapest"}, []sched.Choose{sched.Newest, sched.Cheapest})),
			func(c *Config) *sched.Choose { return &c.Shares.Sched.Reclaim.Choose }),
	)
}

// reclaimField is the field of the file as a whole, part of which is the root's.
func reclaimField() field {
	return field{
		name: "reclaim", def: "{}", unless: "off", word: "see below", standard: standard("reclaim", "{}"),
		doc:    "When running tasks are stopped for pools that do not get their min or their fair part, and which.",
		schema: func() object { return object{"$ref": "#/$defs/" + reclaimTable.name} },
		read:   func(r *reader, n *node, to any) { reclaimTable.read(r, "reclaim", n, to) },
		show: func(from any) *node {
			if n := reclaimTable.show(from); len(n.keys) > 0 {
				return n
			}
			return nil
		},
	}
}

// patience is a duration, or off.
func patience() kind[time.Duration] { return orNever(span(time.Second, "off"), "off") }

// orNever keeps a zero, which is written as a word, as [share.Never], and leaves out what
// says nothing.
func orNever(k kind[time.Duration], off string) kind[time.Duration] {
	read := k.read
	k.read = func(r *reader, name string, n *node) (time.Duration, bool) {
		d, ok := read(r, name, n)
		if d == 0 {
			d = share.Never
		}
		return d, ok
	}
	k.show = func(d time.Duration) *node {
		switch d {
		case 0:
			return nil
		case share.Never:
			return word(off)
		}
		return word(units.FormatDuration(d))
	}
	k.word = "duration or " + off
	return k
}

// percentOf is a percentage that is kept as a fraction.
var percentOf = kind[float64]{
	word:   percent.word,
	schema: percent.schema,
	read: func(r *reader, name string, n *node) (float64, bool) {
		v, ok := percent.read(r, name, n)
		return v / 100, ok
	},
	show: func(v float64) *node { return word(formatNumber(round(100*v)) + "%") },
}

// unlessIs leaves the default out of the canonical form.
func unlessIs[V comparable](standard V, k kind[V]) kind[V] {
	show := k.show
	k.show = func(v V) *node {
		if v == standard {
			return nil
		}
		return show(v)
	}
	return k
}

// futile looks for what can never act.
type futile struct {
	*reader
	c       *Config
	unheard []string // pools with a min for which nothing is ever stopped
	at      *node    // the first of these minima
	minima  bool     // some pool has a min
	forever bool     // use counts for ever
}

// checkFutile warns of minima that may wait for ever, and of settings without an effect.
func (r *reader) checkFutile(root *node, c *Config) {
	if errors, _ := r.found.count(); errors > 0 {
		return
	}
	f := &futile{reader: r, c: c, forever: c.Shares.Sched.HalfLife == 0}
	top := &c.Shares.Sched.Root
	f.policy(root, top, "the root")
	f.below(root, top, top.Reclaim)
	f.options(root, top, "", false)
	switch n := root.get("reclaim").get("min_after"); {
	case f.at != nil:
		others := ""
		if n := len(f.unheard) - 1; n > 0 {
			others = " (and " + plural(n, "other pool") + ")"
		}
		f.hintf(f.at, "the min of %s%s is served only as tasks of others end, and a task without a time limit may run for ever."+
			" Let such tasks be stopped with reclaim: {min_after: 1m}, or say min_after: off", clip(f.unheard[0]), others)
	case n != nil && top.Reclaim.MinAfter > 0 && !f.minima:
		f.warnf(n, "min_after has no effect: no pool has a min")
	}
}

// below checks the pools below one in which above holds.
func (f *futile) below(n *node, p *share.Pool, above share.Reclaim) {
	byName := poolsByName(p.Pools)
	for _, e := range pairs(n.get("pools")) {
		c := byName[e.key.text]
		if c == nil {
			continue
		}
		set := c.Reclaim.Under(above)
		least, path := e.value.get("min"), share.Join(f.path, c.Name)
		if len(c.Min) > 0 {
			f.minima = true
			if set.MinAfter == 0 {
				if f.unheard = append(f.unheard, path); f.at == nil {
					f.at = least
				}
			}
			if v := e.value.get("load"); v.zero() {
				f.errorf(v, "pool %s has the load 0%%, which is to get only what nobody else can use, and a min; give it a load, or no min", clip(path))
			}
		}
		f.policy(e.value, c, "pool "+clip(path))
		was := f.path
		f.path = path
		f.below(e.value, c, set)
		f.path = was
	}
}

// policy warns of policies that lack the decay they are made for.
func (f *futile) policy(n *node, p *share.Pool, who string) {
	if !f.forever {
		return
	}
	at := n.get("policy")
	switch {
	case p.Options.Decay.HalfLife:
		f.warnf(n.get("decay").get("half_life"), "%s counts use by the half-life, which is none: the use of years ago weighs like that of today. Set half_life, such as 7d", who)
	case p.Policy == "fairtree" || p.Policy == "multifactor":
		if at != nil {
			f.warnf(at, "%s divides by past use, and half_life is none: the use of years ago weighs like that of today. Set half_life, such as 7d", who)
		}
	}
}

package config

import (
	"time"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// reclaimTable describes the field reclaim of the file, and starvingTable that of a pool.
var reclaimTable, starvingTable *table

// starvingFields returns the fields that say when a pool gets room from others. A pool inherits missing ones from the
// pool above.
func starvingFields[T any](at func(*T) *share.Reclaim) []field {
	return []field{
		unless("that of the pool above; off for the root",
			of("min_after", "", "How long it may be below its min, with work that would fit on a node, before tasks of other pools are stopped for it. off: forever.",
				patience(), func(t *T) *time.Duration { return &at(t).MinAfter })),
		unless("that of the pool above; off for the root",
			of("share_after", "", "The same for its entitlement (ENTITLED in `fairlead shares`): how long it may have less than the percentage `below` of its entitlement.",
				patience(), func(t *T) *time.Duration { return &at(t).ShareAfter })),
		unless("that of the pool above; 50% for the root",
			of("below", "", "The percentage of its entitlement below which share_after applies.",
				left(percentOf), func(t *T) *float64 { return &at(t).Below })),
		unless("that of the pool above", of("protect", "",
			"Its running tasks, and the tasks of the pools below it, are never stopped for other pools.",
			left(boolean), func(t *T) *bool { return &at(t).Protect })),
	}
}

func reclaimFields() []field {
	return append(starvingFields(func(c *Config) *share.Reclaim { return &c.Shares.Sched.Root.Reclaim }),
		of("grace", "30m", "No job is stopped twice within this time. 0: no such time.",
			unlessIs(30*time.Minute, span(time.Second,
				"0")), func(c *Config) *time.Duration { return &c.Shares.Sched.Reclaim.Grace }),
		of("choose", "newest", "The tasks that are stopped first: the newest, or the cheapest (with the fewest slot-seconds received).",
			unlessIs(sched.Newest, choice("choose", []string{"newest", "cheapest"},
				[]sched.Choose{sched.Newest, sched.Cheapest})),
			func(c *Config) *sched.Choose { return &c.Shares.Sched.Reclaim.Choose }),
	)
}

// reclaimField is the field reclaim of the file. Some of its values belong to the root pool.
func reclaimField() field {
	return field{
		name: "reclaim", def: "{}", unless: "off", word: "see below", standard: standard("reclaim", "{}"),
		doc:    "When running tasks are stopped for pools below their min or their entitlement, and which tasks.",
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

// orNever stores a zero as [share.Never]; the file writes it as the word "off". It omits an unset value from the
// canonical form.
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

// percentOf is a percentage that is stored as a fraction.
var percentOf = kind[float64]{
	word:   percent.word,
	schema: percent.schema,
	read: func(r *reader, name string, n *node) (float64, bool) {
		v, ok := percent.read(r, name, n)
		return v / 100, ok
	},
	show: func(v float64) *node { return word(formatNumber(round(100*v)) + "%") },
}

// unlessIs omits the default from the canonical form.
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

package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

var starterTable, newJobTable *table

func init() {
	starterTable = &table{name: "starter", doc: "A temporarily higher weight for pools that jobs make on demand, such " +
		"as pools of new users." +
		" It ends by time or by usage, whichever comes first. Pools that the file names do not get " +
		"it.", fields: starterFields()}
	newJobTable = &table{name: "new_job_boost",
		doc: "New jobs form a class of their own within their pool and priority," +
			" with the weight of the priority times the factor.", fields: newJobFields()}
}

// starter makes the field of a pool, or of the file for the root, that boosts pools made on demand.
func starter[T any](at func(*T) *share.Starter) field {
	k := left(sub[share.Starter](&starterTable))
	read := k.read
	k.read = func(r *reader, name string, n *node) (share.Starter, bool) {
		v, ok := read(r, name, n)
		if ok && n.kind == mapping && n.get("for") == nil && n.get("usage") == nil {
			r.errorf(n, "%s never ends; give it a time (for: 7d), a usage (usage: 10h), or both", name)
		}
		return v, ok
	}
	return unless("none", of("starter", "", "A temporarily higher weight for pools below it that jobs make on demand.", k,
		at))
}

func starterFields() []field {
	weight := of("weight", "", "The factor.", multiple, func(s *share.Starter) *float64 { return &s.Weight })
	weight.must = true
	return []field{
		weight,
		unless("no end by time", of("for", "", "How long the higher weight lasts after the first job of the pool.",
			left(span(time.Second, "")), func(s *share.Starter) *time.Duration { return &s.For })),
		unless("no end by usage", of("usage", "",
			"The service after which it ends: 10h is ten hours of one unit, or one hour of ten units.",
			left(seconds(span(time.Second, ""))), func(s *share.Starter) *float64 { return &s.Usage })),
	}
}

func newJobFields() []field {
	weight := of("weight", "", "The factor.", multiple, func(x *sched.NewJobs) *float64 { return &x.Factor })
	weight.must = true
	return []field{
		weight,
		of("for", "10m", "How long a job counts as new after its submission.", span(time.Second, ""),
			func(x *sched.NewJobs) *time.Duration { return &x.For }),
	}
}

// multiple is a factor for a weight, such as x2.
var multiple = kind[float64]{
	word:   "factor such as x2",
	schema: described(object{"type": "string", "pattern": `^x[0-9]+(\.[0-9]+)?$`}),
	read: func(r *reader, name string, n *node) (float64, bool) {
		text, ok := r.text(name, n)
		if !ok {
			return 0, false
		}
		v, err := ParseFactor(text)
		if err != nil {
			r.errorf(n, "%s: %v", name, err)
		}
		return v, err == nil
	},
	show: func(v float64) *node { return word("x" + formatNumber(v)) },
}

// ParseFactor parses a factor for a weight, such as x2.
func ParseFactor(text string) (float64, error) {
	number, ok := strings.CutPrefix(text, "x")
	v, err := parseNumber(number)
	if !ok || err != nil {
		return 0, fmt.Errorf("expected a factor such as x2, got %s", clip(text))
	}
	return v, sched.CheckFactor(v)
}

// checkStarters warns of starter boosts that no pool can ever get.
func (r *reader) checkStarters(n *node) {
	if s := n.get("starter"); s != nil {
		r.warnf(s, "starter has no effect: no pool is made on demand, because pools_on_demand is false and there "+
			"are no placement rules")
	}
	for _, e := range pairs(n.get("pools")) {
		r.checkStarters(e.value)
	}
}

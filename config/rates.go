package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// rateTable describes a rate.
var rateTable *table

const ratePattern = `^([0-9]{1,9})/(s|m|h|d)$`

var (
	ratePatternText = regexp.MustCompile(ratePattern)

	rateText = object{"type": "string", "pattern": ratePattern}
)

// parseRate parses a rate such as 5/s; the burst is the number of starts per unit of time.
func parseRate(text string) (sched.Rate, bool) {
	m := ratePatternText.FindStringSubmatch(text)
	if m == nil || strings.Trim(m[1], "0") == "" {
		return sched.Rate{}, false
	}
	count, _ := strconv.ParseInt(m[1], 10, 64)
	per, err := units.ParseDuration("1" + m[2])
	return sched.Rate{Count: count, Per: per, Burst: count}, err == nil
}

// perTime is a rate without its burst.
var perTime = kind[sched.Rate]{
	word:   "rate",
	schema: described(rateText),
	read: func(r *reader, name string, n *node) (sched.Rate, bool) {
		text, ok := r.text(name, n)
		if !ok {
			return sched.Rate{}, false
		}
		v, ok := parseRate(text)
		if !ok {
			r.errorf(n, "%s must be a rate such as 5/s, 100/m, 20/h or 3/d, got %s", name, n.describe())
		}
		return v, ok
	},
	show: func(v sched.Rate) *node { return word(v.String()) },
}

func rateFields() []field {
	rate := of("rate", "", "The number of tasks that may start per time, such as 5/s.", perTime,
		func(t *Rate) *sched.Rate { return &t.Rate })
	rate.must = true
	return []field{
		rate,
		unless("the number in the rate", of("burst", "",
			"The number of tasks that may start at once after a time without starts.",
			wholeNumber(1, maxTasks), func(t *Rate) *int64 { return &t.Burst })),
		unless("none", of("kinds", "", "Kinds of jobs to which the rate applies even if the jobs do not name it.",
			kindNames, func(t *Rate) *[]string { return &t.Kinds })),
	}
}

// wholeNumber is whole for values of type int64.
func wholeNumber(least, most int) kind[int64] {
	k := whole(least, most)
	return kind[int64]{
		word: k.word, schema: k.schema,
		read: func(r *reader, name string, n *node) (int64, bool) {
			v, ok := k.read(r, name, n)
			return int64(v), ok
		},
		show: func(v int64) *node { return word(strconv.FormatInt(v, 10)) },
	}
}

const maxKinds = 100

// kindNames is one kind of jobs, or a list of kinds.
var kindNames = kind[[]string]{
	word: "kind or list of kinds",
	schema: func() object {
		one := object{"type": "string", "pattern": ".", "maxLength": queue.MaxName}
		return object{"anyOf": []any{one, object{"type": "array", "items": one, "maxItems": maxKinds}}}
	},
	read: func(r *reader, name string, n *node) ([]string, bool) {
		all := []*node{n}
		if n.kind == list {
			all = n.items
		}
		if len(all) > maxKinds {
			r.errorf(n, "%s has %d kinds; at most %d are allowed", name, len(all), maxKinds)
			return nil, false
		}
		var kinds []string
		one := line("kind", queue.MaxName, someText)
		for _, item := range all {
			if k, ok := one.read(r, name, item); ok && !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
		return kinds, true
	},
	show: func(kinds []string) *node {
		if len(kinds) == 0 {
			return nil
		}
		n := &node{kind: list}
		for _, k := range kinds {
			n.items = append(n.items, textOf(k))
		}
		return n
	},
}

// ratesKind is a function, because the table of a rate refers to it.
func ratesKind() kind[map[string]Rate] {
	value := object{"anyOf": []any{rateText, object{"$ref": "#/$defs/rate"}}}
	return named("names with rates", checkWord("rate"), 1000, value, readRate, showRate)
}

// readRate reads 5/s, or a mapping such as {rate: 5/s, burst: 10}.
func readRate(r *reader, name string, n *node) (v Rate, ok bool) {
	if n.kind != mapping {
		v.Rate, ok = perTime.read(r, name, n)
		return v, ok
	}
	before := r.count()
	rateTable.read(r, name, n, &v)
	return v, r.count() == before
}

// showRate writes a rate in its shortest form.
func showRate(v Rate) *node {
	if v.Burst == v.Count && len(v.Kinds) == 0 {
		return perTime.show(v.Rate)
	}
	n := rateTable.show(&v)
	if v.Burst == v.Count {
		short := &node{kind: mapping}
		for i, k := range n.keys {
			if k.text != "burst" {
				short.set(k.text, n.items[i])
			}
		}
		return short
	}
	return n
}

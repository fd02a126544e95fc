package config

import (
	"log/slog"

	"github.com/fairlead/fairlead/sched"
)

// unless sets the text that describes the effective value when a field without a default is
// missing.
func unless(words string, f field) field {
	f.unless = words
	return f
}

// then calls next after reading the field.
func then(f field, next func(r *reader, to any)) field {
	read := f.read
	f.read = func(r *reader, n *node, to any) {
		read(r, n, to)
		next(r, to)
	}
	return f
}

// left omits the zero value from the canonical form, because it means unset.
func left[V comparable](k kind[V]) kind[V] {
	show := k.show
	k.show = func(v V) *node {
		var zero V
		if v == zero {
			return nil
		}
		return show(v)
	}
	return k
}

// sub is the kind of a place of the file with its own table.
func sub[T any](t **table) kind[T] {
	return kind[T]{
		word:   "see below",
		schema: func() object { return object{"$ref": "#/$defs/" + (*t).name} },
		read: func(r *reader, name string, n *node) (T, bool) {
			var v T
			ok := (*t).read(r, name, n, &v)
			return v, ok
		},
		show: func(v T) *node { return (*t).show(&v) },
	}
}

var backfills = choiceOfRule()

// choiceOfRule is the choice among all backfill rules.
func choiceOfRule() kind[sched.Backfill] {
	var names []string
	var rules []sched.Backfill
	for r := sched.FirstFit; r.String() != ""; r++ {
		names, rules = append(names, r.String()), append(rules, r)
	}
	return choice("backfill", names, rules)
}

func levelOf(s *Server) *slog.Level { return &s.LogLevel }

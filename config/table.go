package config

import (
	"slices"
	"sync"
)

// tables returns all places of the file. The file that lists them sets it, because the tables need this file.
var tables func() []*table

// table describes the names that may stand in one place of the file. The reader, the
// suggestions, the canonical form, the JSON Schema and the reference are all made
// from it, so that they cannot disagree.
type table struct {
	name   string // "" is the file itself
	doc    string // what the place is about, for the reference
	fields []field
}

// field is one name with the kind of its value.
type field struct {
	name   string
	def    string // in force when the file says nothing, as it would be written there
	unless string // describes the value in force if there is no def
	doc    string // one sentence
	word   string // the kind of value, in words
	must   bool   // has to be given

	hidden bool // read, but not described: only gives a better error

	standard func() *node // def as it is read
	schema   func() object
	read     func(r *reader, n *node, to any)
	show     func(from any) *node // nil: left out
}

// kind is a type of value: how it is described, read, and written in canonical form.
type kind[V any] struct {
	word   string
	schema func() object
	read   func(r *reader, name string, n *node) (V, bool)
	show   func(V) *node
}

// of makes a field of kind k that is kept where at says.
func of[T, V any](name, def, doc string, k kind[V], at func(*T) *V) field {
	return field{
		name: name, def: def, doc: doc, word: k.word, standard: standard(name, def), schema: k.schema,
		read: func(r *reader, n *node, to any) {
			if v, ok := k.read(r, name, n); ok {
				*at(to.(*T)) = v
			}
		},
		show: func(from any) *node { return k.show(*at(from.(*T))) },
	}
}

// read reads what n gives of the table's fields, in the order of the table, and the
// defaults of the others.
func (t *table) read(r *reader, name string, n *node, to any) bool {
	given, ok := r.entries(name, n)
	if !ok {
		return false
	}
	for _, e := range given {
		if !slices.ContainsFunc(t.fields, func(f field) bool { return f.name == e.key.text }) {
			r.errorf(e.key, "%s", t.unknown(r, e.key))
		}
	}
	for _, f := range t.fields {
		switch v := n.get(f.name); {
		case v != nil:
			f.read(r, v, to)
		case f.must:
			r.errorf(n, "%s needs the field %s", name, f.name)
		case f.def != "":
			f.read(r, f.standard(), to)
		}
	}
	return true
}

// standard makes the default a node, once: thousands of pools may have the same.
func standard(name, def string) func() *node {
	return sync.OnceValue(func() *node {
		n, p := readYAML(def)
		if p != nil {
			panic("config: default of " + name + ": " + p.Msg)
		}
		return n
	})
}

// unknown says what could have been meant by a name that the table does not have.
func (t *table) unknown(r *reader, key *node) string {
	switch {
	case r.full():
		return ""
	case key.colonInside():
		return noName(key)
	}
	names := t.names()
	if nearest(key.text, names) == "" {
		for _, other := range tables() {
			if slices.Contains(other.names(), key.text) && other != t {
				return "field " + clip(key.text) + " belongs to " + other.where() + ", not here"
			}
		}
	}
	return unknown("field", key.text, names)
}

func (t *table) names() []string {
	var names []string
	for _, f := range t.fields {
		if !f.hidden {
			names = append(names, f.name)
		}
	}
	return names
}

// where says in which place of the file the table holds.
func (t *table) where() string {
	switch t.name {
	case "":
		return "the top of the file"
	case "pool", "rule", "rate":
		return "a " + t.name
	}
	return t.name
}

// show makes the canonical form of the values.
func (t *table) show(from any) *node {
	n := &node{kind: mapping}
	for _, f := range t.fields {
		if f.show != nil {
			n.set(f.name, f.show(from))
		}
	}
	return n
}

// object is a JSON object of the schema.
type object = map[string]any

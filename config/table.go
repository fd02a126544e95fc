package config

import (
	"slices"
	"sync"
)

// tables returns the tables of the whole configuration. fields.go sets it in init, because the tables are made with the
// functions here.
var tables func() []*table

// table describes the names allowed in one place of the file. The reader, the suggestions, the canonical form, the JSON
// Schema and the reference are all made from it, so that they cannot disagree.
type table struct {
	name   string // "" is the file itself
	doc    string // what the place is about, for the reference
	fields []field
}

// field is one name with the kind of its value.
type field struct {
	name   string
	def    string // the default, in the syntax of the file
	unless string // describes the effective value if there is no def
	doc    string // one sentence
	word   string // the kind of value, in words
	must   bool   // required

	hidden bool // read but not documented: it only gives a better error

	standard func() *node // def, parsed
	schema   func() object
	read     func(r *reader, n *node, to any)
	show     func(from any) *node // nil: omitted
}

// kind is a type of value: how to describe it, read it, and write it in canonical form.
type kind[V any] struct {
	word   string
	schema func() object
	read   func(r *reader, name string, n *node) (V, bool)
	show   func(V) *node
}

// The function "of" makes a field of kind k. The argument "at" returns the place where its value is kept.
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

// read reads the fields of the table from n, in the order of the table, and sets missing ones to their defaults.
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

// standard returns a function that parses a default once, because thousands of pools may use it.
func standard(name, def string) func() *node {
	return sync.OnceValue(func() *node {
		n, p := readYAML(def)
		if p != nil {
			panic("config: default of " + name + ": " + p.Msg)
		}
		return n
	})
}

// unknown suggests what a name that the table lacks may mean.
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

// where names the place of the file that the table describes.
func (t *table) where() string {
	switch t.name {
	case "":
		return "the top of the file"
	case "weights":
		return "multifactor.weights"
	case "pool", "rule", "rate":
		return "a " + t.name
	}
	return t.name
}

// show returns the values in canonical form.
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

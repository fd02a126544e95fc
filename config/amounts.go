package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/share"
)

// Limits of what a pool may name.
const (
	maxAmount    = 1 << 50 // as in jobs
	maxResources = 16
	maxTasks     = 1_000_000_000
)

// named makes the kind of a mapping from names to values. The function "check" accepts the names, and "one" reads a
// value.
func named[V any](word string, check func(string) string, most int, valueSchema object,
	one func(r *reader, name string, n *node) (V, bool), show func(V) *node) kind[map[string]V] {
	return kind[map[string]V]{
		word: word,
		schema: described(object{"type": []string{"object", "null"}, "additionalProperties": valueSchema,
			"maxProperties": most}),
		read: func(r *reader, name string, n *node) (map[string]V, bool) {
			all, ok := r.entries(name, n)
			if len(all) > most {
				r.errorf(n, "%s has %d entries; at most %d are allowed", name, len(all), most)
				return nil, false
			}
			var values map[string]V
			for _, e := range all {
				if wrong := check(e.key.text); wrong != "" {
					r.errorf(e.key, "%s", wrong)
				} else if v, ok := one(r, name+" "+e.key.text, e.value); ok {
					if values == nil {
						values = make(map[string]V, len(all))
					}
					values[e.key.text] = v
				}
			}
			return values, ok
		},
		show: func(values map[string]V) *node {
			if len(values) == 0 {
				return nil
			}
			n := &node{kind: mapping}
			for _, name := range slices.Sorted(maps.Keys(values)) {
				n.set(name, show(values[name]))
			}
			return n
		},
	}
}

// checkResource returns why jobs cannot ask for a resource of that name. It refuses the names under which fairlead
// counts the abilities of nodes.
func checkResource(name string) string {
	switch {
	case share.CheckResource(name) != nil:
		return clip(name) + " is not the name of a resource, such as mem, gpu, or gpu:a100 for GPUs of one type"
	case name == "exec" || strings.HasPrefix(name, "handler."):
		return clip(name) + " is reserved; choose another name"
	}
	return ""
}

func checkWord(what string) func(string) string {
	return func(name string) string {
		if share.CheckName(name) != nil {
			return clip(name) + " is not the name of a " + what
		}
		return ""
	}
}

var amounts = named("resources with amounts", checkResource, maxResources, amountSchema, readAmount, showAmount)

var amountSchema = object{
	"type": []string{"integer", "string"}, "minimum": 0, "pattern": `^[0-9]+(\.[0-9]+)?([KMGTPEkmgtpe]([Ii]?[Bb])?)?$`,
	"examples": []any{8, "4G"},
}

// offered lists the resources that agents offer by default.
var offered = []string{"cpu", "mem", "gpu"}

func readAmount(r *reader, name string, n *node) (int64, bool) {
	text, ok := r.text(name, n)
	if !ok {
		return 0, false
	}
	resource := name[strings.LastIndexByte(name, ' ')+1:]
	if meant := nearest(resource, offered); meant != "" && resource != r.unit && !slices.Contains(offered, resource) &&
		!strings.Contains(resource, ":") {
		r.warnf(n, `%s: agents do not offer %s on their own - did you mean "%s"?`, name, clip(resource), meant)
	}
	v, err := units.ParseSize(text)
	switch {
	case err != nil:
		r.errorf(n, "%s: %v", name, err)
	case v > maxAmount:
		r.errorf(n, "%s must be from 0 to %d, got %s", name, int64(maxAmount), text)
	default:
		return v, true
	}
	return 0, false
}

// showAmount writes a value as a size if it is probably a number of bytes.
func showAmount(v int64) *node {
	if v >= 1<<20 && v%(1<<20) == 0 {
		return word(units.FormatSize(v))
	}
	return word(strconv.FormatInt(v, 10))
}

var licenses = named("names with numbers", checkWord("license"), 1000,
	object{"type": "integer", "minimum": 1, "maximum": maxTasks},
	func(r *reader, name string, n *node) (int64, bool) {
		v, ok := whole(1, maxTasks).read(r, name, n)
		return int64(v), ok
	},
	func(v int64) *node { return word(strconv.FormatInt(v, 10)) })

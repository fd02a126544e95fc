package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/share"
)

// The tables of the section access, of one operator, and of the rights in one pool.
var accessTable, operatorTable, accessPoolTable *table

// Limits of what the rights may name.
const (
	maxSubjects    = 1000
	maxAccessPools = 10_000
)

// wholeTree is how the file names the root pool, whose path is empty, among the pools with rights.
const wholeTree = "/"

func accessFields() []field {
	return []field{
		unless("root, and the user under whom the server runs", of("admin", "",
			"Further administrators: users and groups such as [user:eve, group:hpc].", subjects,
			func(r *access.Rules) *[]access.Subject { return &r.Admin })),
		unless("nobody", of("operator", "",
			"Who may hold, release, cancel, requeue and move the jobs of a pool and of those below it, pause these pools, "+
				"and boost the pools below it.",
			operators, func(r *access.Rules) *[]access.Operator { return &r.Operators })),
		unless("the own pool", of("pools", "",
			"Who may submit where, by the paths of pools; / is the cluster. A pool inherits a field that it leaves out "+
				"from the pool above it.",
			accessPools(), func(r *access.Rules) *map[string]access.Pool { return &r.Pools })),
	}
}

func operatorFields() []field {
	below := of("below", "", "The path of the pool.", poolPath, func(o *access.Operator) *string { return &o.Below })
	below.must = true
	return []field{
		operatorBy("user", "The user who operates the pool. Give a user or a group."),
		operatorBy("group", "The group whose members operate the pool."), below,
	}
}

// operatorBy makes the field of an operator that names a user or a group.
func operatorBy(what, doc string) field {
	name := line("name", 256, someText)
	return field{
		name: what, doc: doc, word: name.word, schema: name.schema,
		read: func(r *reader, n *node, to any) {
			o := to.(*access.Operator)
			if text, ok := name.read(r, what, n); ok && o.Who != "" {
				r.errorf(n, "an operator is a user or a group, not both")
			} else if ok {
				o.Who = access.Subject(what + ":" + text)
			}
		},
		show: func(from any) *node {
			if name, is := strings.CutPrefix(string(from.(*access.Operator).Who), what+":"); is {
				return textOf(name)
			}
			return nil
		},
	}
}

func accessPoolFields() []field {
	const above = "that of the pool above"
	return []field{
		unless(above+"; for the root: only users whom placement sends there", of("submit", "",
			"Who may submit into it and into the pools below it, except pools of other users: users, groups, or * for "+
				"everybody. If the list is given, only these users may submit, even if placement sends others there.",
			subjects, func(p *access.Pool) *[]access.Subject { return &p.Submit })),
		unless(above+"; for the root: none", of("create", "",
			"The pools below it that a job may make by naming them. Give paths below it, such as {user}, or * for any.",
			wordsOf("path", checkTemplate), func(p *access.Pool) *[]string { return &p.Create })),
		unless(above+"; for the root: the priority of jobs that name none, and lower ones", of("priorities", "",
			"The priorities that jobs may have in it; * is any.", wordsOf("priority", someText),
			func(p *access.Pool) *[]string { return &p.Priorities })),
		unless(above+"; for the root: none", of("qos", "", "The qualities of service that jobs may name in it; * is any.",
			wordsOf("quality of service", someText), func(p *access.Pool) *[]string { return &p.QOS })),
	}
}

// subject is a user, a group or everybody.
var subject = kind[access.Subject]{
	word:   "user:NAME, group:NAME or *",
	schema: described(object{"type": "string", "pattern": `^(\*|(user|group):.+)$`, "maxLength": 256}),
	read: func(r *reader, name string, n *node) (access.Subject, bool) {
		text, ok := line("user or group", 256, access.CheckSubject).read(r, name, n)
		return access.Subject(text), ok
	},
	show: func(s access.Subject) *node { return textOf(string(s)) },
}

var subjects = listOf("list of user:NAME, group:NAME and *", subject, maxSubjects)

// wordsOf makes the kind of a list of texts that "check" accepts.
func wordsOf(what string, check func(string) string) kind[[]string] {
	one := line(what, 1024, check)
	one.schema = described(object{"type": "string", "pattern": ".", "maxLength": 1024})
	return listOf("list", one, maxSubjects)
}

var operators = listOf("list of operators", kind[access.Operator]{
	schema: func() object { return object{"$ref": "#/$defs/operator"} },
	read: func(r *reader, name string, n *node) (o access.Operator, ok bool) {
		before := r.count()
		operatorTable.read(r, name, n, &o)
		if r.count() == before && o.Who == "" {
			r.errorf(n, "%s needs a user or a group", name)
		}
		return o, r.count() == before
	},
	show: func(o access.Operator) *node { return operatorTable.show(&o) },
}, maxSubjects)

// listOf makes the kind of a list of values. An empty list differs from a missing one.
func listOf[V any](word string, one kind[V], most int) kind[[]V] {
	return kind[[]V]{
		word: word,
		schema: func() object {
			return object{"type": "array", "items": one.schema(), "maxItems": most}
		},
		read: func(r *reader, name string, n *node) ([]V, bool) {
			if n.kind != list {
				r.errorf(n, "%s must be a list, got %s", name, n.describe())
				return nil, false
			}
			if len(n.items) > most {
				r.errorf(n, "%s has %d entries; at most %d are allowed", name, len(n.items), most)
				return nil, false
			}
			all := make([]V, 0, len(n.items))
			for _, item := range n.items {
				if v, ok := one.read(r, name, item); ok {
					all = append(all, v)
				}
			}
			return all, true
		},
		show: func(all []V) *node {
			if all == nil {
				return nil
			}
			n := &node{kind: list}
			for _, v := range all {
				n.items = append(n.items, one.show(v))
			}
			return n
		},
	}
}

// poolPath is the path of a pool.
var poolPath = line("path of a pool", 1024, func(text string) string {
	if err := share.CheckPath(text); err != nil {
		return "is not the path of a pool: " + err.Error()
	}
	return ""
})

func checkTemplate(text string) string {
	if text == access.Anything {
		return ""
	}
	if _, err := share.NewPlacementRules([]share.Rule{{Pool: text}}); err != nil {
		return "is neither a path such as {user} nor *"
	}
	return ""
}

// accessPools is a function, because the table of a pool's rights refers to it.
func accessPools() kind[map[string]access.Pool] {
	check := func(path string) string {
		if err := share.CheckPath(path); path != wholeTree && err != nil {
			return err.Error()
		}
		return ""
	}
	k := named("paths of pools with rights", check, maxAccessPools, object{"$ref": "#/$defs/pool_access"},
		func(r *reader, name string, n *node) (p access.Pool, ok bool) {
			before := r.count()
			accessPoolTable.read(r, name, n, &p)
			return p, r.count() == before
		},
		func(p access.Pool) *node { return accessPoolTable.show(&p) })
	read, show := k.read, k.show
	k.read = func(r *reader, name string, n *node) (map[string]access.Pool, bool) {
		all, ok := read(r, name, n)
		return renamed(all, wholeTree, ""), ok
	}
	k.show = func(all map[string]access.Pool) *node { return show(renamed(all, "", wholeTree)) }
	return k
}

// renamed returns the map with one of its keys renamed.
func renamed[V any](all map[string]V, from, to string) map[string]V {
	v, there := all[from]
	if !there {
		return all
	}
	all = maps.Clone(all)
	delete(all, from)
	all[to] = v
	return all
}

// noAccess omits the rights from the canonical form if the file grants none.
func noAccess(k kind[access.Rules]) kind[access.Rules] {
	show := k.show
	k.show = func(r access.Rules) *node {
		if r.Admin == nil && r.Operators == nil && len(r.Pools) == 0 {
			return nil
		}
		return show(r)
	}
	return k
}

// checkAccess checks that the rest of the file defines the priorities, qualities of service and pools of the rights.
func (r *reader) checkAccess(root *node, c *Config) {
	n := root.get("access")
	if n == nil {
		return
	}
	priorities := c.Shares.Priorities()
	for _, e := range pairs(n.get("pools")) {
		r.checkWords(e.value.get("priorities"), "priority", priorities)
		r.checkWords(e.value.get("qos"), "quality of service", slices.Sorted(maps.Keys(c.Multifactor.Levels)))
		r.checkKnown(e.key, c)
	}
	if all := n.get("operator"); all != nil {
		for _, item := range all.items {
			if below := item.get("below"); below != nil {
				r.checkKnown(below, c)
			}
		}
	}
}

// checkWords refuses unknown names in a list.
func (r *reader) checkWords(n *node, what string, known []string) {
	if n == nil || n.kind != list {
		return
	}
	for _, item := range n.items {
		if item.text != access.Anything && !slices.Contains(known, item.text) {
			r.errorf(item, "%s", unknown(what, item.text, known))
		}
	}
}

// checkKnown warns of the path of a pool that is not in the tree and that no placement rule creates. A mistyped path
// grants no rights, and leaves the pool that was meant as open as before.
func (r *reader) checkKnown(n *node, c *Config) {
	path := n.text
	if path == wholeTree || c.Shares.Sched.Root.Find(path) != nil || !c.Shares.Closed {
		return
	}
	if rules, err := share.NewPlacementRules(c.Rules); err == nil {
		if makes, above := rules.Reach(path); makes || above {
			return
		}
	}
	var known []string
	for p := range c.Shares.Sched.Root.All() {
		known = append(known, p)
	}
	slices.Sort(known)
	r.warnf(n, "%s", strings.TrimSpace(unknown("pool", path, known)))
}

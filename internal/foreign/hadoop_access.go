package foreign

import (
	"slices"
	"strings"
)

// everybody is the list of all users.
var everybody = []string{"*"}

// submitters reads the setting aclSubmitApps of a queue: users, a blank, and groups, each separated by commas; * stands
// for everybody (Apache Hadoop, "Fair Scheduler", section "Queue Access Control Lists").
func (h *hadoop) submitters(p *pool, e *element) {
	l := submitList{pool: p, e: e}
	users, groups, _ := strings.Cut(strings.TrimRight(e.raw, " \t\r\n"), " ")
	for _, names := range []struct{ kind, list string }{{"user:", users}, {"group:", groups}} {
		for name := range strings.SplitSeq(names.list, ",") {
			switch name = strings.TrimSpace(name); name {
			case "":
			case "*":
				l.who = append(l.who, "*")
			default:
				l.who = append(l.who, names.kind+name)
			}
		}
	}
	h.lists = append(h.lists, l)
}

// access decides who may submit into the pools. In Hadoop a user who may submit into a queue may submit into all queues
// below it, and the root queue is open to everybody unless its own list says otherwise.
func (h *hadoop) access(d *document) {
	lists := map[*pool]submitList{}
	for _, l := range h.lists {
		lists[l.pool] = l
	}
	root, listed := lists[h.root]
	open := !listed || slices.Contains(root.who, "*")
	atRoot := accessRule{submit: everybody}
	if d.onDemand {
		atRoot.create = everybody
	}
	if open {
		d.access = []accessRule{atRoot}
		delete(lists, h.root) // so that the advice about the others does not admit everybody
	}
	for _, l := range h.lists {
		switch {
		case l.pool == h.root && open:
			h.add(l.e.line, l.pool.where, l.e.name, l.e.text, Taken, "")
		case lists[l.pool].e != l.e:
			h.add(l.e.line, l.pool.where, l.e.name, l.e.text, Needless, "line %d sets it again", lists[l.pool].e.line)
		case open:
			only := accessRule{pool: l.pool.path(), submit: allowed(l.pool, lists)}
			h.add(l.e.line, l.pool.where, l.e.name, l.e.text, Left,
				"Hadoop does not apply this list either, because its root queue lets everybody submit into all queues; "+
					"to apply it, write access: {pools: {%s, %s}}", accessRule{}.yaml(), only.yaml())
		default:
			rule := accessRule{pool: l.pool.path(), submit: allowed(l.pool, lists)}
			if l.pool == h.root {
				rule.create = atRoot.create
			}
			d.access = append(d.access, rule)
			h.add(l.e.line, l.pool.where, l.e.name, l.e.text, Taken, "")
		}
	}
}

// allowed returns who may submit into a pool: the users of its list and of the lists of all pools above it.
func allowed(p *pool, lists map[*pool]submitList) (who []string) {
	for ; p != nil; p = p.above {
		for _, name := range lists[p].who {
			if !slices.Contains(who, name) {
				who = append(who, name)
			}
		}
	}
	if slices.Contains(who, "*") {
		return everybody
	}
	return who
}

package foreign

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// target is a pool to which a rule of YARN's placement sends some or all jobs.
type target struct {
	rule
	always bool // it takes every job
	made   bool // its pool is made on demand
}

// place turns the placement policy into rules. If a rule of YARN may not create its queue and the queue is
// missing, YARN continues with the next rule. So the rule here lists the existing pools.
func (h *hadoop) place(d *document) {
	if h.placement == nil {
		// In yarn-site.xml user-as-default-queue and allow-undeclared-pools are on by default; a
		// configuration without a list of rules does the same.
		d.onDemand = true
		h.limitUsers(true, true)
		return
	}
	d.ruled = true
	var all []target
	specified, ended := false, false
	for _, e := range h.placement.children {
		name := e.attr("name")
		switch {
		case e.name != "rule":
			h.other("placement", e)
		case ended:
			h.add(e.line, "placement", "rule", name, Needless, "no job reaches this rule")
		case name == "reject":
			ended = true
			h.reject(d, e, all)
		case name == "specified":
			specified = true
			d.onDemand = d.onDemand || creates(e)
			h.specified(e, len(all) > 0)
		default:
			found := h.targets(e)
			all = append(all, found...)
			ended = slices.ContainsFunc(found, func(t target) bool { return t.always })
		}
	}
	if !specified {
		h.add(h.placement.line, "placement", "queuePlacementPolicy", "", Changed,
			"the file has no rule \"specified\", but here a job that names a pool (submit -A) always goes to that pool")
	}
	own, any := false, false
	for _, t := range all {
		if !d.reaches(t.rule) {
			continue
		}
		if len(d.rules) == maxRules {
			h.add(h.placement.line, "placement", "queuePlacementPolicy", "", Left,
				"a file has at most %d rules; jobs of the rules that are left out have to name their pool (submit -A)", maxRules)
			break
		}
		d.rules = append(d.rules, t.rule)
		d.onDemand = d.onDemand || t.made
		any = any || t.pool == "{user}"
		own = own || t.always && t.pool == "{user}"
		if literal, _, _ := strings.Cut(t.pool, "{"); literal == t.pool && h.root.find(t.pool) == nil {
			h.makePath(t.pool)
		}
	}
	if h.limitUsers(any, own); !d.onDemand {
		h.makeParents(d.rules)
	}
}

func creates(e *element) bool { return !strings.EqualFold(e.attr("create"), "false") }

func (h *hadoop) specified(e *element, late bool) {
	if late {
		h.add(e.line, "placement", "rule", "specified", Changed,
			"this rule comes first here: a job that names a pool (submit -A) goes to that pool, whatever the rules above say")
		return
	}
	h.add(e.line, "placement", "rule", "specified", Taken, "")
}

// reject refuses jobs that no rule placed. Without a rule the same happens if the tree is closed and has no
// pool default.
func (h *hadoop) reject(d *document, e *element, all []target) {
	open := d.onDemand || slices.ContainsFunc(all, func(t target) bool { return t.made })
	if !open && h.root.named[share.DefaultPool] == nil {
		h.add(e.line, "placement", "rule", "reject", Taken, "")
		return
	}
	h.add(e.line, "placement", "rule", "reject", Left,
		"a job that matches no rule goes to the pool default; to refuse it, set pools_on_demand: false and name no "+
			"pool default")
}

// targets returns the pools to which a rule sends jobs. It reports rules that it cannot convert, and returns
// no pools for them.
func (h *hadoop) targets(e *element) []target {
	name := e.attr("name")
	var nested *element
	for _, c := range e.children {
		if c.name == "rule" {
			nested = c
		}
	}
	field := map[string]string{"user": "user", "nestedUserQueue": "user", "primaryGroup": "group"}[name]
	switch {
	case name == "default":
		path := queuePath(e.attr("queue"))
		if share.CheckPath(path) != nil {
			h.add(e.line, "placement", "rule", name, Left, "its queue %q is not the path of a pool; add a rule for another pool",
				plainText(path, 60))
			return nil
		}
		h.add(e.line, "placement", "rule", name, Taken, "")
		return []target{{rule: rule{pool: path}, always: true}}
	case name == "secondaryGroupExistingQueue":
		h.add(e.line, "placement", "rule", name, Left,
			"fairlead compares only the primary group of a user; add rules for the users, such as {user: \"ann|bob\", pool: ...}")
		return nil
	case field == "" || name == "nestedUserQueue" && nested == nil:
		h.add(e.line, "placement", "rule", name, Left, "unknown rule; add a rule to placement for it")
		return nil
	case nested == nil:
		found := h.existing(h.root, rule{}, field, creates(e), false)
		h.add(e.line, "placement", "rule", name, Taken, "")
		return found
	}
	return h.nested(e, nested, field)
}

// nested sends jobs to pools below the pools that the inner rule names.
func (h *hadoop) nested(e, inner *element, field string) []target {
	name := e.attr("name")
	var parents []target
	if f := map[string]string{"user": "user", "primaryGroup": "group"}[inner.attr("name")]; f != "" && !creates(inner) {
		parents = h.existing(h.root, rule{}, f, false, true)
		h.add(inner.line, "placement", "rule", inner.attr("name"), Taken, "")
	} else if inner.attr("name") == "specified" {
		h.add(inner.line, "placement", "rule", "specified", Taken,
			"a job that names a pool with pools below it goes to its user's pool below that pool")
		h.add(e.line, "placement", "rule", name, Taken, "")
		return nil
	} else {
		if parents = h.targets(inner); len(parents) == 0 {
			h.add(e.line, "placement", "rule", name, Left, "the rule inside it was not converted")
			return nil
		}
	}
	var all []target
	for _, t := range parents {
		p := h.root.find(t.pool)
		if p != nil {
			p.parent = true
		}
		switch {
		case creates(e):
			all = append(all, target{rule{t.user, t.group, t.pool + "/{" + field + "}"}, t.always, true})
		case p != nil && (field == "user" && t.user == "" || field == "group" && t.group == ""):
			all = append(all, h.existing(p, t.rule, field, false, false)...)
		default:
			h.add(e.line, "placement", "rule", name, Left,
				"it may not create queues, and the queues below %s are not known in advance; add rules for them", t.pool)
			return nil
		}
	}
	h.add(e.line, "placement", "rule", name, Taken, "")
	return all
}

// existing sends jobs to the pools below p that have the name of their user or group: to any pool if pools
// may be made, else to existing pools.
func (h *hadoop) existing(p *pool, base rule, field string, make, parents bool) []target {
	prefix := ""
	if !p.isRoot() {
		prefix = p.path() + "/"
	}
	if make {
		base.pool = prefix + "{" + field + "}"
		return []target{{base, true, true}}
	}
	var names []string
	var all []target
	for _, c := range p.pools {
		if c.parent != parents {
			continue
		}
		if plain := strings.ReplaceAll(c.name, "_dot_", "."); plain != c.name {
			all = append(all, target{rule: base.with(field, regexp.QuoteMeta(plain), prefix+c.name)})
			continue
		}
		names = append(names, regexp.QuoteMeta(c.name))
	}
	for _, expr := range alternatives(names) {
		all = append(all, target{rule: base.with(field, expr, prefix+"{"+field+"}")})
	}
	return all
}

func (r rule) with(field, expr, pool string) rule {
	if r.pool = pool; field == "user" {
		r.user = expr
	} else {
		r.group = expr
	}
	return r
}

// alternatives joins expressions to a few expressions of moderate length. Each matches if any of its parts
// matches.
func alternatives(all []string) []string {
	const most = share.MaxExpression / 2
	var joined []string
	for _, a := range all {
		if n := len(joined) - 1; n >= 0 && len(joined[n])+1+len(a) <= most {
			joined[n] += "|" + a
		} else {
			joined = append(joined, a)
		}
	}
	return joined
}

// queuePath returns the path of a queue such as root.a.b; an empty name means the default queue.
func queuePath(name string) string {
	name = strings.TrimPrefix(name, "root.")
	if name == "" || name == "root" {
		return share.DefaultPool
	}
	return strings.ReplaceAll(name, ".", "/")
}

// makePath makes the missing pools of a path.
func (h *hadoop) makePath(path string) {
	p := h.root
	for name := range strings.SplitSeq(path, "/") {
		next := p.named[name]
		if next == nil {
			next = p.add(name, "queue "+path, h.placement.line)
		}
		p = next
	}
}

// makeParents makes the missing pools that rules name before a field.
func (h *hadoop) makeParents(rules []rule) {
	for _, r := range rules {
		literal, _, cut := strings.Cut(r.pool, "{")
		if path := strings.TrimSuffix(literal, "/"); cut && path != "" {
			h.makePath(path)
		}
	}
}

// limitUsers takes over the limits of users who have their own pools: all users, or those whose pools the
// file names.
func (h *hadoop) limitUsers(own, all bool) {
	for _, e := range h.users {
		name := e.attr("name")
		where := "user " + plainText(name, 60)
		for _, c := range e.children {
			if c.name != "maxRunningApps" && c.name != "maxRunningJobs" {
				h.other(where, c)
				continue
			}
			n, ok := h.count(where, c)
			if !ok {
				continue
			}
			p := h.root.named[share.UserPool(name)]
			if !own || p == nil && !all || p != nil && (p.parent || p.running >= 0 && p.running < n) {
				h.add(c.line, where, c.name, c.text, Left,
					"user_limits.running is the same for all users; to limit this user, add a pool for the user with max_running: %d", n)
				continue
			}
			if p == nil {
				p = h.root.addCalled(share.UserPool(name), where, c.line)
			}
			p.running = n
			h.add(c.line, where, c.name, c.text, Changed,
				"max_running: %d of the user's pool; it counts tasks, and only those in this pool", n)
		}
	}
}

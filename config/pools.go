package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// poolTable describes a pool. init sets it, because it refers to itself.
var poolTable *table

// pools maps names to the children of a pool. They are sorted by name: the order in a file has no meaning, and files
// with the same pools must lead to the same decisions.
var pools = kind[[]share.Pool]{
	word:   "names with pools",
	schema: described(object{"type": []string{"object", "null"}, "additionalProperties": object{"$ref": "#/$defs/pool"}}),
	read:   readPools,
	show: func(all []share.Pool) *node {
		if len(all) == 0 {
			return nil
		}
		n := &node{kind: mapping}
		for i := range all {
			n.set(all[i].Name, poolTable.show(&all[i]))
		}
		return n
	},
}

func readPools(r *reader, name string, n *node) ([]share.Pool, bool) {
	given, ok := r.entries(name, n)
	if !ok {
		return nil, false
	}
	var all []share.Pool
	for _, e := range given {
		if p, ok := r.pool(e); ok {
			all = append(all, p)
		}
	}
	r.checkShares(given)
	slices.SortFunc(all, func(a, b share.Pool) int { return cmp.Compare(a.Name, b.Name) })
	return all, true
}

// pool reads one pool and the pools below it.
func (r *reader) pool(e entry) (share.Pool, bool) {
	path := share.Join(r.path, e.key.text)
	if err := share.CheckName(e.key.text); err != nil {
		r.errorf(e.key, "%v", err)
		return share.Pool{}, false
	}
	if strings.Count(path, "/") >= share.MaxDepth {
		r.errorf(e.key, "pool %s is deeper than %d levels", clip(path), share.MaxDepth)
		return share.Pool{}, false
	}
	above := r.path
	r.path = path
	defer func() { r.path = above }()
	p := share.Pool{Name: e.key.text}
	if !poolTable.read(r, path, e.value, &p) {
		return p, false
	}
	r.checkLimits(e.value, &p)
	r.checkMinima(e.value, &p)
	return p, true
}

// checkLimits refuses a minimum above the maximum of the same pool, and warns of limits that keep everything from
// running.
func (r *reader) checkLimits(n *node, p *share.Pool) {
	for _, e := range pairs(n.get("min")) {
		least, ok := p.Min[e.key.text]
		if most, limited := p.Max[e.key.text]; ok && limited && least > most {
			r.errorf(e.value, "min %s %s is above max %[1]s %[3]s", e.key.text, showAmount(least).text, showAmount(most).text)
		}
	}
	for _, e := range pairs(n.get("max")) {
		if most, ok := p.Max[e.key.text]; ok && most == 0 && e.key.text == r.unit {
			r.warnf(e.value, "pool %s can never run anything: each task takes some %s", clip(r.path), r.unit)
		}
	}
	if v := n.get("max_running"); v != nil && v.plain() && strings.Trim(v.text, "+-0") == "" {
		r.warnf(v, "pool %s can never run anything", clip(r.path))
		r.closePool(v, p)
	}
}

// closePool keeps a pool from running anything. In share.Pool a MaxRunning of 0 means no limit. So closePool sets the
// maximum of the unit to 0 instead, and no task fits.
func (r *reader) closePool(n *node, p *share.Pool) {
	if p.Min[r.unit] > 0 {
		r.errorf(n, "max_running 0 contradicts min %s %d", r.unit, p.Min[r.unit])
	}
	limits := map[string]int64{r.unit: 0}
	for resource, most := range p.Max {
		if resource != r.unit {
			limits[resource] = most
		}
	}
	p.Max = limits
}

// pairs returns the names and values of a mapping that was already checked.
func pairs(n *node) []entry {
	if n == nil || n.kind != mapping {
		return nil
	}
	all := make([]entry, len(n.keys))
	for i := range all {
		all[i] = entry{n.keys[i], n.items[i]}
	}
	return all
}

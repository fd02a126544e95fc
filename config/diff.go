package config

import (
	"slices"
	"strconv"
)

// Difference is one place where two configurations say different things.
type Difference struct {
	Path string // as settings name it, e.g. pools.physics/env.weight
	Old  string // as it would be written in the file; "": nothing was there
	New  string // likewise
	// Later is set when it takes effect at the next start of the server.
	Later bool
}

// Diff is what differs between two configurations by what they mean: defaults are filled
// in, and comments, order and ways of writing do not count. Pools are compared one by one,
// items of lists by their place.
func Diff(old, new *Config) []Difference {
	var d differ
	d.compare(nil, fileTable.show(old), fileTable.show(new))
	return d.found
}

type differ struct{ found []Difference }

// compare compares two values at one place; nil is nothing.
func (d *differ) compare(at []string, old, new *node) {
	switch {
	case old == nil && new == nil:
	case isMapping(old) && isMapping(new), len(at) > 0 && at[len(at)-1] == "pools":
		d.compareNames(at, old, new)
	case old != nil && new != nil && old.kind == list && new.kind == list:
		d.compareItems(at, old.items, new.items)
	case isPool(at):
		d.comparePools(at, old, new)
	default:
		d.note(at, old, new)
	}
}

func isMapping(n *node) bool { return n != nil && n.kind == mapping }

// isPool reports whether a path leads to a pool.
func isPool(at []string) bool { return len(at) > 1 && at[len(at)-2] == "pools" }

// compareNames compares the values of each name: the names of the old file in their order, then
// the new names.
func (d *differ) compareNames(at []string, old, new *node) {
	before, after := byName(old), byName(new)
	if old != nil {
		for _, k := range old.keys {
			d.compare(append(slices.Clip(at), k.text), before[k.text], after[k.text])
		}
	}
	if new == nil {
		return
	}
	for _, k := range new.keys {
		if before[k.text] == nil {
			d.compare(append(slices.Clip(at), k.text), nil, after[k.text])
		}
	}
}

// byName is for trees of thousands of pools, where looking for each name would take long.
func byName(n *node) map[string]*node {
	all := map[string]*node{}
	if n != nil {
		for i, k := range n.keys {
			all[k.text] = n.items[i]
		}
	}
	return all
}

func under(n *node, name string) *node {
	if n == nil {
		return nil
	}
	return n.get(name)
}

// comparePools tells of a pool that one side lacks, and of each pool below it in a line of
// its own.
func (d *differ) comparePools(at []string, old, new *node) {
	d.note(at, withoutPools(old), withoutPools(new))
	d.compare(append(slices.Clip(at), "pools"), under(old, "pools"), under(new, "pools"))
}

func withoutPools(n *node) *node {
	if !isMapping(n) {
		return n
	}
	i := n.find("pools")
	if i < 0 {
		return n
	}
	rest := *n
	rest.keys, rest.items = slices.Delete(slices.Clone(n.keys), i, i+1), slices.Delete(slices.Clone(n.items), i, i+1)
	return &rest
}

// compareItems compares lists without the common items at their beginnings and ends, so
// that a rule put in between is one difference.
func (d *differ) compareItems(at []string, old, new []*node) {
	begin := 0
	for begin < min(len(old), len(new)) && flat(old[begin]) == flat(new[begin]) {
		begin++
	}
	for len(old) > begin && len(new) > begin && flat(old[len(old)-1]) == flat(new[len(new)-1]) {
		old, new = old[:len(old)-1], new[:len(new)-1]
	}
	for i := begin; i < max(len(old), len(new)); i++ {
		d.note(append(slices.Clip(at), strconv.Itoa(i+1)), item(old, i), item(new, i))
	}
}

func item(list []*node, i int) *node {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func (d *differ) note(at []string, old, new *node) {
	x := Difference{Path: joinPath(at), Later: at[0] == "server" || at[0] == "unit"}
	if old != nil {
		x.Old = flat(old)
	}
	if new != nil {
		x.New = flat(new)
	}
	if x.Old != x.New {
		d.found = append(d.found, x)
	}
}

// Text is the text that was read, without what it is put over by settings, and with [Hidden] in the
// place of passwords.
func (c *Config) Text() string { return c.hidden }

// WholeText is the text with its passwords. It is for the file alone.
func (c *Config) WholeText() string { return c.text }

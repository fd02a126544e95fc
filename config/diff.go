package config

import (
	"slices"
	"strconv"
)

// Difference is one place where two configurations differ.
type Difference struct {
	Path string // as settings name it, e.g. pools.physics/env.weight
	Old  string // in the syntax of the file; "" if it was absent
	New  string // likewise
	// Later says that the change takes effect at the next start of the server.
	Later bool
}

// Diff returns the differences in meaning between two configurations. It fills in defaults, and ignores comments,
// order and notation. It compares pools one by one, and items of lists by position.
func Diff(old, new *Config) []Difference {
	var d differ
	d.compare(nil, fileTable.show(old), fileTable.show(new))
	return d.found
}

type differ struct{ found []Difference }

// compare compares two values at one place; nil means absent.
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

// byName maps the names in n to their values. It saves a search per name in trees of thousands of pools.
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

// comparePools notes a pool that one side lacks, and each pool below it as a difference of its own.
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

// compareItems skips the items that both lists begin or end with, so that an inserted rule is one difference.
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

// Text returns the text of the file, before settings were applied, with [Hidden] in place of passwords.
func (c *Config) Text() string { return c.hidden }

// WholeText returns the text with its passwords. It must go into the file only.
func (c *Config) WholeText() string { return c.text }

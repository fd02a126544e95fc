package config

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/share"
)

// groups reads a mapping of names to groups and keeps the order of the file.
var groups = kind[[]BridgeGroup]{
	word:   "names with groups",
	schema: described(object{"type": "object"}),
	read: func(r *reader, name string, n *node) ([]BridgeGroup, bool) {
		given, ok := r.entries(name, n)
		if len(given) > maxGroups {
			r.errorf(n, "%s has %d groups; at most %d are allowed", name, len(given), maxGroups)
			return nil, false
		}
		var all []BridgeGroup
		sum, before := 0.0, r.count()
		for _, e := range given {
			g := BridgeGroup{Name: e.key.text}
			if share.CheckPath(e.key.text) != nil {
				r.errorf(e.key, "%s is not the name of a group", clip(e.key.text))
				continue
			}
			if groupTable.read(r, "group "+clip(g.Name), e.value, &g) {
				all = append(all, g)
				sum += g.Weight
			}
		}
		if len(all) > 0 && r.count() == before && sum == 0 {
			r.errorf(n, "all groups have the weight 0; give at least one a higher weight")
		}
		return all, ok
	},
	show: func(all []BridgeGroup) *node { return nil },
}

// poolPaths is one path of a pool, or a list of paths.
var poolPaths = texts("path or list of paths", func(text string) string {
	if err := share.CheckPath(text); err != nil {
		return clip(text) + " is not the path of a pool"
	}
	return ""
})

var groupNames = texts("list of names", func(text string) string {
	if share.CheckPath(text) != nil {
		return clip(text) + " is not the name of a group"
	}
	return ""
})

// texts makes the kind of one text that "check" accepts, or of a list of distinct ones.
func texts(what string, check func(string) string) kind[[]string] {
	return kind[[]string]{
		word:   what,
		schema: described(object{"type": "array"}),
		read: func(r *reader, name string, n *node) ([]string, bool) {
			all := []*node{n}
			if n.kind == list {
				all = n.items
			}
			if len(all) > maxGroups {
				r.errorf(n, "%s has %d entries; at most %d are allowed", name, len(all), maxGroups)
				return nil, false
			}
			var out []string
			for _, item := range all {
				switch text, ok := r.text(name, item); {
				case !ok:
				case check(text) != "":
					r.errorf(item, "%s", check(text))
				case slices.Contains(out, text):
					r.errorf(item, "%s is given twice", clip(text))
				default:
					out = append(out, text)
				}
			}
			return out, true
		},
		show: func([]string) *node { return nil },
	}
}

// levels is a list of integers that strictly rise or strictly fall.
var levels = kind[[]int64]{
	word:   "list of integers",
	schema: described(object{"type": "array"}),
	read: func(r *reader, name string, n *node) ([]int64, bool) {
		if n.kind != list || len(n.items) < 2 || len(n.items) > maxBridgeLevels {
			r.errorf(n, "%s must be a list of at least two integers, such as [0, 10], got %s", name, n.describe())
			return nil, false
		}
		var out []int64
		for i, item := range n.items {
			v, err := strconv.ParseInt(item.text, 10, 64)
			if err != nil || item.quoted {
				r.errorf(item, "%s must be integers, got %s", name, item.describe())
				return nil, false
			}
			if i > 0 && v == out[i-1] || i > 1 && (v > out[i-1]) != (out[1] > out[0]) {
				r.errorf(item, "%s must all rise or all fall; %d after %d breaks that order", name, v, out[i-1])
				return nil, false
			}
			out = append(out, v)
		}
		return out, true
	},
	show: func([]int64) *node { return nil },
}

// parts makes the kind of a mapping from names to numbers of at least 0.
func parts(what string, check func(string) string) kind[map[string]float64] {
	one := weight(share.CheckWeightOrNone)
	return named(what, check, maxGroups, object{"type": "number", "minimum": 0}, one.read,
		func(v float64) *node { return word(fmt.Sprint(v)) })
}

// BridgeGroup is a fair-share group.
type BridgeGroup struct {
	Name   string
	Weight float64
	Pools  []string
}

const (
	maxGroups       = 1000
	maxBridgeLevels = maxGroups + 2
)

var groupTable = &table{name: "group", doc: "One group of `groups`.", fields: []field{
	of("weight", "1", "The groups divide the benefit in proportion to their weights. 0: only jobs without benefit go to the front.",
		weight(share.CheckWeightOrNone), func(g *BridgeGroup) *float64 { return &g.Weight }),
	unless("the pool of the same name",
		of("pools", "", "The pools whose jobs belong to the group, with the pools below them. If two paths match a job, the longer path decides.",
			poolPaths, func(g *BridgeGroup) *[]string { return &g.Pools })),
}}

package fairlead

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// checkGang brings the number of tasks up to date from Gang. A gang of one is none.
func (j *Job) checkGang() error {
	switch {
	case j.Gang < 0 || j.Gang > MaxGang:
		return invalid("gang", "the tasks that start all at once must be from 1 to %d, got %d", MaxGang, j.Gang)
	case j.Gang <= 1:
		j.Gang, j.Spread = 0, false
		return nil
	case j.Array != "":
		return invalid("gang", "a job is either an array, whose tasks start one by one, or has %d tasks that start all at once; submit one job for each of them", j.Gang)
	case j.Most > 0:
		return invalid("most", "a job whose %d tasks start all at once cannot run fewer of them", j.Gang)
	}
	j.Tasks = j.Gang
	return nil
}

// gangNever says why the nodes that are known could never run a gang, one task of which
// some of them could, and what they could; "" if they could run it.
func gangNever(c *cluster.Cluster, h Header, a cluster.Amounts, must cluster.Constraint) string {
	if h.Gang < 2 {
		return ""
	}
	nodes, tasks := c.Holds(a, must)
	each := Request(h.Request, c.Unit())
	switch {
	case h.Spread && nodes < h.Gang:
		text := fmt.Sprintf("it asks for %d nodes with %s, and there are %d%s: use -N %d", h.Gang, each, nodes, atOne(c), nodes)
		if smaller := forSo(c, h, a, must); smaller != "" && atOne(c) == "" {
			text += ", or ask for " + smaller + " on each"
		}
		return text
	case !h.Spread && tasks < int64(h.Gang):
		return fmt.Sprintf("it asks for %d tasks with %s at once, and there is room for %d%s: use -n %d", h.Gang, each, tasks, atOne(c), tasks)
	}
	return ""
}

// atOne says that a gang runs at one server, where there are several.
func atOne(c *cluster.Cluster) string {
	if slices.ContainsFunc(c.Nodes(), func(n cluster.Node) bool { return n.Server != "" }) {
		return " at one server, where all of them have to run"
	}
	return ""
}

// forSo is how much of one resource there is on as many nodes as the gang has tasks, if that
// resource alone is in the way.
func forSo(c *cluster.Cluster, h Header, a cluster.Amounts, must cluster.Constraint) string {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if ability(name) {
			continue
		}
		var have []int64
		for i := range c.Nodes() {
			n := &c.Nodes()[i]
			if has, fits := besides(c, n, a, name); fits && must.Allows(n.Labels) {
				have = append(have, has)
			}
		}
		slices.Sort(have)
		if i := len(have) - h.Gang; i >= 0 && have[i] > 0 && have[i] < a[name] {
			return amount(name, have[i])
		}
	}
	return ""
}

// besides is how much a node has of a resource, and whether it has enough of all others.
func besides(c *cluster.Cluster, n *cluster.Node, a cluster.Amounts, resource string) (has int64, fits bool) {
	all := c.Amounts(n.Capacity)
	for name, need := range cluster.WithTypes(a) {
		if name != resource && all[name] < need {
			return 0, false
		}
	}
	return all[resource], true
}

// gangNeverText says why a gang does not fit on the nodes that are there, if one task does; ""
// for other jobs.
func (l *Loop) gangNeverText(h Header) string {
	if h.Gang < 2 {
		return ""
	}
	a, must := l.requestOf(h)
	if !l.core.Cluster().Ever(a, must) {
		return ""
	}
	if text := gangNever(l.core.Cluster(), h, a, must); text != "" {
		return text
	}
	return fmt.Sprintf("of the nodes that its %d tasks need at once, some are down", h.Gang)
}

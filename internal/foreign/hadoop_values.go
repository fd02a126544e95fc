package foreign

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// hadoop reads the allocation file of the fair scheduler: of the first one, which came with HADOOP-3746, and
// of YARN's.
type hadoop struct {
	notes
	can  Features
	root *pool
	old  bool // the file contains words that only the first scheduler knows

	base          string // the policy for Hadoop's fair
	policy        string
	maxRes        *element // for queues without one
	maxApps       *element
	users         []*element
	placement     *element
	lists         []submitList
	drf, timeouts bool // the file uses them
}

// submitList is the setting aclSubmitApps of a queue.
type submitList struct {
	pool *pool
	e    *element
	who  []string
}

func (h *hadoop) weight(p *pool, e *element) {
	w, err := strconv.ParseFloat(e.text, 64)
	switch {
	case err != nil:
		h.add(e.line, p.where, e.name, e.text, Left, "it is not a number, so the weight is 1")
	case w == 0:
		p.weight = leftovers
		h.add(e.line, p.where, e.name, e.text, Changed,
			"a weight must be above 0 here; with %s the pool gets little more than other pools leave unused", leftovers)
	case share.CheckWeight(w) != nil:
		h.add(e.line, p.where, e.name, e.text, Left, "%v, so it is 1", share.CheckWeight(w))
	default:
		p.weight = strconv.FormatFloat(w, 'f', -1, 64)
		h.add(e.line, p.where, e.name, e.text, Taken, "")
	}
}

// resources reads minResources or maxResources.
func (h *hadoop) resources(p *pool, e *element, to *map[string]int64) {
	known, ok := h.amounts(p.where, e)
	if !ok {
		return
	}
	zero := false
	for _, resource := range slices.Sorted(maps.Keys(known)) {
		if known[resource] == 0 { // no guarantee; as a maximum it would keep all tasks from running
			delete(known, resource)
			zero = true
		}
	}
	*to = known
	_, memory := known["mem"]
	switch {
	case e.name == "minResources" && memory:
		h.add(e.line, p.where, e.name, e.text, Changed,
			"a task holds only the memory that it asks for (submit --mem). If tasks of this pool ask for no memory, remove mem from min: otherwise the pool stays below its minimum forever")
	case zero && e.name != "minResources":
		h.add(e.line, p.where, e.name, e.text, Changed,
			"0 is converted to no limit; to let the pool run nothing, set max_running: 0")
	default:
		h.add(e.line, p.where, e.name, e.text, Taken, "")
	}
}

// amounts reads amounts of resources. If it cannot convert them, it reports the setting as left out.
func (h *hadoop) amounts(where string, e *element) (map[string]int64, bool) {
	all, err := resources(e.text)
	if err != nil {
		h.add(e.line, where, e.name, e.text, Left, "%v", err)
		return nil, false
	}
	known, unknown := solve(all, h.can.Capacity)
	if len(unknown) > 0 {
		h.add(e.line, where, e.name, e.text, Left,
			"amounts are absolute here; give the capacity of the cluster, e.g. --capacity cpu=100,mem=400G, and import again (unknown: %s)", strings.Join(unknown, ", "))
		return nil, false
	}
	return known, true
}

// slots reads a number of map or reduce slots. Both kinds are resources here, because each has its own
// minima.
func (h *hadoop) slots(p *pool, e *element, to *map[string]int64) {
	n, ok := h.count(p.where, e)
	if !ok {
		return
	}
	resource := map[bool]string{true: "map", false: "reduce"}[strings.HasSuffix(e.name, "Maps")]
	if *to == nil {
		*to = map[string]int64{}
	}
	if n > 0 || e.name[:3] == "max" {
		(*to)[resource] = int64(n)
	}
	h.add(e.line, p.where, e.name, e.text, Changed,
		"these slots are the resource %s here: agents offer it (fairlead work --resource %[1]s=N), and tasks ask for it (submit --request %[1]s=1)", resource)
}

// count reads a number of jobs or slots.
func (h *hadoop) count(where string, e *element) (int, bool) {
	n, err := strconv.Atoi(e.text)
	if err != nil || n < 0 || n > 1_000_000_000 {
		if n, err := strconv.Atoi(e.text); err == nil && n == math.MaxInt32 {
			h.add(e.line, where, e.name, e.text, Needless, "it means no limit")
			return 0, false
		}
		h.add(e.line, where, e.name, e.text, Left, "it is not a whole number of at least 0")
		return 0, false
	}
	return n, true
}

// policyOf reads a policy; "" means fair.
func (h *hadoop) policyOf(where string, e *element) (policy string, ok bool) {
	name := strings.ToLower(e.text)
	name = strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "policy")
	switch name {
	case "fair", "fairshare":
		h.add(e.line, where, e.name, e.text, Taken, "")
		return "", true
	case "fifo":
		h.add(e.line, where, e.name, e.text, Taken, "")
		return "fifo", true
	case "drf", "dominantresourcefairness":
		if h.can.Policies["drf"] {
			h.add(e.line, where, e.name, e.text, Taken, "")
			return "drf", true
		}
		h.drf = true
		h.add(e.line, where, e.name, e.text, Changed,
			"shares are counted in one resource, unit, and not in the dominant resource of each pool; min and max apply to each resource")
		return "", true
	}
	h.add(e.line, where, e.name, e.text, Left, "there is no such policy; policies here: %s",
		strings.Join(slices.Sorted(maps.Keys(h.can.Policies)), ", "))
	return "", false
}

// leftovers is the weight that a queue with weight 0 gets here: next to nothing, because in Hadoop it gets
// only the resources that others leave.
const leftovers = "0.0001"

package foreign

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// hadoop reads the allocation file of the fair scheduler: of the first one, which came
// with HADOOP-3746, and of YARN's.
type hadoop struct {
	notes
	can  Features
	root *pool
	old  bool // there are words that only the first one has

	base          string // what fair is called here
	policy        string
	maxRes        *element // of queues without one
	maxApps       *element
	users         []*element
	placement     *element
	drf, timeouts bool // they occur
}

func readHadoop(name, text string, can Features) (*Result, error) {
	top, err := readXML(text)
	if err != nil {
		return nil, err
	}
	switch top.name {
	case "allocations":
	case "configuration":
		return nil, &Error{Line: top.line, Msg: "this is a file of properties; the allocation file is the one that yarn.scheduler.fair.allocation.file" +
			" names (mapred.fairscheduler.allocation.file in the first Hadoop); queues of the capacity scheduler are not read"}
	default:
		return nil, &Error{Line: top.line, Msg: fmt.Sprintf("the outermost element is <%s>; that of an allocation file is <allocations>", plainText(top.name, 40))}
	}
	h := &hadoop{can: can, root: newRoot("queue root")}
	h.old = has(top, "minMaps", "minReduces", "maxMaps", "maxReduces", "maxRunningJobs", "poolMaxJobsDefault", "userMaxJobsDefault")
	if h.base = "fair"; h.old && can.Policies["deficit"] {
		h.base = "deficit"
	}
	h.policy = h.base
	for _, e := range top.children {
		h.top(e)
	}
	h.defaults()
	d := &document{policy: h.policy, root: h.root}
	h.place(d)
	h.root.reconcile(&h.notes)
	h.patience()
	d.head = h.head(name)
	return &Result{From: Hadoop, YAML: d.yaml(), Items: h.finish()}, nil
}

// has reports whether an element of one of the names occurs in e.
func has(e *element, names ...string) bool {
	return slices.ContainsFunc(e.children, func(c *element) bool { return slices.Contains(names, c.name) || has(c, names...) })
}

// top reads an element of the outermost level.
func (h *hadoop) top(e *element) {
	const all = "all queues"
	switch e.name {
	case "queue", "pool":
		h.queue(h.root, e)
	case "user":
		h.users = append(h.users, e)
	case "queuePlacementPolicy":
		h.placement = e
	case "queueMaxAppsDefault", "poolMaxJobsDefault":
		h.maxApps = e
	case "queueMaxResourcesDefault":
		h.maxRes = e
	case "defaultQueueSchedulingPolicy", "defaultQueueSchedulingMode", "defaultPoolSchedulingMode":
		if policy, ok := h.policyOf(all, e); ok {
			h.policy = cmp.Or(policy, h.base)
		}
	case "defaultMinSharePreemptionTimeout":
		h.timeout(h.root, all, e, &h.root.reclaim.minAfter)
	case "defaultFairSharePreemptionTimeout", "fairSharePreemptionTimeout":
		h.timeout(h.root, all, e, &h.root.reclaim.shareAfter)
	case "defaultFairSharePreemptionThreshold":
		h.threshold(h.root, all, e)
	default:
		h.other(all, e)
	}
}

// queue reads a queue with all below it.
func (h *hadoop) queue(above *pool, e *element) {
	name := e.attr("name")
	where := "queue " + plainText(name, 60)
	if above.isRoot() && strings.EqualFold(name, "root") {
		h.settings(above, e)
		return
	}
	if name == "" {
		h.add(e.line, "a queue", "name", "", Left, "it has none, so there is no pool for it")
		return
	}
	if above.named[share.CleanName(name)] != nil {
		h.add(e.line, where, "queue", "", Left, "a queue of this name is there already, from line %d; merge the two by hand", above.named[share.CleanName(name)].line)
		return
	}
	p := above.add(name, where, e.line)
	if p == nil {
		h.add(e.line, where, "queue", "", Left, "pools are nested at most %d deep, so it and all below it have none; move it up", share.MaxDepth)
		return
	}
	if p.name != name {
		h.add(e.line, where, "name", name, Changed, "the pool is called %s, as names hold letters, digits and . _ - @ + = only", p.name)
	} else {
		h.add(e.line, where, "queue", "", Taken, "")
	}
	p.parent = e.attr("type") == "parent"
	h.settings(p, e)
}

func (h *hadoop) settings(p *pool, e *element) {
	for _, c := range e.children {
		if c.name == "queue" || c.name == "pool" {
			p.parent = true
			h.queue(p, c)
			continue
		}
		if p.isRoot() {
			h.rootSetting(p, c)
		} else {
			h.setting(p, c)
		}
	}
}

// rootSetting reads a setting of the queue root, which is the file as a whole here.
func (h *hadoop) rootSetting(p *pool, e *element) {
	switch e.name {
	case "weight":
		h.add(e.line, p.where, e.name, e.text, Needless, "nothing is beside it")
	case "minResources", "maxResources", "maxRunningApps", "maxRunningJobs":
		h.add(e.line, p.where, e.name, e.text, Left, "the root has no limits here; limit what the agents offer (fairlead work --cpus, --mem), or put the pools below one pool that has the limit")
	case "schedulingPolicy", "schedulingMode":
		if policy, ok := h.policyOf(p.where, e); ok {
			h.policy = cmp.Or(policy, h.base)
		}
	default:
		h.setting(p, e)
	}
}

// setting reads one setting of a queue.
func (h *hadoop) setting(p *pool, e *element) {
	switch e.name {
	case "weight":
		h.weight(p, e)
	case "minResources":
		h.resources(p, e, &p.min)
	case "maxResources":
		h.resources(p, e, &p.max)
	case "minMaps", "minReduces":
		h.slots(p, e, &p.min)
	case "maxMaps", "maxReduces":
		h.slots(p, e, &p.max)
	case "maxRunningApps", "maxRunningJobs":
		if n, ok := h.count(p.where, e); ok {
			p.running = n
			h.add(e.line, p.where, e.name, e.text, Changed, "max_running: %d counts tasks; a job that has several counts as many", n)
		}
	case "schedulingPolicy", "schedulingMode":
		if policy, ok := h.policyOf(p.where, e); ok {
			p.policy = cmp.Or(policy, h.base)
		}
	case "minSharePreemptionTimeout":
		h.timeout(p, p.where, e, &p.reclaim.minAfter)
	case "fairSharePreemptionTimeout":
		h.timeout(p, p.where, e, &p.reclaim.shareAfter)
	case "fairSharePreemptionThreshold":
		h.threshold(p, p.where, e)
	case "allowPreemptionFrom":
		h.exempt(p, e)
	default:
		h.other(p.where, e)
	}
}

// leftovers is the weight of a queue with the weight 0, which is served from what the
// others leave: next to nothing.
const leftovers = "0.0001"

func (h *hadoop) weight(p *pool, e *element) {
	w, err := strconv.ParseFloat(e.text, 64)
	switch {
	case err != nil:
		h.add(e.line, p.where, e.name, e.text, Left, "it is not a number, so the weight is 1")
	case w == 0:
		p.weight = leftovers
		h.add(e.line, p.where, e.name, e.text, Changed, "a weight is above 0 here; with %s it gets next to nothing but what the others leave", leftovers)
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
		if known[resource] == 0 { // nothing is guaranteed, or else nothing could ever run
			delete(known, resource)
			zero = true
		}
	}
	*to = known
	_, memory := known["mem"]
	switch {
	case e.name == "minResources" && memory:
		h.add(e.line, p.where, e.name, e.text, Changed, "a task has the memory that it asks for (submit --mem), which may be none; take mem out of min if those of this pool ask for none, as it would be below its minimum for ever")
	case zero && e.name != "minResources":
		h.add(e.line, p.where, e.name, e.text, Changed, "an amount of 0 is taken for no limit; with max_running: 0 a pool runs nothing")
	default:
		h.add(e.line, p.where, e.name, e.text, Taken, "")
	}
}

// amounts reads amounts of resources; what it cannot is noted.
func (h *hadoop) amounts(where string, e *element) (map[string]int64, bool) {
	all, err := resources(e.text)
	if err != nil {
		h.add(e.line, where, e.name, e.text, Left, "%v", err)
		return nil, false
	}
	known, unknown := solve(all, h.can.Capacity)
	if len(unknown) > 0 {
		h.add(e.line, where, e.name, e.text, Left, "amounts are absolute here; say what there is, e.g. --capacity cpu=100,mem=400G, and import again (unknown: %s)", strings.Join(unknown, ", "))
		return nil, false
	}
	return known, true
}

// slots reads a number of map or reduce slots. They are resources here, as the two
// kinds have minima of their own.
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
	h.add(e.line, p.where, e.name, e.text, Changed, "slots are the resource %s here: agents offer it (fairlead work --resource %[1]s=N), tasks ask for it (submit --request %[1]s=1)", resource)
}

// count reads a number of jobs or slots.
func (h *hadoop) count(where string, e *element) (int, bool) {
	n, err := strconv.Atoi(e.text)
	if err != nil || n < 0 || n > 1_000_000_000 {
		if n, err := strconv.Atoi(e.text); err == nil && n == math.MaxInt32 {
			h.add(e.line, where, e.name, e.text, Needless, "it is no limit")
			return 0, false
		}
		h.add(e.line, where, e.name, e.text, Left, "it is not a whole number from 0 on")
		return 0, false
	}
	return n, true
}

// policyOf reads a policy; "" is fair.
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
		h.add(e.line, where, e.name, e.text, Changed, "shares are counted in one resource, that of unit, and not in the dominant one of each; minima and maxima hold for each resource")
		return "", true
	}
	h.add(e.line, where, e.name, e.text, Left, "there is no such policy; known here: %s", strings.Join(slices.Sorted(maps.Keys(h.can.Policies)), ", "))
	return "", false
}

package foreign

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/share"
)

func readHadoop(name, text string, can Features) (*Result, error) {
	top, err := readXML(text)
	if err != nil {
		return nil, err
	}
	switch top.name {
	case "allocations":
	case "configuration":
		return nil, &Error{Line: top.line, Msg: "this is a file of properties; import the allocation file, which yarn.scheduler.fair.allocation.file" +
			" names (mapred.fairscheduler.allocation.file in Hadoop 1); queues of the capacity scheduler cannot be imported"}
	default:
		return nil, &Error{Line: top.line, Msg: fmt.Sprintf(
			"the root element is <%s>, but an allocation file begins with <allocations>", plainText(top.name, 40))}
	}
	h := &hadoop{can: can, root: newRoot("queue root")}
	h.old = has(top, "minMaps", "minReduces", "maxMaps", "maxReduces", "maxRunningJobs", "poolMaxJobsDefault",
		"userMaxJobsDefault")
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
	h.access(d)
	h.root.reconcile(&h.notes)
	h.patience()
	d.head = h.head(name)
	return &Result{From: Hadoop, YAML: d.yaml(), Items: h.finish()}, nil
}

// has reports whether an element with one of the names occurs in e.
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

// queue reads a queue with everything below it.
func (h *hadoop) queue(above *pool, e *element) {
	name := e.attr("name")
	where := "queue " + plainText(name, 60)
	if above.isRoot() && strings.EqualFold(name, "root") {
		h.settings(above, e)
		return
	}
	if name == "" {
		h.add(e.line, "a queue", "name", "", Left, "the queue has no name, so it becomes no pool")
		return
	}
	if above.named[nameOf(name)] != nil {
		h.add(e.line, where, "queue", "", Left, "line %d has a queue of the same name; merge the two by hand",
			above.named[nameOf(name)].line)
		return
	}
	p := above.add(name, where, e.line)
	if p == nil {
		h.add(e.line, where, "queue", "", Left,
			"pools can be nested at most %d deep, so this pool and the pools below it are left out; move this pool "+
				"up", share.MaxDepth)
		return
	}
	if p.name != name {
		h.add(e.line, where, "name", name, Changed,
			"the pool is called %s, because names hold only letters, digits and . _ - @ + =", p.name)
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

// rootSetting reads a setting of the queue root, which is the whole file here.
func (h *hadoop) rootSetting(p *pool, e *element) {
	switch e.name {
	case "weight":
		h.add(e.line, p.where, e.name, e.text, Needless, "the root has no siblings")
	case "minResources", "maxResources", "maxRunningApps", "maxRunningJobs":
		h.add(e.line, p.where, e.name, e.text, Left,
			"the root has no limits here; limit the resources that agents offer (fairlead work --cpus, --mem), or put all pools below one pool with this limit")
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
	case "aclSubmitApps":
		h.submitters(p, e)
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
			h.add(e.line, p.where, e.name, e.text, Changed,
				"max_running: %d counts tasks: a job of several tasks counts several times", n)
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

package foreign

import (
	"maps"

	"github.com/fairlead/fairlead/internal/units"
)

// unused are settings of queues without a counterpart, with the alternatives.
var unused = map[string]string{
	"maxContainerAllocation":    "a pool does not limit the request of one task alone; submit refuses a task that fits no node",
	"maxChildResources":         "pools that are made on demand have no limits; if a pool needs one, name it in the file",
	"aclAdministerApps":         "name the operators of the pool in access.operator, such as [{user: ann, below: etl}]",
	"aclAdministerReservations": "set min for a constant need, or reserve nodes for a time with fairlead reserve",
	"aclListReservations":       "set min for a constant need, or reserve nodes for a time with fairlead reserve",
	"aclSubmitReservations":     "set min for a constant need, or reserve nodes for a time with fairlead reserve",
	"reservation":               "set min for a constant need, or reserve nodes for a time with fairlead reserve",
	"userMaxAppsDefault":        "set user_limits.running for all pools together, or give the pool of each user a max_running",
	"userMaxJobsDefault":        "set user_limits.running for all pools together, or give the pool of each user a max_running",
}

// needless are settings of features that do not exist here.
var needless = map[string]string{
	"maxAMShare":             "jobs here have no application masters",
	"queueMaxAMShareDefault": "jobs here have no application masters",
	"reservation-agent":      "it belongs to YARN's own reservation system",
	"reservation-policy":     "it belongs to YARN's own reservation system",
	"reservation-planner":    "it belongs to YARN's own reservation system",
}

// other reports a setting that is not converted.
func (h *hadoop) other(where string, e *element) {
	value := e.text
	if len(e.children) > 0 {
		value = ""
	}
	switch {
	case needless[e.name] != "":
		h.add(e.line, where, e.name, value, Needless, "%s", needless[e.name])
	case unused[e.name] != "":
		h.add(e.line, where, e.name, value, Left, "%s", unused[e.name])
	default:
		h.add(e.line, where, e.name, value, Left, "unknown setting; Hadoop ignores it, too")
	}
}

// defaults gives the queues their default settings.
func (h *hadoop) defaults() {
	if e := h.maxApps; e != nil {
		if n, ok := h.count("all queues", e); ok {
			given := 0
			h.root.all(func(p *pool) {
				if p.running < 0 {
					p.running = n
					given++
				}
			})
			h.add(e.line, "all queues", e.name, e.text, Changed,
				"max_running: %d for %s without a limit; it counts tasks, and does not apply to pools that are made on demand", n, units.Plural(given, "pool"))
		}
	}
	if e := h.maxRes; e != nil {
		if known, ok := h.amounts("all queues", e); ok {
			maps.DeleteFunc(known, func(_ string, v int64) bool { return v == 0 })
			given := 0
			h.root.all(func(p *pool) {
				if p.max == nil {
					p.max = maps.Clone(known)
					given++
				}
			})
			h.add(e.line, "all queues", e.name, e.text, Changed,
				"max for %s without a limit; it does not apply to pools that are made on demand", units.Plural(given, "pool"))
		}
	}
}

// head explains the decisions in a comment on top of the configuration.
func (h *hadoop) head(name string) []string {
	generation := "YARN's fair scheduler"
	if h.old {
		generation = "Hadoop's first fair scheduler"
	}
	head := []string{"Converted from " + plainText(name, 200) + ", an allocation file of " + generation +
		", by fairlead config import. The report of that command lists the differences."}
	switch {
	case h.policy == "deficit":
		head = append(head, "deficit is the policy of that scheduler: a freed slot goes to the pool that is furthest behind. Within a pool the higher priority goes first; at equal priority, the earlier job. To divide a pool among its users, give each user a pool below it.")
	case h.old:
		head = append(head, "fair first serves the pool that received least for its weight. That scheduler first served the pool that was furthest behind. Over time the shares are the same. Within a pool the higher priority goes first; at equal priority, the earlier job. To divide a pool among its users, give each user a pool below it.")
	case h.policy == "drf":
		head = append(head, "drf compares the running tasks of a pool in its dominant resource, as YARN's drf does. Within a pool the higher priority goes first; at equal priority, the earlier job. To divide a pool among its users, give each user a pool below it.")
	default:
		head = append(head, "YARN compares the memory of running tasks. fair also counts past usage, which decays with half_life. It counts the resource that unit names: cpu by default; for memory, set unit: mem. Within a pool the higher priority goes first; at equal priority, the earlier job. To divide a pool among its users, give each user a pool below it.")
	}
	if h.old {
		head = append(head, "Within a pool, jobs of a higher priority go first. To divide a pool by the weights of the priorities, as that scheduler did, set priorities_as: weights.")
	}
	if h.drf {
		head = append(head, "This version has no policy drf: choose the scarcest resource as unit.")
	}
	head = append(head, "access says who may submit into the pools. Hadoop's root queue is open to everybody, and so are all queues below it, unless its aclSubmitApps names others.")
	if h.timeouts {
		head = append(head, "reclaim stops running tasks. In Hadoop it is off, whatever the timeouts, unless yarn.scheduler.fair.preemption (mapred.fairscheduler.preemption) is true. If it was off, remove the lines with reclaim.")
	}
	return head
}

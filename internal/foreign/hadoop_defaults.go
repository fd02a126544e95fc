package foreign

import (
	"maps"
	"strings"

	"github.com/fairlead/fairlead/internal/units"
)

// unused are settings of queues without a counterpart, with the alternatives.
var unused = map[string]string{
	"maxContainerAllocation":    "the request of one task is not limited by its pool; a task that fits no node waits, and submit says so",
	"maxChildResources":         "pools that are made on demand have no limits; name pools that need one in the file",
	"aclSubmitApps":             "who may submit to which pool is not checked in this version; send users to their pools by placement",
	"aclAdministerApps":         "who may administer a pool is not configured; users cancel their own jobs, root those of all",
	"aclAdministerReservations": "reservations of a queue are not imported: guarantee a min for constant needs, and keep nodes for a time with fairlead reserve",
	"aclListReservations":       "reservations of a queue are not imported: guarantee a min for constant needs, and keep nodes for a time with fairlead reserve",
	"aclSubmitReservations":     "reservations of a queue are not imported: guarantee a min for constant needs, and keep nodes for a time with fairlead reserve",
	"reservation":               "reservations of a queue are not imported: guarantee a min for constant needs, and keep nodes for a time with fairlead reserve",
	"userMaxAppsDefault":        "a user has no limit of their own; give the pool of each user a max_running",
	"userMaxJobsDefault":        "a user has no limit of their own; give the pool of each user a max_running",
}

// needless are settings of features that do not exist here.
var needless = map[string]string{
	"maxAMShare":             "there are no application masters",
	"queueMaxAMShareDefault": "there are no application masters",
	"reservation-agent":      "there are no reservations",
	"reservation-policy":     "there are no reservations",
	"reservation-planner":    "there are no reservations",
}

// other reports a setting that is not taken over.
func (h *hadoop) other(where string, e *element) {
	value := e.text
	if len(e.children) > 0 {
		value = ""
	}
	switch {
	case e.name[:min(3, len(e.name))] == "acl" && strings.TrimSpace(value) == "*":
		h.add(e.line, where, e.name, value, Needless, "everybody may")
	case needless[e.name] != "":
		h.add(e.line, where, e.name, value, Needless, "%s", needless[e.name])
	case unused[e.name] != "":
		h.add(e.line, where, e.name, value, Left, "%s", unused[e.name])
	default:
		h.add(e.line, where, e.name, value, Left, "unknown setting; Hadoop ignores it as well")
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
				"max_running: %d for %s without a limit of their own; it counts tasks, and pools that are made on demand do not have it", n, units.Plural(given, "pool"))
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
				"max for %s without one of their own; pools that are made on demand do not have it", units.Plural(given, "pool"))
		}
	}
}

// head explains the decisions in a comment on top of the configuration.
func (h *hadoop) head(name string) []string {
	generation := "YARN's fair scheduler"
	if h.old {
		generation = "Hadoop's first fair scheduler"
	}
	head := []string{"Taken over from " + plainText(name, 200) + ", an allocation file of " + generation +
		", by fairlead config import. The report that came with it says what differs."}
	switch {
	case h.policy == "deficit":
		head = append(head, "deficit is the policy of that scheduler: a freed slot goes to the pool that is owed most. Within a pool the higher priority goes first; at equal priority, the earlier job. To divide a pool among its users, give each user a pool below it.")
	case h.old:
		head = append(head, "fair serves the pool first that received least for its weight, where that scheduler served the one that was owed most; the shares come to the same. Within a pool the higher priority goes first; at equal priority, the earlier job. To divide a pool among its users, give each user a pool below it.")
	case h.policy == "drf":
		head = append(head, "drf compares the running tasks of a queue in its dominant resource, as YARN's does. Within a pool the higher priority goes first; at equal priority, the earlier job. To divide a pool among its users, give each user a pool below it.")
	default:
		head = append(head, "YARN compares the memory of running tasks; fair also counts past usage, with half_life, and in the resource that unit names (cpu by default; unit: mem for memory). Within a pool the higher priority goes first; at equal priority, the earlier job. To divide a pool among its users, give each user a pool below it.")
	}
	if h.old {
		head = append(head, "The priorities of jobs are an order here, in which the higher goes first. priorities_as: weights divides a pool by their weights, as that scheduler divided among jobs.")
	}
	if h.drf {
		head = append(head, "drf is not there: choose the scarcest resource as unit.")
	}
	if h.timeouts {
		head = append(head, "reclaim stops running tasks. In Hadoop it is off, whatever the timeouts, unless yarn.scheduler.fair.preemption (mapred.fairscheduler.preemption) is true: if it was off, take the lines with reclaim out.")
	}
	return head
}

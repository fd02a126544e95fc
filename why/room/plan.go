package room

import (
	"fmt"
	"slices"
	"time"
)

// Plan has the numbers from which a planned start follows.
type Plan struct {
	At    time.Time        `json:"at"`
	Need  map[string]int64 `json:"need"` // of one task of the job
	Nodes []Node           `json:"nodes"`
	// Also names what else the start depends on, such as licenses. In that case these numbers do not suffice to show
	// that there is no earlier start.
	Also string `json:"also,omitempty"`
	// Behind is the job that is held back by the planned start, in an answer about that job.
	Behind *Behind `json:"behind,omitempty"`
}

// Node is one of the nodes of a planned start.
type Node struct {
	Name  string           `json:"name"`
	Tasks int64            `json:"tasks"` // of the job that start there
	Has   map[string]int64 `json:"has"`   // capacity
	Uses  []Use            `json:"uses,omitempty"`
}

// Use is a running task of a job, or another planned start.
type Use struct {
	Job       int64            `json:"job"`
	From      *time.Time       `json:"from,omitempty"` // of a planned start
	Until     time.Time        `json:"until"`          // planned end
	Takes     map[string]int64 `json:"takes"`
	Predicted bool             `json:"predicted,omitempty"` // Until is predicted
	// Late means that the task was planned to end before now. It is assumed to end when the room begins.
	Late bool `json:"late,omitempty"`
}

// Behind is a task of a job that a planned start holds back: the request of the task, and for how long the
// task may use the room.
type Behind struct {
	Need    map[string]int64 `json:"need"`
	Seconds float64          `json:"seconds"`
	// From is the instant from which the room is taken. It is earlier than the planned start if nodes are held that
	// become free later.
	From time.Time `json:"from"`
	// Lasting means that the start of the other job is a promise, and that this task, or others there, have no time
	// limit. No prediction may break the promise, so tasks with predicted ends count as if they continued.
	Lasting bool `json:"lasting,omitempty"`
}

// lacks names a resource if the node has too little of it for the tasks of the job throughout [from, to). From the
// instant "freed" on, late tasks count as ended.
func (n *Node) lacks(freed time.Time, need map[string]int64, from, to time.Time) string {
	at := []time.Time{from}
	for i := range n.Uses {
		if f := n.Uses[i].From; f != nil && f.After(from) && f.Before(to) {
			at = append(at, *f)
		}
	}
	for _, t := range at {
		for resource, one := range need {
			if free, asked := n.free(freed, resource, t), one*n.Tasks; free < asked {
				return fmt.Sprintf("there are %d %s free at %s, and it needs %d", free, resource,
					t.Format("15:04:05.000"), asked)
			}
		}
	}
	return ""
}

// free is the amount of a resource that no use takes at an instant.
func (n *Node) free(freed time.Time, resource string, t time.Time) int64 {
	free := n.Has[resource]
	for i := range n.Uses {
		u, until := &n.Uses[i], n.Uses[i].Until
		if u.Late {
			until = freed
		}
		if (u.From == nil || !u.From.After(t)) && until.After(t) {
			free -= u.Takes[resource]
		}
	}
	return free
}

// Earliest returns the first instant from which all nodes have the room for the given length. The flag "late" means
// that tasks that were planned to end before now still run there. Their ends are unknown, and the instant ignores them.
func (p *Plan) Earliest(length time.Duration) (first time.Time, late, found bool) {
	at := []time.Time{p.At}
	for i := range p.Nodes {
		for _, u := range p.Nodes[i].Uses {
			if late = late || u.Late; u.Until.After(p.At) {
				at = append(at, u.Until)
			}
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	for _, t := range at {
		if !slices.ContainsFunc(p.Nodes, func(n Node) bool { return n.lacks(t, p.Need, t, t.Add(length)) != "" }) {
			return t, late, true
		}
	}
	return time.Time{}, late, false
}

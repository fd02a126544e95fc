package room

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/units"
)

// Plan has the numbers by which a planned start can be recomputed.
type Plan struct {
	At    time.Time        `json:"at"`
	Need  map[string]int64 `json:"need"` // of one task of the job
	Nodes []Node           `json:"nodes"`
	// Also names what else the start depends on, such as licenses. Then nobody can recompute from these numbers that
	// there is no earlier start.
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

// Behind is what a task of a job asks for that is held back, and for how many seconds it may take it.
type Behind struct {
	Need    map[string]int64 `json:"need"`
	Seconds float64          `json:"seconds"`
	// From is when the room is taken, which is earlier than the planned start if nodes are held that become free later.
	From time.Time `json:"from"`
	// Lasting means that the start of the other job is a promise, and that this task has no time limit: no prediction
	// may break the promise, so that tasks with predicted ends count as if they went on.
	Lasting bool `json:"lasting,omitempty"`
}

// Check recomputes the planned start: at From and until To the nodes have what the job needs, beside all tasks and
// planned starts, and at no earlier instant do they have it for as long. If another job is held back, it checks that
// this job would take some of the room. It returns what was recomputed.
func (k *Kept) Check() (string, error) {
	p := k.Plan
	switch {
	case p == nil:
		return "not recomputed: the answer carries no evidence", nil
	case k.Overdue:
		return "not recomputed: tasks run for longer than predicted, and nobody knows when they end", nil
	}
	length, uses := k.To.Sub(k.From), 0
	for i := range p.Nodes {
		uses += len(p.Nodes[i].Uses)
		if lacks := p.Nodes[i].lacks(k.From, p.Need, k.From, k.To); lacks != "" {
			return "", fmt.Errorf("%s on %s", lacks, p.Nodes[i].Name)
		}
	}
	text := fmt.Sprintf("%s and planned starts on %s end so that there is room from then", units.Plural(uses, "task"),
		strings.Join(k.Nodes, ", "))
	if p.Behind != nil {
		held, err := k.holdsBack()
		return text + held, err
	}
	if p.Also != "" || k.Held {
		return text, nil
	}
	if at, _, found := p.Earliest(length); found && at.Before(k.From) {
		return "", fmt.Errorf("there is room from %s already", at.Format("15:04:05.000"))
	}
	return text + ", and not before", nil
}

// lacks names what a node has too little of for the tasks of the job throughout [from, to). Late tasks count as ended
// from freed on.
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
				return fmt.Sprintf("there are %d %s free at %s, and it needs %d", free, resource, t.Format("15:04:05.000"), asked)
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

// Earliest returns the first instant from which all nodes have the room for as long. late means that tasks that were
// planned to end before now still run there: when these will end is unknown, and the instant counts without them.
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

// holdsBack checks that the job behind fits now on a node where it would take some of the room.
func (k *Kept) holdsBack() (string, error) {
	p := k.Plan
	if p.Also != "" {
		return "", nil
	}
	end := p.At.Add(time.Duration(p.Behind.Seconds * float64(time.Second)))
	for i := range p.Nodes {
		n := p.Nodes[i].with(k, end)
		if n.lacks(k.From, p.Behind.Need, p.At, p.At) == "" && n.lacks(k.From, p.Behind.Need, p.At, end) != "" {
			until := "without an end"
			if p.Behind.Seconds < (300 * 24 * time.Hour).Seconds() {
				until = "until " + end.Format("15:04:05")
			}
			return fmt.Sprintf("; a task that starts now and runs %s would take some of it on %s", until, n.Name), nil
		}
	}
	return "", errors.New("a task that starts now would take none of the room")
}

// with returns the node with the room taken until the job behind ends, for one task of that job.
func (n *Node) with(k *Kept, end time.Time) Node {
	takes := map[string]int64{}
	for resource, one := range k.Plan.Need {
		takes[resource] = one * n.Tasks
	}
	w := Node{Name: n.Name, Tasks: 1, Has: n.Has, Uses: slices.Clone(n.Uses)}
	for i := range w.Uses {
		if u := &w.Uses[i]; u.Predicted && k.Plan.Behind.Lasting && u.Until.Before(end) {
			u.Until, u.Late = end, false
		}
	}
	until := k.To
	if k.Held && until.Before(end) {
		until = end
	}
	w.Uses = append(w.Uses, Use{Job: k.Job, From: &k.Plan.Behind.From, Until: until, Takes: takes})
	return w
}

package room

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Check recomputes the planned start. It checks that the nodes have the room that the job needs throughout the
// time between From and To, beside all tasks and planned starts. It also checks that they do not have this room
// for the same length of time at any earlier instant. If another job is held back, it checks that this job would
// take some of the room. It returns the result in words.
func (k *Kept) Check() (string, error) {
	p := k.Plan
	switch {
	case p == nil:
		return "not recomputed: the answer carries no evidence", nil
	case k.Overdue:
		return "not recomputed: tasks run for longer than predicted, so their ends are unknown", nil
	}
	length := k.To.Sub(k.From)
	for i := range p.Nodes {
		if lacks := p.Nodes[i].lacks(k.From, p.Need, k.From, k.To); lacks != "" {
			return "", fmt.Errorf("%s on %s", lacks, p.Nodes[i].Name)
		}
	}
	text := fmt.Sprintf("enough of the %s on %s end by then to make the room", p.uses(), strings.Join(k.Nodes, ", "))
	if p.Behind != nil {
		held, err := k.holdsBack()
		return text + held, err
	}
	if p.Also != "" || k.Held {
		return text, nil
	}
	at, late, found := p.Earliest(length)
	if late {
		return text, nil // the ends of the late tasks are unknown
	}
	if found && at.Before(k.From) {
		return "", fmt.Errorf("there is room from %s already", at.Format("15:04:05.000"))
	}
	return text + ", and not before", nil
}

// uses says how many tasks run on the nodes of the plan, and how many are planned to start there.
func (p *Plan) uses() string {
	running, planned := 0, 0
	for i := range p.Nodes {
		for k := range p.Nodes[i].Uses {
			if p.Nodes[i].Uses[k].From == nil {
				running++
			} else {
				planned++
			}
		}
	}
	if planned == 0 {
		return fmt.Sprintf("%d running tasks", running)
	}
	return fmt.Sprintf("%d running and %d planned tasks", running, planned)
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

// with returns the node after one task of the job behind has taken its room, until that job ends.
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

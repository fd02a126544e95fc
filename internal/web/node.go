package web

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/views"
	say "github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
)

// nodePage shows one machine: its resources, its running and ended tasks, and its plan.
var nodePage = &Page{Name: "node", Of: "machines", Path: "nodes/{id}", Seen: ByRole,
	Parts: []string{"head", "has", "plan", "running", "ended", "next"}, Load: loadNode}

// Node is the data of the page.
type Node struct {
	Machines
	Node    nodeRow
	Has     []resourceUse
	Running []history.NodeTask
	// Ended are the last tasks that ended there, the newest first. Failed and Lost count them.
	Ended        []history.NodeTask
	Failed, Lost int
	// More is how many other tasks ended there in that time.
	More int
}

// resourceUse is how much of a resource of a machine is in use.
type resourceUse struct {
	Name              string
	Used, Free, Total string
	Full              float64
	Endless           bool
}

// endedShown is the number of ended tasks on the page, and endedPast how far back they go.
const (
	endedShown = 50
	endedPast  = 24 * time.Hour
)

func loadNode(ctx context.Context, src Source, r *Request) (any, error) {
	nodes, err := src.Nodes.List(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(nodes.Nodes, func(n views.NodeView) bool { return n.Name == r.ID })
	if at < 0 {
		return nil, missing("no machine is called %.256q", r.ID)
	}
	n := &Node{Machines: Machines{Nodes: nodes, May: r.You.can(access.Nodes, access.Object{}), Limits: &api.Limits{}}}
	n.Node = nodeRow{&nodes.Nodes[at], nodes}
	n.Rows = []nodeRow{n.Node}
	n.resources()
	past := time.Duration(n.hours(r) * float64(time.Hour))
	tasks, err := src.Nodes.NumberedTasks(ctx, []string{r.ID}, max(past, endedPast))
	if err != nil {
		return nil, err
	}
	for _, t := range tasks.Tasks {
		if t.Ended == nil {
			n.Running = append(n.Running, t)
		}
		if t.Ended == nil || n.At.Sub(*t.Ended) <= past {
			n.Tasks = append(n.Tasks, t)
		}
	}
	n.ended(tasks.Tasks)
	shares, err := src.Pools.Shares(ctx, "")
	if err != nil {
		return nil, err
	}
	n.timeline(r, coloured(shares.Pools))
	return n, nil
}

// resources lists the resources of the machine by name, the unit first.
func (n *Node) resources() {
	names := slices.Sorted(maps.Keys(n.Node.Capacity))
	slices.SortStableFunc(names, func(a, b string) int { return unitLast(a, n.Unit) - unitLast(b, n.Unit) })
	for _, name := range names {
		u := resourceUse{Name: name, Endless: n.Node.Endless(name), Used: say.Amount(name, n.Node.InUse(name))}
		if u.Free, u.Total = say.Amount(name, n.Node.Free[name]), say.Amount(name, n.Node.Capacity[name]); u.Endless {
			u.Free, u.Total = "any amount", "any amount"
		}
		if total := n.Node.Capacity[name]; total > 0 && !u.Endless {
			u.Full = float64(n.Node.InUse(name)) / float64(total)
		}
		n.Has = append(n.Has, u)
	}
}

// unitLast is 0 for the unit of shares, and 1 for other resources.
func unitLast(name, unit string) int {
	if name == unit {
		return 0
	}
	return 1
}

// ended lists the last tasks that ended on the machine.
func (n *Node) ended(all []history.NodeTask) {
	for _, t := range all {
		if t.Ended != nil {
			n.Ended = append(n.Ended, t)
		}
	}
	slices.SortStableFunc(n.Ended, func(a, b history.NodeTask) int { return b.Ended.Compare(*a.Ended) })
	if len(n.Ended) > endedShown {
		n.Ended, n.More = n.Ended[:endedShown], len(n.Ended)-endedShown
	}
	for _, t := range n.Ended {
		switch t.State {
		case string(queue.Failed):
			n.Failed++
		case "lost":
			n.Lost++
		}
	}
}

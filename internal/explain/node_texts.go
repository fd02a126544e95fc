package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
)

// neverText says why no node could take a task even if the node were empty.
func neverText(s *engine.State, j *queue.Job, lacks []cluster.Lack) string {
	if len(lacks) == 0 {
		if text := gangNeverText(s, engine.HeaderOf(j)); text != "" {
			return text
		}
		if j.Constraint != "" || len(j.Avoid) > 0 {
			c := s.Core.Cluster()
			return engine.NeverSentence(c.Empty().Requirements(s.RequestOf(engine.HeaderOf(j))), len(c.Nodes()))
		}
		return "no node has everything that it asks for, even when empty"
	}
	parts := make([]string, len(lacks))
	for i, x := range lacks {
		switch kind, handler := strings.CutPrefix(x.Resource, queue.HandlerPrefix); {
		case handler:
			parts[i] = fmt.Sprintf("no connected program has a handler for the kind %q", kind)
		case x.Resource == queue.ExecResource:
			parts[i] = "no agent that runs commands is connected"
		case x.Largest == 0:
			parts[i] = fmt.Sprintf("it asks for %s, which no node has", units.Amount(x.Resource, x.Need))
		default:
			parts[i] = fmt.Sprintf("it asks for %s, and the largest node has %s", units.Amount(x.Resource, x.Need),
				units.Quantity(x.Resource, x.Largest))
		}
	}
	return strings.Join(parts, "; ")
}

// someNodeUp reports whether any node takes tasks.
func someNodeUp(s *engine.State) bool {
	return slices.ContainsFunc(s.Core.Cluster().Nodes(), func(n cluster.Node) bool { return n.State.Counts() })
}

// noNodesText says why no node takes tasks, naming the nodes that could run the job if there are any.
func noNodesText(s *engine.State, j *queue.Job, key cluster.Key) string {
	all := s.Core.Cluster().Nodes()
	if len(all) == 0 {
		return "no node has joined yet"
	}
	begin, nodes := "no node takes tasks: ", suitable(s, j, key)
	switch len(nodes) {
	case 0:
		nodes = all
	case len(all):
	default:
		begin = "no node takes tasks; of the suitable nodes, "
	}
	const most = 3
	var parts []string
	for i, n := range nodes {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(nodes)-most))
			break
		}
		text := n.Name + " is " + n.State.String()
		if cause := s.InForce.Drain(n.Name).Text(); cause != "" {
			text = n.Name + " is " + strings.Replace(cause, "maintenance", "in maintenance", 1)
		}
		parts = append(parts, text)
	}
	return begin + strings.Join(parts, ", ")
}

// suitable returns the nodes with the size and the labels for a task of a job, whatever their state.
func suitable(s *engine.State, j *queue.Job, key cluster.Key) (nodes []cluster.Node) {
	c := s.Core.Cluster()
	_, must := s.RequestOf(engine.HeaderOf(j))
	for i, n := range c.Nodes() {
		if c.Empty().Fit(cluster.NodeID(i), key) > 0 && must.Allows(n.Labels) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// gangNeverText says why a gang does not fit on the present nodes although one task does; "" for other jobs.
func gangNeverText(s *engine.State, h queue.Header) string {
	if h.Gang < 2 {
		return ""
	}
	a, must := s.RequestOf(h)
	if !s.Core.Cluster().Empty().Ever(a, must) {
		return ""
	}
	if text := engine.GangNever(s.Core.Cluster(), h, a, must); text != "" {
		return text
	}
	return fmt.Sprintf("some of the nodes that its %d tasks need at once are down", h.Gang)
}

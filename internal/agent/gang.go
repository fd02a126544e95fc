package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
)

// gang returns the variables that describe the gang of a task: everything that programs such as mpirun and
// torchrun must know. A task that started alone is a gang of one.
func (m *Machine) gang(l *api.Lease) map[string]string {
	nodes, rank := l.Nodes, l.Task
	if len(nodes) == 0 {
		nodes, rank = []string{m.options.Name}, 0
	}
	local := 0 // tasks of the gang on this node before this one
	for _, node := range nodes[:min(rank, len(nodes))] {
		if node == m.options.Name {
			local++
		}
	}
	return map[string]string{
		"FAIRLEAD_RANK": fmt.Sprint(rank), "FAIRLEAD_LOCAL_RANK": fmt.Sprint(local), "FAIRLEAD_TASKS": fmt.Sprint(len(nodes)),
		"FAIRLEAD_NODES": fmt.Sprint(len(distinct(nodes))), "FAIRLEAD_NODELIST": strings.Join(nodes, ","),
	}
}

// distinct returns the different names of a list, in the order in which they first appear.
func distinct(names []string) []string {
	known := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		before := known[name]
		known[name] = true
		return before
	})
}

// nodeID returns the index of the task's node among the nodes of its gang, from 0.
func nodeID(l *api.Lease) string {
	if l.Task >= len(l.Nodes) {
		return "0"
	}
	return fmt.Sprint(slices.Index(distinct(l.Nodes), l.Nodes[l.Task]))
}

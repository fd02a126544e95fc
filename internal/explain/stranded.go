package explain

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/engine"
)

// Stranded counts the waiting jobs that only the given node could run: if it took no tasks, none of the other nodes
// that take tasks could run them, even if empty.
func Stranded(s *engine.State, node string) int {
	at := slices.IndexFunc(s.Core.Cluster().Nodes(), func(n cluster.Node) bool { return n.Name == node })
	if at < 0 || !s.Core.Cluster().Nodes()[at].State.Counts() {
		return 0
	}
	fork := s.Core.Fork()
	before := len(roomlessJobs(s.With(fork)))
	fork.SetNode(cluster.NodeID(at), cluster.Drain, fork.Read().Instant())
	return len(roomlessJobs(s.With(fork))) - before
}

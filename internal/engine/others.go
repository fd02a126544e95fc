package engine

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// others is an engine's knowledge of the other servers of its store. Each server receives the others' starts and ends,
// and so counts all running tasks; it starts tasks only on its own nodes.
type others struct {
	shared bool // the store can have other servers
	roll   queue.Roll
	Nodes  map[string]peerNode // of the others, as the core knows them
	// doubts are the jobs with a task that the store did not grant: another server has it, or has claimed it. The feed
	// will resolve the doubt; if it does not, the engine asks the store.
	doubts map[int64]sched.Job
}

type peerNode struct {
	queue.ServedNode
	Server string
}

func newOthers(store queue.Store) others {
	_, shared := store.(queue.Peers)
	return others{shared: shared, Nodes: map[string]peerNode{}, doubts: map[int64]sched.Job{}}
}

// nodesOf returns the nodes of a roll, by name.
func nodesOf(r queue.Roll) map[string]peerNode {
	all := map[string]peerNode{}
	for _, s := range r.Others {
		for _, n := range s.Nodes {
			n.Seen = time.Time{}
			all[n.Name] = peerNode{n, s.Name}
		}
	}
	return all
}

// Record reports whether another server of a shared store records, for all servers, overrides that end by themselves.
func (p *others) Record() bool { return p.shared && !p.roll.Stops }

// Server returns the facts about another server.
func (p *others) Server(name string) queue.Server {
	for _, s := range p.roll.Others {
		if s.Name == name {
			return s
		}
	}
	return queue.Server{}
}

// peerState converts the announced state of another server's node.
func peerState(said string) cluster.State {
	for _, s := range []cluster.State{cluster.Drain, cluster.Down, cluster.Maintenance} {
		if said == s.String() {
			return s
		}
	}
	return cluster.Elsewhere
}

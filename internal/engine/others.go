package engine

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// others is what a loop knows of the other servers of its store. Each hears of the others'
// starts and ends, and so counts what all run; it starts tasks on its own nodes alone.
type others struct {
	shared bool // the store can have other servers
	roll   queue.Roll
	Nodes  map[string]peerNode // of the others, as the core knows them
	// doubts are the jobs with a task that the store did not grant: another server has it, or has
	// asked for it. The feed will tell, or the loop asks the store.
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

// nodesOf are the nodes of a roll.
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

// Record reports whether another of the servers that share a store records for all what ends by
// itself.
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

// peerState is the state here of another server's node.
func peerState(said string) cluster.State {
	for _, s := range []cluster.State{cluster.Drain, cluster.Down, cluster.Maintenance} {
		if said == s.String() {
			return s
		}
	}
	return cluster.Elsewhere
}

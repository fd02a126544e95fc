package fairlead

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
)

// peers is what a loop knows of the other servers of its store. Each hears of the others'
// starts and ends, and so counts what all run; it starts tasks on its own nodes alone.
type peers struct {
	store Peers // nil: there are none
	name  string
	// saying is held while something is announced.
	saying sync.Mutex

	// Guarded by the loop's mu.
	roll  Roll
	nodes map[string]peerNode // of the others, as the core knows them
	// doubts are the jobs of which a task could not be had: another server has it, or has
	// asked for it. The feed will tell, or the store is asked.
	doubts map[int64]sched.Job
}

type peerNode struct {
	ServedNode
	server string
}

// How often a server says that it is there, and for how long that holds.
const (
	announceEvery = time.Second
	announceHolds = 5 * time.Second
)

var loops atomic.Int64

// newPeers prepares for other servers, if the store can have any.
func newPeers(store Store, o LoopOptions) *peers {
	p := &peers{name: o.Name, nodes: map[string]peerNode{}, doubts: map[int64]sched.Job{}}
	p.store, _ = store.(Peers)
	if p.name == "" {
		p.name = fmt.Sprintf("%s-%d", processName(), loops.Add(1))
	}
	return p
}

// processName is the name of the host with the number of the process.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "local"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}

// announcing says that this server is there until ctx ends.
func (l *Loop) announcing(ctx context.Context) {
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	for {
		if err := l.say(ctx); err != nil && ctx.Err() == nil {
			l.failed(fmt.Errorf("announce this server: %w", err), 0)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), announceEvery)
			defer cancel()
			if err := l.peers.store.Retire(bye, l.peers.name); err != nil && !errors.Is(err, ErrClosed) {
				l.log.Warn("the others could not be told that this server has ended; they will notice", "error", err)
			}
			return
		}
	}
}

func (l *Loop) say(ctx context.Context) error {
	l.peers.saying.Lock()
	defer l.peers.saying.Unlock()
	return l.announce(ctx, nil)
}

// announce says that this server is there, and hears who else is. A node that joins is named
// before it has joined, so that no two servers have it. The caller holds saying.
func (l *Loop) announce(ctx context.Context, joins *ServedNode) error {
	if l.peers.store == nil {
		return nil
	}
	l.mu.Lock()
	said := Server{Name: l.peers.name, Address: l.options.Address, Nodes: l.served()}
	l.mu.Unlock()
	if joins != nil {
		said.Nodes = append(said.Nodes, *joins)
	}
	roll, err := l.peers.store.Announce(ctx, said, announceHolds)
	if errors.Is(err, ErrTaken) && joins == nil {
		l.yieldNodes(roll)
		return nil
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	same := reflect.DeepEqual(nodesOf(roll), nodesOf(l.peers.roll)) && roll.Stops == l.peers.roll.Stops
	if l.peers.roll = roll; same {
		return nil
	}
	l.placePeers(time.Now())
	l.version++
	l.poke()
	return nil
}

// joinFree joins once the name is free: one who had it and was killed is taken to be there for
// a while.
func (l *Loop) joinFree(ctx context.Context, name string, capacity Amounts, w Worker) (*Member, error) {
	for began := time.Now(); ; {
		m, err := l.Join(ctx, name, capacity, NodeInfo{}, w, nil)
		if !errors.Is(err, ErrTaken) || time.Since(began) > announceHolds+announceEvery {
			return m, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(announceEvery / 4):
		}
	}
}

// nodesOf are the nodes of a roll.
func nodesOf(r Roll) map[string]peerNode {
	all := map[string]peerNode{}
	for _, s := range r.Others {
		for _, n := range s.Nodes {
			n.Seen = time.Time{}
			all[n.Name] = peerNode{n, s.Name}
		}
	}
	return all
}

// served are the nodes of this server.
func (l *Loop) served() []ServedNode {
	out := make([]ServedNode, 0, len(l.members))
	for _, name := range slices.Sorted(maps.Keys(l.members)) {
		m := l.members[name]
		n := ServedNode{
			Name: name, State: l.stateOf(name, m).String(), Why: l.drainedText(name),
			Capacity: m.capacity, Labels: m.info.Labels, Version: m.info.Version, Host: m.info.Host, Seen: m.seen,
		}
		if id, ok := l.core.Cluster().Lookup(name); ok && l.core.Cluster().Nodes()[id].State == cluster.Down {
			n.State = cluster.Down.String()
		}
		out = append(out, n)
	}
	return out
}

// yieldNodes gives up the nodes that went to another server while this one was taken for
// gone: it was stopped, or cut off. What runs there is that one's to look after.
func (l *Loop) yieldNodes(roll Roll) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, n := range nodesOf(roll) {
		if m := l.members[name]; m != nil && n.State != cluster.Down.String() {
			l.log.Warn("a node is at another server now", "node", name, "server", n.server)
			m.gone = true
			delete(l.members, name)
		}
	}
	l.peers.roll = roll
	l.placePeers(time.Now())
	l.version++
}

// placePeers makes the core know the nodes of the others as they are.
func (l *Loop) placePeers(now time.Time) {
	l.core.LeaveStops(l.peers.store != nil && !l.peers.roll.Stops)
	there := nodesOf(l.peers.roll)
	for _, name := range slices.Sorted(maps.Keys(there)) {
		n := there[name]
		if l.members[name] != nil || reflect.DeepEqual(n, l.peers.nodes[name]) {
			continue
		}
		l.peers.nodes[name] = n
		id := l.core.JoinLabelled(name, cluster.Amounts(n.Capacity), n.Labels, now)
		l.core.Cluster().SetServer(id, n.server)
		l.core.SetNode(id, peerState(n.State), now)
	}
	for name := range l.peers.nodes {
		_, still := there[name]
		if own := l.members[name] != nil; still && !own {
			continue
		} else if id, ok := l.core.Cluster().Lookup(name); ok && !own {
			l.core.SetNode(id, cluster.Down, now)
		}
		delete(l.peers.nodes, name)
	}
}

// addPeer says of a node of another server what that one has said.
func (l *Loop) addPeer(v *NodeView, id cluster.NodeID) {
	n, is := l.peers.nodes[v.Name]
	if !is {
		return
	}
	v.Server, v.Version, v.Host, v.Seen = n.server, n.Version, n.Host, l.peers.server(n.server).Seen
	if v.Why == "" {
		v.Why = n.Why
	}
	if l.core.Cluster().Nodes()[id].State == cluster.Elsewhere {
		v.State = cluster.Up.String()
	}
}

// ServerOf is the name and the address of the other server that has a node, "" if none has.
func (l *Loop) ServerOf(node string) (name, address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, is := l.peers.nodes[node]
	if !is {
		return "", ""
	}
	return n.server, l.peers.server(n.server).Address
}

// server is what is known of another server.
func (p *peers) server(name string) Server {
	for _, s := range p.roll.Others {
		if s.Name == name {
			return s
		}
	}
	return Server{}
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

// leased counts in what another server started.
func (l *Loop) leased(c Change, now time.Time) {
	delete(l.peers.doubts, c.Job.ID)
	for _, r := range c.Runs {
		id := taskID{r.JobID, r.Task}
		if old := l.runs[id]; old != nil && old.ref.Attempt >= r.Attempt {
			continue // it is known of a later one
		}
		l.forgetRun(id, now)
		j := l.jobOf(c.Job)
		j.Tasks, j.Charge = 1, r.Charge
		l.runs[id] = &liveRun{
			ref: r.Ref, run: l.core.Take(j, l.nodeOf(r.Holder, now), r.Started, now),
			holder: r.Holder, pool: j.Pool, header: c.Job, started: r.Started, came: c.Job.Submitted,
		}
		if r.Queued {
			l.moveOn(l.runs[id], r, now)
		}
		l.watchers.publish(startedEvent(r, c.Job))
	}
}

// nodeOf is the node of a holder, which may not be known.
func (l *Loop) nodeOf(holder string, now time.Time) cluster.NodeID {
	node, known := l.core.Cluster().Lookup(holder)
	if !known {
		node = l.downNode(holder, now)
	}
	return node
}

// endedElsewhere counts out what ended at another server.
func (l *Loop) endedElsewhere(runs []Run, now time.Time) {
	for _, r := range runs {
		known := l.runs[taskID{r.JobID, r.Task}]
		switch {
		case known == nil || known.ref != r.Ref:
		case r.Ended.IsZero():
			l.abort(r.Ref, now)
		default:
			l.moveOn(known, r, now)
			delete(l.runs, taskID{r.JobID, r.Task})
			l.countOut(known, r.Ended, now, r.Learns)
			l.version++
		}
	}
}

// lost notes that a task could not be had: it waits still, as far as is known here.
func (l *Loop) lost(run sched.RunID, now time.Time) {
	j := l.core.JobOf(run)
	l.core.Abort(run, now, true)
	l.peers.doubts[j.ID] = j
}

// settle asks the store about what is still in doubt when all changes are known.
func (l *Loop) settle(ctx context.Context) error {
	l.mu.Lock()
	ids := slices.Sorted(maps.Keys(l.peers.doubts))
	l.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	waits, upTo, err := l.peers.store.Recheck(ctx, ids)
	if err != nil {
		return fmt.Errorf("ask what waits: %w", err)
	}
	if err := l.readChanges(ctx, upTo); err != nil {
		return err
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range l.peers.doubts {
		l.core.Withdraw(j, now)
	}
	for _, c := range waits {
		if _, still := l.peers.doubts[c.Job.ID]; still {
			l.wait(c, now)
		}
	}
	clear(l.peers.doubts)
	l.version++
	return nil
}

// nameOthers names further jobs in place of which each start may be: where there are other
// servers, the first of a line are often gone.
func (l *Loop) nameOthers(all []*choice) {
	others := len(l.peers.roll.Others)
	if others == 0 {
		return
	}
	for _, c := range all {
		of := map[sched.Line][]int{}
		for i, s := range c.starts {
			if line, only := l.core.LineOf(s.Run); only {
				of[line] = append(of[line], i)
			}
		}
		for line, starts := range of {
			ids := l.core.Alike(line, min(len(starts)*(others+1)+alikeMore, alikeMost))
			for _, i := range starts {
				c.starts[i].others = ids
			}
		}
	}
}

// letOthers waits a little after steps that won nothing: others hold what was wanted, and the
// changes will say whether they got it.
func (l *Loop) letOthers(ctx context.Context) {
	if l.vain == 0 || l.peers.store == nil {
		return
	}
	select {
	case <-time.After(min(time.Millisecond<<min(l.vain, 10), longestVain)):
	case <-ctx.Done():
	}
}

// longestVain bounds that wait.
const longestVain = 50 * time.Millisecond

// How many further jobs are named beyond those that as many servers may have taken at the
// same moment, and at most.
const (
	alikeMore = 16
	alikeMost = 1000
)

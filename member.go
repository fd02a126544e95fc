package fairlead

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Worker carries out leases on one node: Go handlers in this process, or an agent at
// the other end of a connection. Its methods must not block, and must not call the
// loop: the loop calls them while it decides.
type Worker interface {
	// Start begins to run the leases.
	Start(leases []*Lease)
	// Stop ends attempts early: their job was cancelled or requeued, they make room
	// for others, or they are not
	// the worker's any more. The worker still finishes those that are.
	Stop(refs []Ref, why string)
}

// Member is a worker that joined a loop.
type Member struct {
	loop     *Loop
	name     string
	worker   Worker
	capacity Amounts
	info     NodeInfo
	seen     time.Time
	lost     bool // it was taken for lost, and was not heard of since
	draining bool
	gone     bool
}

// NodeInfo is what a node says about itself.
type NodeInfo struct {
	Version string
	Host    string
	Labels  map[string]string // for constraints of jobs
	// Queue: what the node is given waits in another queueing system until its worker says that
	// it began; see [Member.Progress].
	Queue bool
	// Lease is how long the node's leases last from the first moment, if that is longer than usual:
	// what was handed to it may go on elsewhere though nothing is heard of it.
	Lease time.Duration
}

// maxLabels bounds the labels of a node.
const maxLabels = 64

// CheckLabels says what is wrong with the labels of a node.
func CheckLabels(labels map[string]string) error {
	if len(labels) > maxLabels {
		return invalid("labels", "a node has at most %d labels, got %d", maxLabels, len(labels))
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if err := cluster.CheckLabel(name, labels[name]); err != nil {
			return invalid("labels", "%v", err)
		}
	}
	return nil
}

// Join adds a worker with its capacity under the name of its node. running are the
// attempts that it runs already, nil if it is new: what the loop believes to run there
// and is not among them is given back, as it never began, or, if the worker is new,
// taken for lost. A worker that joins under the name of another takes its place.
func (l *Loop) Join(ctx context.Context, name string, capacity Amounts, info NodeInfo, w Worker, running []Ref) (*Member, error) {
	if err := checkText("node", name, MaxName); err != nil || name == "" {
		return nil, invalid("node", "%q is not a name for a node", name)
	}
	if err := CheckLabels(info.Labels); err != nil {
		return nil, err
	}
	// Until the node is a member, nobody says of this server that it does not have it.
	l.peers.saying.Lock()
	defer l.peers.saying.Unlock()
	if err := l.announce(ctx, &ServedNode{Name: name, State: cluster.Up.String(), Capacity: capacity, Labels: info.Labels, Seen: time.Now()}); err != nil {
		return nil, fmt.Errorf("join %s: %w", name, err)
	}
	if err := l.keepBridge(ctx, name, info.Labels[BridgeLabel]); err != nil {
		return nil, err
	}
	if running == nil {
		if _, err := l.store.Expire(ctx, name); err != nil {
			return nil, fmt.Errorf("join %s: %w", name, err)
		}
	}
	m := &Member{loop: l, name: name, worker: w, capacity: maps.Clone(capacity), info: info, seen: time.Now()}
	l.mu.Lock()
	if old := l.members[name]; old != nil {
		old.gone = true
	}
	l.members[name] = m
	l.placeNode(name, m)
	missing := l.missing(m, running)
	l.version++
	l.mu.Unlock()
	l.log.Info("node joined", "node", name, "capacity", countable(capacity))
	l.poke()
	if len(missing) > 0 {
		if err := l.release(ctx, missing); err != nil {
			return nil, fmt.Errorf("join %s: %w", name, err)
		}
	}
	return m, nil
}

// countable is what of a capacity is a number, and not the sign that a node can do something.
func countable(capacity Amounts) Amounts {
	numbers := maps.Clone(capacity)
	maps.DeleteFunc(numbers, func(_ string, n int64) bool { return n >= anyNumber })
	return numbers
}

// placeNode makes the core know the node as it is.
func (l *Loop) placeNode(name string, m *Member) {
	now := time.Now()
	capacity := cluster.Amounts{}
	for r, n := range m.capacity {
		capacity[r] = n
	}
	id := l.core.JoinLabelled(name, capacity, m.info.Labels, now)
	l.core.Cluster().SetServer(id, "")
	if state := l.stateOf(name, m); state != cluster.Up {
		l.core.SetNode(id, state, now)
	}
}

// missing are the attempts that the loop believes to run on the node and the worker
// does not have; those that it has are tied to it.
func (l *Loop) missing(m *Member, running []Ref) []Ref {
	has := make(map[Ref]bool, len(running)) // of a bridge they may be thousands
	for _, ref := range running {
		has[ref] = true
	}
	var missing []Ref
	for _, r := range l.runs {
		if r.holder != m.name {
			continue
		}
		if has[r.ref] {
			r.member = m
		} else if running != nil {
			missing = append(missing, r.ref)
		}
	}
	return missing
}

// Name is the name of the node.
func (m *Member) Name() string { return m.name }

// TTL is for how long a renewal lasts.
func (m *Member) TTL() time.Duration { return m.loop.options.LeaseTTL }

// Gone reports whether the member left, or another took its place.
func (m *Member) Gone() bool {
	m.loop.mu.Lock()
	defer m.loop.mu.Unlock()
	return m.gone
}

// Renew says that the worker is there and still runs these attempts. An attempt
// whose error is [ErrStaleAttempt] is not the worker's any more. Those that it should
// have stopped it is told again to stop: it may not have heard, or this loop may have
// begun after it was told.
func (m *Member) Renew(ctx context.Context, refs []Ref) ([]error, error) {
	return m.RenewFor(ctx, refs, 0)
}

// RenewFor is Renew with leases that last longer than [Member.TTL], for a worker whose tasks
// go on while it is away.
func (m *Member) RenewFor(ctx context.Context, refs []Ref, ttl time.Duration) ([]error, error) {
	l := m.loop
	l.mu.Lock()
	m.seen, m.lost = time.Now(), false
	if id, ok := l.core.Cluster().Lookup(m.name); ok && !m.gone && l.core.Cluster().Nodes()[id].State == cluster.Down {
		l.placeNode(m.name, m)
		l.poke()
	}
	for _, ref := range refs {
		if r := l.runs[taskID{ref.JobID, ref.Task}]; r != nil && r.ref == ref && r.stop != "" {
			m.worker.Stop([]Ref{ref}, r.stop)
		}
	}
	l.mu.Unlock()
	if len(refs) == 0 {
		return nil, nil
	}
	return l.store.Renew(ctx, refs, max(ttl, l.options.LeaseTTL))
}

// Finish says how attempts ended.
func (m *Member) Finish(ctx context.Context, results []Result) ([]Verdict, error) {
	return m.loop.finish(ctx, results)
}

func (l *Loop) finish(ctx context.Context, results []Result) ([]Verdict, error) {
	l.ending.RLock()
	defer l.ending.RUnlock()
	// What is on its way to the disk cannot be called back: whoever stops waiting would
	// never know that the slot is free.
	asked := time.Now()
	verdicts, err := l.store.Finish(context.WithoutCancel(ctx), results)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	l.observer.Stored("finish", now.Sub(asked))
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, v := range verdicts {
		if errors.Is(v.Err, ErrStaleAttempt) {
			l.end(results[i].Ref, now, false) // it is over in the store, so it is here
		}
		if v.Err != nil {
			continue
		}
		o := results[i].Outcome
		l.finished(&results[i], now)
		l.stats.Finished++
		l.observer.Ended(results[i])
		l.watchers.publish(Event{Job: results[i].JobID, Task: results[i].Task, At: now, Code: "finished", Text: string(o.State)})
	}
	l.poke()
	return verdicts, nil
}

// Release gives attempts back that the worker did not begin.
func (m *Member) Release(ctx context.Context, refs []Ref) error { return m.loop.release(ctx, refs) }

// Drain lets the node take nothing new; what runs goes on.
func (m *Member) Drain() {
	l := m.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	m.draining = true
	if id, ok := l.core.Cluster().Lookup(m.name); ok && !m.gone {
		l.core.SetNode(id, cluster.Drain, time.Now())
	}
	l.version++
}

// Leave takes the worker out. What it still runs waits again elsewhere.
func (m *Member) Leave(ctx context.Context) error {
	l := m.loop
	l.mu.Lock()
	if m.gone {
		l.mu.Unlock()
		return nil
	}
	m.gone = true
	delete(l.members, m.name)
	if id, ok := l.core.Cluster().Lookup(m.name); ok {
		l.core.SetNode(id, cluster.Down, time.Now())
	}
	l.version++
	l.mu.Unlock()
	l.log.Info("node left", "node", m.name)
	_, err := l.store.Expire(ctx, m.name)
	l.poke()
	return err
}

// expire ends the leases that ran out, and marks silent nodes. That a lease ran out is
// the first sign of silence: the node is marked before its tasks can be leased again, or
// they would go to the dead once more.
func (l *Loop) expire(ctx context.Context) {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	refs, err := l.store.Expire(ctx, "")
	if err != nil && ctx.Err() == nil {
		l.failed(fmt.Errorf("expire leases: %w", err), 0)
	}
	if len(refs) > 0 {
		l.log.Warn("leases ran out", "tasks", len(refs))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, ref := range refs {
		if r := l.runs[taskID{ref.JobID, ref.Task}]; r != nil && r.ref == ref {
			l.silent(r.holder, now)
		}
	}
	l.silence(now)
	l.sampleReasons(now)
}

// silence marks the nodes down that were not heard of for the length of a lease.
func (l *Loop) silence(now time.Time) {
	for name, m := range l.members {
		if l.silentFor(m, now) {
			l.silent(name, now)
		}
	}
}

// silentFor reports whether nothing was heard of a worker for the length of a lease.
func (l *Loop) silentFor(m *Member, now time.Time) bool {
	return now.Sub(m.seen) > l.options.LeaseTTL
}

// silent marks a node down until its worker is heard of again.
func (l *Loop) silent(name string, now time.Time) {
	if m := l.members[name]; m != nil {
		m.lost = true
	}
	if id, ok := l.core.Cluster().Lookup(name); ok && l.core.Cluster().Nodes()[id].State != cluster.Down {
		l.core.SetNode(id, cluster.Down, now)
		l.version++
		l.log.Warn("node is silent", "node", name)
	}
}

// maintained goes before the reason of a node that is in maintenance, where it is kept.
const maintained = "maintenance\n"

// stateOf is the state of a node by what an administrator and its worker (nil: it has none)
// say. One that is silent is down, whatever is said of it: what is leased to it would only
// wait there until the leases run out.
func (l *Loop) stateOf(name string, m *Member) cluster.State {
	why := l.drained[name]
	switch {
	case m == nil || m.lost || l.silentFor(m, time.Now()):
		return cluster.Down
	case strings.HasPrefix(why, maintained):
		return cluster.Maintenance
	case why != "" || m.draining:
		return cluster.Drain
	}
	return cluster.Up
}

// drainedText says in words why a node is drained; "" if it is not.
func (l *Loop) drainedText(name string) string {
	why, planned := strings.CutPrefix(l.drained[name], maintained)
	switch {
	case planned:
		return "maintenance: " + why
	case why != "":
		return "drained: " + why
	}
	return ""
}

// Drained reports whether an administrator has drained a node, or said that it is in
// maintenance, be it there or not.
func (l *Loop) Drained(node string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.drained[node] != ""
}

// SetMaintenance says that a node is worked on: it takes nothing new, as a drained one, and
// is told apart from those of which nobody knows when they come back. It lasts over a
// restart, until SetDrained lets the node take tasks again.
func (l *Loop) SetMaintenance(ctx context.Context, node, why string) error {
	return l.setDrained(ctx, node, maintained+cmp.Or(why, "no reason given"))
}

// SetDrained drains a node for an administrator, or lets it take tasks again. It
// lasts over a restart.
func (l *Loop) SetDrained(ctx context.Context, node string, drained bool, why string) error {
	if !drained {
		return l.setDrained(ctx, node, "")
	}
	return l.setDrained(ctx, node, cmp.Or(why, "no reason given"))
}

func (l *Loop) setDrained(ctx context.Context, node, value string) error {
	l.mu.Lock()
	id, known := l.core.Cluster().Lookup(node)
	was := l.drained[node]
	l.mu.Unlock()
	if !known && (value != "" || was == "") { // one that was drained may be forgotten since a restart
		return fmt.Errorf("node %q: %w", node, ErrNotFound)
	}
	if keeper, ok := l.store.(Settings); ok {
		if err := keeper.Set(ctx, drainSetting+node, value); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drained[node] = value; value == "" {
		delete(l.drained, node)
	}
	if _, other := l.peers.nodes[node]; known && !other { // or else its server will say
		l.core.SetNode(id, l.stateOf(node, l.members[node]), time.Now())
	}
	l.version++
	l.poke()
	return nil
}

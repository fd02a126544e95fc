package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/store/postgres"
)

// server is one of several on a schema, with its own worker.
type server struct {
	store *postgres.Store
	loop  *engine.Loop
	name  string
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// work runs a server whose worker has this number of slots, until stop is called.
func work(t *testing.T, store *postgres.Store, name string, slots int, shares allocation.Config,
	h engine.HandlerFunc) *server {
	t.Helper()
	loop, err := engine.NewLoop(t.Context(), store,
		engine.LoopOptions{Name: name, LeaseTTL: 2 * time.Second, Shares: shares})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{store: store, loop: loop, name: name, stop: cancel}
	deciding, end := context.WithCancel(context.Background())
	s.ended.Go(func() { loop.Run(deciding) })
	s.ended.Go(func() {
		defer end()
		if err := loop.Work(ctx, engine.WorkOptions{Name: "node-" + name, Slots: slots,
			Handlers: map[string]engine.Handler{"k": h}, Grace: 300 * time.Millisecond}); err != nil &&
			!errors.Is(err, queue.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	})
	t.Cleanup(func() { s.end() })
	return s
}

func (s *server) end() {
	s.stop()
	s.ended.Wait()
}

// tally counts runs.
type tally struct {
	mu   sync.Mutex
	jobs map[int64]int
	pool map[string]int
	by   map[string]int
}

func newTally() *tally {
	return &tally{jobs: map[int64]int{}, pool: map[string]int{}, by: map[string]int{}}
}

func (c *tally) handler(name string, f func(ctx context.Context, l *queue.Lease) error) engine.HandlerFunc {
	return func(ctx context.Context, l *queue.Lease) error {
		c.mu.Lock()
		c.jobs[l.JobID]++
		c.pool[l.Job.Pool]++
		c.by[name]++
		c.mu.Unlock()
		return f(ctx, l)
	}
}

func (c *tally) runs() (n, twice int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.jobs {
		n += k
		if k > 1 {
			twice++
		}
	}
	return n, twice
}

// weights returns the shares of two pools.
func weights(a, b float64) allocation.Config {
	s := allocation.Default()
	s.Sched.Root.Pools = []share.Pool{{Name: "pool0", Weight: a}, {Name: "pool1", Weight: b}}
	return s
}

// TestLoopsShare: four servers run the jobs of one schema, each job once, and all servers agree on the counts: waiting
// jobs, running tasks, capacity, and usage of each pool.
func TestLoopsShare(t *testing.T) {
	stores, _, _ := several(t, 4)
	shares, count := weights(2, 1), newTally()
	const jobs = 1500
	var servers []*server
	for i, s := range stores {
		name := fmt.Sprint("s", i)
		servers = append(servers, work(t, s, name, 2, shares,
			count.handler(name, func(context.Context, *queue.Lease) error { return nil })))
	}
	await.True(t, "all know of all nodes", func() bool {
		for _, s := range servers {
			if capacity, _, unit := s.loop.Capacity(); capacity[unit] != 8 {
				return false
			}
		}
		return true
	})
	for i := range jobs / 100 {
		submit(t, stores[i%4], 100, 2)
	}
	await.True(t, "all jobs have run", func() bool { n, _ := count.runs(); return n >= jobs })
	if n, twice := count.runs(); n != jobs || twice > 0 {
		t.Errorf("%d runs of %d jobs, %d jobs more than once", n, jobs, twice)
	}
	if len(count.by) < 4 {
		t.Errorf("not all servers had a part: %v", count.by)
	}
	await.True(t, "all servers know that nothing waits or runs", func() bool {
		for _, s := range servers {
			views.Pools(t.Context(), s.loop) // the loop reads the changes
			if running, waiting := s.loop.Running(); running != 0 || waiting != 0 {
				return false
			}
		}
		return true
	})
	var first map[string]float64
	for _, s := range servers {
		used := map[string]float64{}
		for _, p := range views.Pools(t.Context(), s.loop) {
			used[p.Path] = p.Used
		}
		if first == nil {
			first = used
		}
		for path, u := range used {
			// A server counts the end of its own tasks when the store has answered, and the ends of other tasks when
			// the feed reports them. For jobs as short as an answer, the usages differ by a fraction of that. A server
			// that did not learn of the others' jobs would count a quarter.
			if d := math.Abs(u - first[path]); d > 0.3*first[path] {
				t.Errorf("%q at %s: %v used, at the first server %v", path, s.name, u, first[path])
			}
		}
	}
	checkCounters(t, stores[0])
}

// checkCounters compares the counters with the jobs.
func checkCounters(t *testing.T, s *postgres.Store) {
	t.Helper()
	accounts, err := s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	counted, err := s.Recount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for path, a := range accounts.Pools {
		if a.Counters != counted[path] {
			t.Errorf("pool %s: counters %+v, jobs %+v", path, a.Counters, counted[path])
		}
	}
}

// TestLoopsFair: shares apply across all servers together, not on each alone: the usage of a pool on one server counts
// on the others.
func TestLoopsFair(t *testing.T) {
	stores, _, _ := several(t, 3)
	shares, count := weights(3, 1), newTally()
	submit(t, stores[0], 4000, 1, func(j *queue.Job) { j.Pool = "pool0" })
	submit(t, stores[1], 4000, 1, func(j *queue.Job) { j.Pool = "pool1" })
	var servers []*server
	for i, s := range stores {
		name := fmt.Sprint("s", i)
		servers = append(servers, work(t, s, name, 1, shares,
			count.handler(name, func(ctx context.Context, _ *queue.Lease) error {
				select {
				case <-time.After(20 * time.Millisecond):
				case <-ctx.Done():
				}
				return nil
			})))
	}
	await.True(t, "some hundred have run", func() bool { n, _ := count.runs(); return n >= 300 })
	for _, s := range servers {
		s.end()
	}
	if n := count.pool["pool0"] + count.pool["pool1"]; count.pool["pool0"]*100 < 70*n || count.pool["pool0"]*100 > 80*n {
		t.Errorf("pool0, with three quarters of the weight, had %d of %d", count.pool["pool0"], n)
	}
	checkCounters(t, stores[0])
}

// TestLoopDies: when a server ends without notice, the other servers run its tasks as soon as the leases are over, and
// regard its nodes as down.
func TestLoopDies(t *testing.T) {
	t.Parallel()
	stores, _, _ := several(t, 2)
	count, began := newTally(), make(chan struct{}, 10)
	dying := work(t, stores[0], "dying", 2, allocation.Default(),
		count.handler("dying", func(ctx context.Context, _ *queue.Lease) error {
			began <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}))
	ids := submit(t, stores[1], 2, 1)
	<-began
	<-began
	stores[0].Close() // as good as dead: nothing that it does reaches the others
	dying.stop()
	heir := work(t, stores[1], "heir", 2, allocation.Default(),
		count.handler("heir", func(context.Context, *queue.Lease) error { return nil }))
	await.True(t, "the other has run them", func() bool {
		done, err := heir.loop.Client().Jobs(t.Context(), queue.Query{IDs: ids, States: []queue.State{queue.Succeeded}})
		return err == nil && len(done) == 2
	})
	await.True(t, "its node is down", func() bool {
		for _, n := range views.Nodes(heir.loop) {
			if n.Name == "node-dying" && n.State == "up" {
				return false
			}
		}
		return true
	})
	checkCounters(t, stores[1])
}

// TestSameNode: two servers cannot have a node of the same name at the same time.
func TestSameNode(t *testing.T) {
	t.Parallel()
	stores, _, _ := several(t, 2)
	idle := engine.HandlerFunc(func(context.Context, *queue.Lease) error { return nil })
	first := work(t, stores[0], "x", 1, allocation.Default(), idle)
	await.True(t, "it has joined", func() bool { return len(views.Nodes(first.loop)) == 1 })
	loop, err := engine.NewLoop(t.Context(), stores[1], engine.LoopOptions{Name: "y"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = loop.Join(t.Context(), "node-x", queue.Amounts{"cpu": 1}, engine.NodeInfo{}, nil, nil)
	if !errors.Is(err, queue.ErrTaken) {
		t.Errorf("a second node of the same name: %v", err)
	}
	first.end()
	if _, err = loop.Join(t.Context(), "node-x", queue.Amounts{"cpu": 1}, engine.NodeInfo{}, nil, nil); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
}

// TestSettingsOfOthers: all servers follow drains, boosts and reservations that one server accepted.
func TestSettingsOfOthers(t *testing.T) {
	t.Parallel()
	stores, _, _ := several(t, 2)
	idle := engine.HandlerFunc(func(context.Context, *queue.Lease) error { return nil })
	a := work(t, stores[0], "a", 1, weights(1, 1), idle)
	b := work(t, stores[1], "b", 1, weights(1, 1), idle)
	state := func(s *server, node string) string {
		for _, n := range views.Nodes(s.loop) {
			if n.Name == node {
				return n.State
			}
		}
		return ""
	}
	await.True(t, "both know both", func() bool { return state(a, "node-b") == "up" && state(b, "node-a") == "up" })
	drain := &engine.Drain{Reason: "to be cleaned"}
	if err := a.loop.Overrides.SetDrained(t.Context(), "node-b", drain, "", ""); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the other's node is drained",
		func() bool { return state(b, "node-b") == "drain" && state(a, "node-b") == "drain" })
	if err := b.loop.Overrides.SetDrained(t.Context(), "node-b", nil, "", ""); err != nil {
		t.Fatal(err)
	}
	await.True(t, "it is up for both", func() bool { return state(b, "node-b") == "up" && state(a, "node-b") == "up" })
	boost, err := a.loop.Overrides.Boost(t.Context(),
		engine.Boost{Pool: "pool0", Factor: 3, Until: time.Now().Add(time.Hour)}, "")
	if err != nil {
		t.Fatal(err)
	}
	await.True(t, "the boost counts at the other", func() bool { return len(b.loop.Overrides.Boosts()) == 1 })
	if _, err := b.loop.Overrides.Unboost(t.Context(), boost.ID, "ann", ""); err != nil {
		t.Fatal(err)
	}
	await.True(t, "it has ended at both", func() bool {
		return len(a.loop.Overrides.Boosts()) == 0 && len(b.loop.Overrides.Boosts()) == 0
	})
	for _, until := range []time.Time{{}, time.Now().Add(time.Hour)} {
		if _, err := a.loop.Overrides.Pause(t.Context(), engine.Pause{Pool: "pool0", Until: until}, ""); err != nil {
			t.Fatal(err)
		}
	}
	untilPaused(t, b.loop, true)
	if _, err := b.loop.Overrides.Resume(t.Context(), "pool0", "ann", ""); err != nil {
		t.Fatal(err)
	}
	untilPaused(t, a.loop, false)
	r := engine.Reservation{Name: "r", Nodes: []string{"node-a"}, Maintenance: true, From: time.Now().Add(time.Hour),
		Until: time.Now().Add(2 * time.Hour)}
	if _, _, err := b.loop.Overrides.Reserve(t.Context(), r, engine.ReserveOptions{}); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the other knows of the reservation", func() bool { return len(a.loop.Overrides.Reservations()) == 1 })
}

// untilPaused waits until a server knows of a pause with an end, or of no pause.
func untilPaused(t *testing.T, l *engine.Loop, paused bool) {
	t.Helper()
	await.True(t, fmt.Sprintf("the other knows that the pool is paused: %v", paused), func() bool {
		all := l.Overrides.Pauses()
		return len(all) == 1 && paused && !all[0].Until.IsZero() || len(all) == 0 && !paused
	})
}

// TestAskAnother: a server without nodes answers questions about the jobs of all servers: why one waits, when it
// starts, and where another runs.
func TestAskAnother(t *testing.T) {
	t.Parallel()
	stores, _, _ := several(t, 2)
	began := make(chan struct{}, 1)
	busy := work(t, stores[0], "busy", 1, allocation.Default(), func(ctx context.Context, _ *queue.Lease) error {
		began <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	desk, err := engine.NewLoop(t.Context(), stores[1], engine.LoopOptions{Name: "desk"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { desk.Run(ctx) })
	defer ended.Wait()
	defer cancel()
	hour := func(j *queue.Job) { j.Limit = time.Hour }
	first := submit(t, stores[1], 1, 1, hour)[0]
	<-began
	second := submit(t, stores[1], 1, 1, hour)[0]
	await.True(t, "it is known there where the first runs", func() bool {
		a, err := forecast.New(desk).Why(t.Context(), first, explain.WhyOptions{})
		return err == nil && strings.Contains(a.Reason.Text, "node-busy") && views.Nodes(desk)[0].Server == "busy"
	})
	a, err := forecast.New(desk).Why(t.Context(), second, explain.WhyOptions{Estimate: true})
	if err != nil {
		t.Fatal(err)
	}
	if a.Reason.Code != "capacity.full" || a.Start == nil || a.Start.By == nil ||
		time.Until(*a.Start.By) > 61*time.Minute {
		t.Errorf("why says %s: %s; start %+v", a.Reason.Code, a.Reason.Text, a.Start)
	}
	busy.end()
}

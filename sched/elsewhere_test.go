package sched_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// peers are schedulers that share the waiting jobs. Each starts tasks on its own node and learns of the starts of the
// others later.
type peers struct {
	all  []*world
	jobs map[int64]*modelJob
	runs []peerRun
	cfg  sched.Config
}

// peerRun is a running task, with its number in each of the schedulers.
type peerRun struct {
	job     int64
	ids     []sched.RunID
	started time.Time
}

const peerSlots = 3

func newPeers(t *rapid.T) *peers {
	p := &peers{jobs: map[int64]*modelJob{}}
	p.cfg = sched.Config{Root: drawTree(t), NewPolicy: policy.New(policy.Options{}), HalfLife: 20 * time.Second, Charge: drawCharge(t)}
	drawQuotas(t, &p.cfg)
	p.cfg.Backfill = rapid.SampledFrom([]sched.Backfill{sched.FirstFit, sched.EASY, sched.Conservative}).Draw(t, "backfill")
	for own := range 3 {
		s, err := sched.New(p.cfg, epoch, 1)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			id := s.Join(fmt.Sprint("n", n), roomOf(peerSlots), epoch)
			if n != own {
				s.SetNode(id, cluster.Elsewhere, epoch)
				s.Cluster().SetServer(id, fmt.Sprint("s", n))
			}
		}
		p.all = append(p.all, &world{Scheduler: s, now: epoch})
	}
	return p
}

func (p *peers) job(w *world, id int64, tasks int) sched.Job {
	j := p.jobs[id].header
	j.Pool, j.Key, j.Tasks = w.Pool(p.jobs[id].path), w.KeyOf(p.jobs[id].request), tasks
	return j
}

func (p *peers) submit(t *rapid.T) {
	id := int64(len(p.jobs) + 1)
	n := rapid.IntRange(1, 4).Draw(t, "tasks")
	w := p.all[0]
	j := &modelJob{path: rapid.SampledFrom(paths).Draw(t, "pool"), waiting: n, request: sched.Request{Amounts: cluster.Amounts{"cpu": int64(rapid.IntRange(1, 2).Draw(t, "cpu"))}}}
	j.header = sched.Job{ID: id, Priority: normal, Submitted: w.now, Limit: time.Minute, MaxRunning: rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "most")}
	if rapid.IntRange(0, 4).Draw(t, "gang") == 0 {
		n = rapid.IntRange(2, 3).Draw(t, "size")
		j.request.Gang, j.request.Amounts["cpu"], j.waiting, j.header.MaxRunning = n, 1, n, 0
	}
	p.jobs[id] = j
	for _, w := range p.all {
		w.Add(p.job(w, id, n), w.now)
	}
}

// step lets one scheduler start tasks, and the others learn of them.
func (p *peers) step(t *rapid.T) {
	own := rapid.IntRange(0, 2).Draw(t, "server")
	w := p.all[own]
	w.Step(w.now, rapid.IntRange(0, 3).Draw(t, "limit"), &w.d)
	for _, s := range w.d.Starts {
		if name := w.Cluster().Nodes()[s.Node].Name; name != fmt.Sprint("n", own) {
			t.Fatalf("server %d started a task on %s", own, name)
		}
		r := peerRun{job: s.Job, ids: make([]sched.RunID, 3), started: w.now}
		r.ids[own] = s.Run
		for i, x := range p.all {
			if i != own {
				r.ids[i] = x.Take(p.job(x, s.Job, 1), s.Node, w.now, x.now)
			}
		}
		p.runs = append(p.runs, r)
		p.jobs[s.Job].waiting--
		p.jobs[s.Job].running++
	}
}

// finish ends a task; the other schedulers learn of it later.
func (p *peers) finish(t *rapid.T) {
	if len(p.runs) == 0 {
		t.Skip("nothing runs")
	}
	i := rapid.IntRange(0, len(p.runs)-1).Draw(t, "run")
	r, late := p.runs[i], time.Duration(rapid.IntRange(0, 300).Draw(t, "late"))*time.Millisecond
	p.runs = slices.Delete(p.runs, i, i+1)
	ended := p.all[0].now
	p.tick(late)
	for k, w := range p.all {
		w.FinishAt(r.ids[k], ended, w.now, true)
	}
	p.jobs[r.job].running--
}

func (p *peers) tick(d time.Duration) {
	for _, w := range p.all {
		w.now = w.now.Add(d)
	}
}

// check fails unless all schedulers count the same.
func (p *peers) check(t *rapid.T) {
	waiting, running := 0, 0
	for _, j := range p.jobs {
		waiting, running = waiting+j.waiting, running+j.running
	}
	for _, path := range append([]string{""}, paths...) {
		var first sched.Pool
		var had float64
		for i, w := range p.all {
			w.Advance(w.now)
			id, known := w.Lookup(path)
			if !known {
				continue
			}
			x := w.View(id)
			service := x.Service(w.Read().Now()) / w.Read().Now().Growth
			if i == 0 {
				first, had = *x, service
			}
			if x.Waiting != first.Waiting || x.Tasks != first.Tasks || x.Running != first.Running || math.Abs(service-had) > 1e-6*(1+had) {
				t.Fatalf("%q: server %d counts %d waiting, %d tasks, %v units, service %v; server 0 %d, %d, %v, %v",
					path, i, x.Waiting, x.Tasks, x.Running, service, first.Waiting, first.Tasks, first.Running, had)
			}
		}
	}
	for i, w := range p.all {
		if all := w.Read().Recount(); len(all) > 0 {
			t.Fatalf("server %d: %v", i, all)
		}
	}
	root := p.all[0].View(sched.Root)
	if root.Waiting != int64(waiting) || int(root.Tasks) != running {
		t.Fatalf("%d wait and %d run, counted %d and %d", waiting, running, root.Waiting, root.Tasks)
	}
}

// TestPeers: schedulers that learn of each other's starts and ends count the same. Each starts tasks only on its own
// node, and the pools divide the resources of all nodes.
func TestPeers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPeers(t)
		if capacity, _ := p.all[1].Cluster().Capacity(); capacity[0] != 3*peerSlots {
			t.Fatalf("capacity %v", capacity)
		}
		t.Repeat(map[string]func(*rapid.T){
			"submit": p.submit,
			"step":   p.step,
			"step2":  p.step,
			"finish": p.finish,
			"wait":   func(t *rapid.T) { p.tick(time.Duration(rapid.IntRange(1, 5000).Draw(t, "ms")) * time.Millisecond) },
			"":       p.check,
		})
	})
}

// TestAlike: Alike lists the jobs that go next in the sub-queue of a start, without arrays.
func TestAlike(t *testing.T) {
	w := newWorld(t, two(), 1, 1)
	w.submit("a", 1)
	w.submit("b", 1)
	w.submit("a", 2)
	w.submit("a", 1)
	w.submit("a", 1)
	starts := w.step(0)
	sub, only := w.Read().SubQueueOf(starts[0].Run)
	if !only {
		t.Error("a job of one task is not taken for one")
	}
	if got := w.Read().Alike(sub, 5); !slices.Equal(got, []int64{4, 5}) {
		t.Errorf("after job %d: %v", starts[0].Job, got)
	}
	if got := w.Read().Alike(sub, 1); !slices.Equal(got, []int64{4}) {
		t.Errorf("at most one: %v", got)
	}
}

// TestGangAtOneServer: a gang fits if it fits at one of the servers.
func TestGangAtOneServer(t *testing.T) {
	w := newWorld(t, two(), 2, 1)
	for i, slots := range []int64{4, 3} {
		id := w.Join(fmt.Sprint("other", i), cluster.Amounts{"cpu": slots}, w.now)
		w.SetNode(id, cluster.Elsewhere, w.now)
		w.Cluster().SetServer(id, "another")
	}
	for gang, want := range map[int]bool{2: true, 7: true, 8: false, 9: false} {
		key := w.KeyOf(sched.Request{Gang: gang})
		ever, now := w.Cluster().Empty().GangRoom(key)
		if w.Cluster().Empty().Could(key) != want || ever != 7 || now != 7 {
			t.Errorf("%d tasks: could %v, room for %d and %d, want %v and 7",
				gang, w.Cluster().Empty().Could(key), ever, now, want)
		}
	}
	if nodes, tasks := w.Cluster().Empty().Holds(nil, nil); nodes != 2 || tasks != 7 {
		t.Errorf("%d tasks on %d nodes, want 7 on 2", tasks, nodes)
	}
}

// TestTakeLater: another server starts a task before its begin time has come by the clock here.
func TestTakeLater(t *testing.T) {
	w := newWorld(t, two(), 1, 1)
	j := sched.Job{ID: 1, Pool: w.Pool("a"), Key: w.Key(nil), Priority: normal, Tasks: 2, Begin: w.now.Add(time.Minute)}
	w.Add(j, w.now)
	other := w.Join("other", cluster.Amounts{"cpu": 1}, w.now)
	w.SetNode(other, cluster.Elsewhere, w.now)
	w.Take(j, other, w.now, w.now)
	w.tick(2 * time.Minute)
	if starts := w.step(0); len(starts) != 1 || w.View(sched.Root).Waiting != 0 {
		t.Errorf("%d starts, %d wait: one of two was started elsewhere", len(starts), w.View(sched.Root).Waiting)
	}
}

// TestTakeCountsOnce: a start at another server counts under its rate, unless the store has reported it already.
func TestTakeCountsOnce(t *testing.T) {
	limit := sched.Rate{Count: 1, Per: time.Hour, Burst: 5}
	w := newQuotaWorld(t, two(), 10, nil, map[string]sched.Rate{"web": limit})
	other := w.Join("other", cluster.Amounts{"cpu": 9}, w.now)
	w.SetNode(other, cluster.Elsewhere, w.now)
	web := sched.Request{Rates: []string{"web"}}
	w.ask("a", 9, web)
	there := epoch.Add(-time.Hour) // by the clock of the store
	w.SetRate(sched.RateState{Name: "web", Bucket: sched.Bucket{Limit: limit, Full: there, Taken: 2}, At: there.Add(time.Second)}, w.now)
	for i, started := range []time.Time{there, there.Add(time.Second), there.Add(2 * time.Second)} {
		w.Take(sched.Job{ID: int64(1000 + i), Pool: w.Pool("b"), Key: w.KeyOf(web), Priority: normal, Tasks: 1}, other, started, w.now)
	}
	if got := len(w.step(0)); got != 2 {
		t.Errorf("%d started with 5 tokens of which 3 were taken, one since the store told of them; want 2", got)
	}
}

// TestReturnsAfterOthersElsewhere: a pool whose jobs come while nobody waits has no claim to the service that others
// received meanwhile. That also holds for a scheduler that has chosen nothing all the time because it had no room of
// its own.
func TestReturnsAfterOthersElsewhere(t *testing.T) {
	for _, tree := range []share.Pool{two(), {Policy: "fair", Pools: []share.Pool{{Name: "x", Weight: 1, Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}}}}} {
		w := newWorld(t, tree, 1, 1)
		path := func(pool string) string {
			if len(tree.Pools) == 1 {
				return "x/" + pool
			}
			return pool
		}
		own := cluster.NodeID(0)
		w.SetNode(own, cluster.Drain, w.now)
		other := w.Join("other", cluster.Amounts{"cpu": 1}, w.now)
		w.SetNode(other, cluster.Elsewhere, w.now)
		for range 20 { // pool a receives service alone, and on other servers
			j := w.submit(path("a"), 1)
			run := w.Take(j, other, w.now, w.now)
			w.tick(10 * time.Second)
			w.Finish(run, w.now, true)
		}
		w.submit(path("b"), 40)
		w.submit(path("a"), 40)
		w.SetNode(own, cluster.Up, w.now)
		got := map[string]int{}
		for range 20 {
			for _, s := range w.step(1) {
				got[w.Path(s.Pool)]++
				w.tick(10 * time.Second)
				w.Finish(s.Run, w.now, true)
			}
		}
		if a, b := got[path("a")], got[path("b")]; a < 9 || b < 9 {
			t.Errorf("of the next 20 tasks %d were of a, who had received before, and %d of b, who came back", a, b)
		}
	}
}

package sched_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestMachinesAreUsedAsTheyAre: nodes come, go and change, and windows are kept on them, under every backfill rule. A
// task starts only where it may run for its whole time, and no node has less than nothing of any resource. If jobs may
// pass one another, no job waits that fits somewhere.
func TestMachinesAreUsedAsTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachineModel(t)
		for range rapid.IntRange(5, 40).Draw(t, "events") {
			m.event(t)
			fork := m.s.Fork()
			var d sched.Decision
			for m.d.More = true; m.d.More; { // the lottery looks at some pools only in one step
				m.s.Step(m.now, 0, &m.d)
				fork.Step(m.now, 0, &d)
				if a, b := fmt.Sprint(m.d.Starts), fmt.Sprint(d.Starts); a != b {
					t.Fatalf("a fork starts %s, the original %s", b, a)
				}
				for _, st := range m.d.Starts {
					m.began(t, st)
				}
			}
			m.check(t)
		}
	})
}

// machineModel keeps its own account of the tasks that run on each node.
type machineModel struct {
	s     *sched.Scheduler
	now   time.Time
	d     sched.Decision
	jobs  []machineJob // by number, from 1
	runs  []machineRun
	nodes map[string]*machineNode
	place sched.Backfill

	windows modelWindows
}

type machineJob struct {
	ask   cluster.Amounts
	must  string
	key   cluster.Key
	waits int
	limit time.Duration

	window string
}

type machineRun struct {
	id   sched.RunID
	job  int
	node string
}

type machineNode struct {
	offer  cluster.Amounts
	labels cluster.Labels
	state  cluster.State
}

func newMachineModel(t *rapid.T) *machineModel {
	m := &machineModel{now: epoch, jobs: make([]machineJob, 1), nodes: map[string]*machineNode{}}
	m.place = rapid.SampledFrom([]sched.Backfill{sched.FirstFit, sched.FirstFit, sched.FCFS, sched.EASY, sched.Conservative}).Draw(t, "backfill")
	root := share.Pool{Policy: rapid.SampledFrom([]string{"fair", "fifo", "lottery", "fairtree", "drf"}).Draw(t, "policy")}
	s, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}), Backfill: m.place}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	m.s = s
	return m
}

var (
	machineOffers = []cluster.Amounts{{"cpu": 4}, {"cpu": 8, "mem": 10}, {"cpu": 4, "gpu:a": 2}, {"cpu": 4, "gpu:a": 1, "gpu:b": 1}, {"cpu": 2, "gpu": 2}}
	machineAsks   = []cluster.Amounts{{"cpu": 1}, {"cpu": 3}, {"cpu": 2, "mem": 4}, {"gpu": 1}, {"gpu:a": 1}, {"cpu": 2, "gpu:b": 1}, {"gpu:a": 1, "gpu:b": 1}}
	machineMusts  = []string{"", "", "rack=x", "rack!=x", "ssd", "rack=x|y & !ssd"}
	machineLabels = []cluster.Labels{nil, {"rack": "x"}, {"rack": "y", "ssd": "1"}, {"rack": "y"}}
)

func (m *machineModel) event(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "wait")) * time.Second)
	name := rapid.SampledFrom([]string{"n1", "n2", "n3", "n4", "n5"}).Draw(t, "node")
	switch rapid.IntRange(0, 10).Draw(t, "event") {
	case 0, 1:
		if m.nodes[name] == nil { // a node that shrinks under its tasks may have less than nothing free
			n := &machineNode{rapid.SampledFrom(machineOffers).Draw(t, "offer"), rapid.SampledFrom(machineLabels).Draw(t, "labels"), cluster.Up}
			m.nodes[name] = n
			m.s.JoinLabelled(name, n.offer, n.labels, m.now)
		}
	case 2:
		if n := m.nodes[name]; n != nil {
			id, _ := m.s.Cluster().Lookup(name)
			n.state = cluster.State(rapid.IntRange(0, 3).Draw(t, "state"))
			m.s.SetNode(id, n.state, m.now)
		}
	case 3, 4, 5, 6:
		m.submit(t)
	case 7:
		m.windows = drawWindows(t, m.now, []string{"n1", "n2", "n3"})
		m.s.SetWindows(m.windows, m.now)
	default:
		for range min(len(m.runs), rapid.IntRange(1, 3).Draw(t, "ends")) {
			i := rapid.IntRange(0, len(m.runs)-1).Draw(t, "run")
			m.s.Finish(m.runs[i].id, m.now, true)
			m.runs = slices.Delete(m.runs, i, i+1)
		}
	}
}

func (m *machineModel) submit(t *rapid.T) {
	j := machineJob{ask: rapid.SampledFrom(machineAsks).Draw(t, "ask"), must: rapid.SampledFrom(machineMusts).Draw(t, "must"), waits: rapid.IntRange(1, 3).Draw(t, "tasks")}
	must, err := cluster.ParseConstraint(j.must)
	if err != nil {
		t.Fatal(err)
	}
	j.window = askWindow(t)
	j.key = m.s.KeyOf(sched.Request{Amounts: j.ask, Constraint: must, Reservation: j.window})
	pool := m.s.Pool(rapid.SampledFrom([]string{"u", "v", "w"}).Draw(t, "pool"))
	j.limit = time.Duration(rapid.IntRange(0, 3).Draw(t, "limit")) * time.Minute
	m.s.Add(sched.Job{ID: int64(len(m.jobs)), Pool: pool, Key: j.key, Priority: 2, Tasks: j.waits, Limit: j.limit}, m.now)
	m.jobs = append(m.jobs, j)
}

func (m *machineModel) began(t *rapid.T, st sched.Start) {
	j, name := &m.jobs[st.Job], m.s.Cluster().Nodes()[st.Node].Name
	must, _ := cluster.ParseConstraint(j.must)
	if n := m.nodes[name]; n.state != cluster.Up || !must.Allows(n.labels) {
		t.Fatalf("job %d (%v, %q) started on %s (%v, %v)", st.Job, j.ask, j.must, name, n.labels, n.state)
	}
	if !m.windows.lets(name, j.window, m.now, j.limit) {
		t.Fatalf("job %d (window %q, %v) started at %v on %s in spite of %+v", st.Job, j.window, j.limit, m.now, name, m.windows)
	}
	j.waits--
	m.runs = append(m.runs, machineRun{st.Run, int(st.Job), name})
}

// left returns the resources of a node that its running tasks leave free.
func (m *machineModel) left(name string) cluster.Amounts {
	left := cluster.Amounts{}
	for r, n := range cluster.WithTypes(m.nodes[name].offer) {
		left[r] = n
	}
	for _, r := range m.runs {
		if r.node == name {
			left["cpu"] -= max(1, m.jobs[r.job].ask["cpu"])
			for what, n := range cluster.WithTypes(m.jobs[r.job].ask) {
				if what != "cpu" {
					left[what] -= n
				}
			}
		}
	}
	return left
}

func (m *machineModel) check(t *rapid.T) {
	for name, n := range m.nodes {
		left := m.left(name)
		for r, free := range left {
			if free < 0 {
				t.Fatalf("node %s has %d of %s left", name, free, r)
			}
		}
		if n.state != cluster.Up || m.place != sched.FirstFit {
			continue
		}
		for id, j := range m.jobs {
			must, _ := cluster.ParseConstraint(j.must)
			fits := j.waits > 0 && must.Allows(n.labels) && m.windows.lets(name, j.window, m.now, j.limit) && left["cpu"] >= max(1, j.ask["cpu"])
			for r, need := range cluster.WithTypes(j.ask) {
				fits = fits && left[r] >= need
			}
			if fits {
				t.Fatalf("job %d (%v, %q) waits, and fits on %s, which has %v left", id, j.ask, j.must, name, left)
			}
		}
	}
}

package sched_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// rebalanceModel drives a random tree under the policy load, in which no pool has a minimum: a pool below its minimum
// may take, before all others, the room that several stopped tasks leave together.
type rebalanceModel struct {
	*story
	rng  *rand.Rand
	root share.Pool
	wide bool
	key  map[int64]cluster.Key
}

// TestRebalanceRules: whatever happens, no class loses protected tasks or falls below its target. Each class that tasks
// were stopped for starts a task as soon as these have ended. Among narrow tasks, the class that lost tasks starts
// none.
func TestRebalanceRules(t *testing.T) {
	stops := 0
	for seed := range uint64(300) {
		m := newRebalanceModel(t, seed)
		for range 100 {
			m.happen()
			m.decide()
			stops += len(m.stops)
			if fors, froms := m.checkStops(); len(fors) > 0 && !t.Failed() {
				m.checkStarts(fors, froms)
			}
			if t.Failed() {
				t.Fatalf("seed %d\n%s", seed, m.text.String())
			}
		}
	}
	if stops == 0 {
		t.Error("nothing was ever stopped")
	}
	t.Log("stops:", stops)
}

func newRebalanceModel(t *testing.T, seed uint64) *rebalanceModel {
	m := &rebalanceModel{rng: rand.New(rand.NewPCG(seed, 0)), key: map[int64]cluster.Key{}}
	m.wide = m.rng.IntN(2) == 0
	pool := func(name string, kids ...share.Pool) share.Pool {
		p := share.Pool{Name: name, Weight: float64(1 + m.rng.IntN(5)), Policy: "fair", Pools: kids}
		switch m.rng.IntN(6) {
		case 0:
			p.Max = map[string]int64{"cpu": int64(1 + m.rng.IntN(6))}
		case 1:
			p.Max = map[string]int64{"gpu": int64(m.rng.IntN(3))}
		case 2:
			p.MaxRunning = 1 + m.rng.IntN(5)
		}
		p.Reclaim.Protect = m.rng.IntN(8) == 0
		return p
	}
	m.root = share.Pool{
		Policy: "load",
		Options: share.Options{
			Rounding:  []string{"exact", "scoot"}[m.rng.IntN(2)],
			Rebalance: share.Rebalance{Threshold: float64(1 + m.rng.IntN(30)), MinDuration: 30 * time.Second},
		},
		Pools: []share.Pool{pool("a", pool("x"), pool("y")), pool("b"), pool("c", pool("x"), pool("y"))},
	}
	m.story = newStory(t, reclaimConfig(m.root, sched.Cheapest))
	m.Join("n1", cluster.Amounts{"cpu": 6, "gpu": 2}, epoch)
	m.Join("n2", cluster.Amounts{"cpu": 5}, epoch)
	return m
}

// happen submits a job, ends some tasks, or lets time pass.
func (m *rebalanceModel) happen() {
	switch m.rng.IntN(4) {
	case 0:
		ask, width := cluster.Amounts{}, int64(1)
		if m.wide {
			width += m.rng.Int64N(4)
		}
		if m.rng.IntN(6) == 0 {
			ask["gpu"] = 1
		}
		leaf := []string{"a/x", "a/y", "b", "c/x", "c/y"}[m.rng.IntN(5)]
		j := m.add(leaf, 1+m.rng.IntN(8), width, func(j *sched.Job) {
			ask["cpu"] = width
			j.Key = m.Key(ask)
		})
		m.key[j.ID] = j.Key
	case 1:
		for _, id := range m.order {
			if _, runs := m.runs[id]; runs && m.rng.IntN(4) == 0 {
				m.Finish(id, m.now, true)
				delete(m.runs, id)
			}
		}
	default:
		m.now = m.now.Add(time.Duration(1+m.rng.IntN(30)) * time.Second)
	}
}

// checkStops checks the stopped tasks by the rules, and returns the classes that gain and that lose room.
func (m *rebalanceModel) checkStops() (fors, froms []sched.PoolID) {
	left := map[sched.PoolID]float64{}
	for _, x := range m.stops {
		if _, seen := left[x.From]; !seen {
			left[x.From] = m.View(x.From).Running
			froms = append(froms, x.From)
		}
		if left[x.From] -= x.Width; left[x.From] < m.View(x.From).Target {
			m.t.Errorf("%s keeps %v of its target", m.Path(x.From), left[x.From])
		}
		for id := x.Pool; id != sched.Root; id = m.Read().Parent(id) {
			if p := m.root.Find(m.Path(id)); p != nil && p.Reclaim.Protect {
				m.t.Errorf("%s is protected", m.Path(id))
			}
		}
		if !slices.Contains(fors, x.For) {
			fors = append(fors, x.For)
		}
	}
	return fors, froms
}

// checkStarts ends the stopped tasks and checks the next starts. Narrow tasks of a class that lost room may start only
// if room was free before and a limit kept them from it.
func (m *rebalanceModel) checkStarts(fors, froms []sched.PoolID) {
	idle := slices.ContainsFunc(m.Cluster().Nodes(), func(n cluster.Node) bool { return n.Free[0] > 0 })
	for _, x := range m.stops {
		m.Finish(x.Run, m.now, false)
		delete(m.runs, x.Run)
	}
	for _, x := range m.stops {
		m.Add(sched.Job{ID: x.Job, Pool: m.Pool(m.names[x.Job]), Key: m.key[x.Job], Priority: normal, Tasks: 1}, m.now)
	}
	m.stops = nil
	m.say("ended: what was stopped, and waits again")
	before := len(m.order)
	m.decide()
	started := func(class sched.PoolID) bool {
		return slices.ContainsFunc(m.order[before:], func(id sched.RunID) bool { return m.inside(m.runs[id].Pool, class) })
	}
	for _, class := range fors {
		if !started(class) {
			m.t.Errorf("%s starts nothing of what others gave", m.Path(class))
		}
	}
	for _, class := range froms {
		if !m.wide && !idle && started(class) {
			m.t.Errorf("%s gave, and starts a task again", m.Path(class))
		}
	}
}

// inside reports whether a pool is a class or lies below it.
func (m *rebalanceModel) inside(id, class sched.PoolID) bool {
	for id != class && id != sched.Root {
		id = m.Read().Parent(id)
	}
	return id == class
}

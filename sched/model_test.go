package sched_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
)

// These actions happen to a scheduler besides its own steps: other schedulers start tasks, nodes return with running
// tasks, and ends are reported late.

// aNode draws a node.
func (m *model) aNode(t *rapid.T) cluster.NodeID {
	return cluster.NodeID(rapid.IntRange(0, len(m.Cluster().Nodes())-1).Draw(t, "node"))
}

// oneOf draws a job that is not a gang, and the job as it looks in the report of one of its tasks.
func (m *model) oneOf(t *rapid.T) (*modelJob, sched.Job) {
	j := m.anyJob(t)
	if j.gang() > 1 {
		t.Skip("a gang")
	}
	one := j.header
	one.Tasks, one.Begin, one.Pool = 1, time.Time{}, m.Pool(j.path)
	if rapid.Bool().Draw(t, "charged") {
		one.Charge = float64(rapid.IntRange(1, 5).Draw(t, "charge")) / 10
	}
	return j, one
}

func (m *model) ran(j *modelJob, id sched.RunID, node cluster.NodeID) {
	j.running++
	m.running = append(m.running, modelRun{id, j.header.ID, m.Cluster().Nodes()[node].Name})
}

// adopt adds a task that has run on a node for some time. The waiting tasks of its job, if there are any, come later.
func (m *model) adopt(t *rapid.T) {
	j, one := m.oneOf(t)
	m.due()
	if j.waiting+j.later > 0 || j.running == j.header.Tasks {
		t.Skip("some of it waits, or all runs")
	}
	one.Tasks = j.header.Tasks
	node := m.aNode(t)
	id := m.Adopt(one, node, m.now.Add(-time.Duration(rapid.IntRange(0, 100).Draw(t, "ago"))*time.Second), m.now)
	m.due()
	m.ran(j, id, node)
}

// takeElsewhere reports a task that another scheduler started.
func (m *model) takeElsewhere(t *rapid.T) {
	j, one := m.oneOf(t)
	one.Tasks = j.header.Tasks
	m.Advance(m.now)
	m.due()
	if j.waiting+j.later == 0 && j.running == j.header.Tasks {
		t.Skip("all of it runs")
	}
	node := m.aNode(t)
	id := m.Take(one, node, m.now.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "ago"))*time.Second), m.now)
	switch {
	case j.waiting > 0:
		j.waiting--
	case j.later > 0:
		j.later--
	}
	m.ran(j, id, node)
}

// restore reports how much a pool received, and how long its tasks took.
func (m *model) restore(t *rapid.T) {
	m.Advance(m.now)
	m.Memory().Restore(m.Pool(rapid.SampledFrom(paths).Draw(t, "pool")), 100, float64(rapid.IntRange(1, 500).Draw(t, "mean")), 3)
	m.due()
}

// finishLate reports a task that ended some time ago.
func (m *model) finishLate(t *rapid.T) {
	r := m.takeRun(t)
	m.FinishAt(r.id, m.now.Add(-time.Duration(rapid.IntRange(-5, 100).Draw(t, "ago"))*time.Second), m.now, rapid.Bool().Draw(t, "learn"))
	m.due()
}

// leave reports that a task was told to end; spare reports that a task is not stopped after all.
func (m *model) leave(t *rapid.T) { m.Leave(m.aRun(t).id) }

func (m *model) spare(t *rapid.T) { m.Spare(m.aRun(t).id) }

// together stops two tasks so that their room is free at once.
func (m *model) together(t *rapid.T) {
	a, b := m.aRun(t), m.aRun(t)
	if a.id == b.id || !m.Stoppable(a.id) || !m.Stoppable(b.id) {
		t.Skip("one of them cannot be stopped")
	}
	m.StopTogether([]sched.RunID{a.id, b.id}, sched.StopShare, &sched.Decision{})
}

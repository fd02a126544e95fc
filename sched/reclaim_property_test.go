package sched_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// reclaimModel drives a random tree and keeps its own account of tasks that may be stopped.
type reclaimModel struct {
	*story
	root    share.Pool
	grace   time.Duration
	unit    bool // all tasks are one unit wide
	gangs   map[int64]bool
	key     map[int64]cluster.Key
	stopped map[int64]time.Time // by job, when a task was stopped
	leaving map[sched.RunID]sched.Stop
}

// TestReclaimRules: whatever happens, no pool that loses tasks falls below its entitlement or its minimum, no job is
// stopped twice within its grace period, and a gang is stopped as a whole or not at all. Nothing is stopped before the
// timeout, and no more is stopped than the pool lacks.
func TestReclaimRules(t *testing.T) {
	stops := 0
	for range 20 { // in a short run, the few draws often lead to no stop, so there are more draws then
		rapid.Check(t, func(t *rapid.T) {
			m := newReclaimModel(t)
			wait := rapid.IntRange(1, 30)
			t.Repeat(map[string]func(*rapid.T){
				"submit": m.submit,
				"finish": m.finish,
				"carry":  m.carry,
				"wait":   func(t *rapid.T) { m.now = m.now.Add(time.Duration(wait.Draw(t, "s")) * time.Second) },
				"":       func(t *rapid.T) { stops += m.check(t) },
			})
		})
		if stops > 0 || t.Failed() {
			break
		}
	}
	if stops == 0 {
		t.Error("nothing was ever stopped")
	}
	t.Log("stops:", stops)
}

func newReclaimModel(t *rapid.T) *reclaimModel {
	m := &reclaimModel{
		gangs: map[int64]bool{}, key: map[int64]cluster.Key{}, stopped: map[int64]time.Time{}, leaving: map[sched.RunID]sched.Stop{},
		unit: rapid.Bool().Draw(t, "unit"), grace: time.Duration(rapid.IntRange(0, 100).Draw(t, "grace")) * time.Second,
	}
	pool := func(name string, kids ...share.Pool) share.Pool {
		p := share.Pool{Name: name, Weight: float64(rapid.IntRange(1, 5).Draw(t, "weight")), Pools: kids}
		if rapid.IntRange(0, 2).Draw(t, "guaranteed") == 0 {
			p.Min = map[string]int64{"cpu": rapid.Int64Range(1, 4).Draw(t, "min")}
		}
		p.Reclaim.Protect = rapid.IntRange(0, 8).Draw(t, "protect") == 0
		return p
	}
	m.root = share.Pool{
		Policy:  rapid.SampledFrom([]string{"fair", "fair", "fifo", "lottery"}).Draw(t, "policy"),
		Reclaim: share.Reclaim{MinAfter: 20 * time.Second, ShareAfter: 40 * time.Second, Below: 0.8},
		Pools:   []share.Pool{pool("a", pool("x"), pool("y")), pool("b"), pool("c", pool("x"), pool("y"))},
	}
	cfg := sched.Config{Root: m.root, Reclaim: sched.Reclaim{Grace: m.grace, Choose: sched.Choose(rapid.IntRange(0, 1).Draw(t, "choose"))}}
	m.story = newStory(new(testing.T), cfg, 6, 5)
	return m
}

func (m *reclaimModel) submit(t *rapid.T) {
	width := int64(1)
	if !m.unit {
		width = rapid.Int64Range(1, 4).Draw(t, "width")
	}
	gang := rapid.IntRange(0, 3).Draw(t, "gang") == 0
	tasks, key := rapid.IntRange(1, 12).Draw(t, "tasks"), func(*sched.Job) {}
	if gang {
		tasks, key = 2+tasks%4, m.gang
	}
	j := m.add(rapid.SampledFrom([]string{"a/x", "a/y", "b", "c/x", "c/y"}).Draw(t, "pool"), tasks, width, key)
	m.gangs[j.ID], m.key[j.ID] = gang, j.Key
}

func (m *reclaimModel) finish(t *rapid.T) {
	if len(m.runs) == 0 {
		t.Skip("nothing runs")
	}
	m.order = slices.DeleteFunc(m.order, func(id sched.RunID) bool { _, runs := m.runs[id]; return !runs })
	m.ends(rapid.SampledFrom(m.order).Draw(t, "task"))
}

func (m *reclaimModel) ends(id sched.RunID) {
	m.Finish(id, m.now, true)
	delete(m.runs, id)
	delete(m.leaving, id)
}

// carry ends one of the tasks that were stopped; it waits again.
func (m *reclaimModel) carry(t *rapid.T) {
	i := slices.IndexFunc(m.order, func(id sched.RunID) bool { _, leaves := m.leaving[id]; return leaves })
	if i < 0 {
		t.Skip("nothing was stopped")
	}
	x := m.leaving[m.order[i]]
	m.ends(x.Run)
	m.Add(sched.Job{ID: x.Job, Pool: m.Pool(m.names[x.Job]), Key: m.key[x.Job], Priority: normal, Tasks: 1}, m.now)
}

// check decides, and checks the stopped tasks by the rules.
func (m *reclaimModel) check(t *rapid.T) int {
	m.decide()
	for _, x := range m.d.Stops {
		if m.leaving[x.Run].Run != 0 {
			t.Fatalf("stopped twice: %+v", x)
		}
		m.leaving[x.Run] = x
	}
	entitled := m.PartsLeft()
	for _, x := range m.d.Stops {
		m.checkTimes(t, x)
		m.checkGiver(t, x, entitled)
		m.checkGang(t, x)
	}
	for _, x := range m.d.Stops {
		m.stopped[x.Job] = m.now
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	return len(m.d.Stops)
}

func (m *reclaimModel) checkTimes(t *rapid.T, x sched.Stop) {
	after := map[sched.StopRule]time.Duration{sched.StopMin: 20 * time.Second, sched.StopShare: 40 * time.Second}[x.Rule]
	if m.now.Sub(x.Since) < after || x.Running >= x.Goal {
		t.Fatalf("stopped too early: %+v", x)
	}
	if last, before := m.stopped[x.Job]; before && last != m.now && m.now.Sub(last) < m.grace {
		t.Fatalf("job %d was stopped %v ago", x.Job, m.now.Sub(last))
	}
}

func (m *reclaimModel) checkGiver(t *rapid.T, x sched.Stop, entitled []sched.Entitlement) {
	left := m.View(x.From).Running
	got, goal := m.View(x.For).Running, x.Goal
	for _, y := range m.leaving {
		if m.inside(y.Pool, x.From) && !m.inside(y.For, x.From) { // otherwise its room stays there
			left -= y.Width
		}
		if y.For == x.For && m.unit && !m.gangs[y.Job] {
			got, goal = got+y.Width, max(goal, y.Goal) // by both rules
		}
	}
	least := 0.0
	if l, ok := m.Read().Limits(x.From); ok {
		least = float64(l.Min["cpu"])
	}
	if left < entitled[x.From].Now-1e-6 || left < least {
		t.Fatalf("%s keeps %v of its entitlement %v and minimum %v: %+v\n%s", m.Path(x.From), left, entitled[x.From].Now, least, x, m.text.String())
	}
	// An earlier stop may also be for a pool below; then it counts twice.
	if m.unit && len(m.d.Stops) == len(m.leaving) && got > goal+1e-6 {
		t.Fatalf("%s gets %v of %v: %+v\n%s", m.Path(x.For), got, goal, x, m.text.String())
	}
	if m.inside(x.Pool, x.For) || m.protected(x.Pool) {
		t.Fatalf("%s gives: %+v", m.Path(x.Pool), x)
	}
}

func (m *reclaimModel) checkGang(t *rapid.T, x sched.Stop) {
	for id, j := range m.runs {
		if j.ID == x.Job && m.gangs[j.ID] && m.leaving[id].Run == 0 {
			t.Fatalf("a part of gang %d goes on: %+v", j.ID, x)
		}
	}
}

func (m *reclaimModel) inside(id, above sched.PoolID) bool {
	for ; id != sched.Root; id = m.Read().Parent(id) {
		if id == above {
			return true
		}
	}
	return above == sched.Root
}

func (m *reclaimModel) protected(id sched.PoolID) bool {
	for ; id != sched.Root; id = m.Read().Parent(id) {
		if p := m.root.Find(m.Path(id)); p != nil && p.Reclaim.Protect {
			return true
		}
	}
	return false
}

package bench

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
)

// machines is a scheduler over many nodes of mixed sizes, nearly full, with waiting jobs of mixed requests.
type machines struct {
	s       *sched.Scheduler
	at      time.Time
	rng     *rand.Rand
	keys    []cluster.Key
	pools   []sched.PoolID
	id      int64
	running []sched.RunID
	d       sched.Decision
}

// nodeKinds lists the kinds of nodes. With two racks each they form eight classes.
var nodeKinds = []cluster.Amounts{
	{"cpu": 32, "mem": 128}, {"cpu": 64, "mem": 1024},
	{"cpu": 32, "mem": 256, "gpu:a100": 4}, {"cpu": 48, "mem": 512, "gpu:h100": 8},
}

// newMachines fills the machines with running and waiting jobs. The argument "requests" is the number of different
// requests.
func newMachines(cfg sched.Config, nodes, pools, requests, waiting int) (*machines, error) {
	m := &machines{at: time.Unix(1_700_000_000, 0), rng: rand.New(rand.NewPCG(1, 1))}
	var err error
	if m.s, err = sched.New(cfg, m.at, 1); err != nil {
		return nil, err
	}
	for i := range nodes {
		labels := cluster.Labels{"rack": string(rune('a' + i/4%2))}
		m.s.JoinLabelled(fmt.Sprint("n", i), nodeKinds[i%4], labels, m.at)
	}
	rackA, err := cluster.ParseConstraint("rack=a")
	if err != nil {
		return nil, err
	}
	for i := range requests {
		r := sched.Request{Amounts: cluster.Amounts{"cpu": int64(1 + i%8), "mem": int64(2 + 3*i%61)}}
		switch {
		case i%5 == 4:
			r.Amounts["gpu:a100"] = 1
		case i%7 == 6:
			r.Amounts["gpu"] = 2
		case i%9 == 8:
			r.Constraint = rackA
		}
		m.keys = append(m.keys, m.s.KeyOf(r))
	}
	for i := range pools {
		m.pools = append(m.pools, m.s.Pool(fmt.Sprint("u", i)))
	}
	for range waiting {
		m.submit()
	}
	for started := 1; started > 0; {
		started = m.step()
		for range started {
			m.submit()
		}
	}
	for range nodes * 40 { // until the initial state no longer influences the mix of running jobs
		m.cycle()
	}
	return m, nil
}

func (m *machines) submit() {
	m.id++
	m.s.Add(
		sched.Job{
			ID: m.id, Pool: m.pools[m.rng.IntN(len(m.pools))], Key: m.keys[m.rng.IntN(len(m.keys))], Priority: 2, Tasks: 1,
		}, m.at)
}

func (m *machines) step() int {
	m.s.Step(m.at, 0, &m.d)
	for _, st := range m.d.Starts {
		m.running = append(m.running, st.Run)
	}
	return len(m.d.Starts)
}

// cycle ends a task and starts the tasks that then fit. For each started task it submits another one.
func (m *machines) cycle() (started int) {
	m.at = m.at.Add(10 * time.Millisecond)
	k := m.rng.IntN(len(m.running))
	m.s.Finish(m.running[k], m.at, true)
	m.running[k] = m.running[len(m.running)-1]
	m.running = m.running[:len(m.running)-1]
	started = m.step()
	for range started {
		m.submit()
	}
	return started
}

// Nodes measures decisions that fit tasks to many nodes: a task ends, and the scheduler places the tasks that
// start, with the record of the choice. It uses one core.
func Nodes(nodes, pools, requests, waiting, n int) (Result, error) {
	m, err := newMachines(allocation.Default().Sched, nodes, pools, requests, waiting)
	if err != nil {
		return Result{}, err
	}
	runtime.GC()
	w, decisions := start(), 0
	for decisions < n {
		decisions += m.cycle()
	}
	r := Result{
		Name: "decisions that fit nodes", Detail: fmt.Sprintf("fair, %d nodes, %d requests, %d pools, %d waiting", nodes,
			requests, pools, waiting),
	}
	r.PerSecond, r.CPU = w.stop(decisions)
	if nodes == 1000 {
		r.Goal = ">= 100,000/s per core"
	}
	return r, nil
}

package sched_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// drfModel follows the definition of dominant resource fairness: one machine, tasks with one key in each pool, exact
// numbers, and every choice compares all pools.
type drfModel struct {
	capacity cluster.Amounts
	free     cluster.Amounts
	pools    []*drfPool
	clock    *big.Rat // the largest turn of a pool that started a task, before that start
}

type drfPool struct {
	name    string
	weight  int64
	ask     cluster.Amounts
	waiting int
	running int
	turn    *big.Rat // decides between pools that hold equal parts
}

// part is the largest part of any resource of the machine that this number of tasks of the pool takes.
func (m *drfModel) part(p *drfPool, tasks int) *big.Rat {
	most := new(big.Rat)
	for name, n := range p.ask {
		if x := big.NewRat(n*int64(tasks), m.capacity[name]); x.Cmp(most) > 0 {
			most = x
		}
	}
	return most
}

func (m *drfModel) key(p *drfPool) *big.Rat {
	return new(big.Rat).Quo(m.part(p, p.running), big.NewRat(p.weight, 1))
}

func (m *drfModel) fits(p *drfPool) bool {
	for name, n := range p.ask {
		if n > m.free[name] {
			return false
		}
	}
	return true
}

// next returns the pool that goes first among the pools with work that fits, nil if there is none.
func (m *drfModel) next() *drfPool {
	var best *drfPool
	for _, p := range m.pools {
		if p.waiting == 0 || !m.fits(p) {
			continue
		}
		if best == nil {
			best = p
			continue
		}
		if c := m.key(p).Cmp(m.key(best)); c < 0 || c == 0 && p.turn.Cmp(best.turn) < 0 {
			best = p
		}
	}
	return best
}

func (m *drfModel) start(p *drfPool) {
	if p.turn.Cmp(m.clock) > 0 {
		m.clock = p.turn
	}
	p.turn = new(big.Rat).Add(m.clock, big.NewRat(1, p.weight))
	p.waiting, p.running = p.waiting-1, p.running+1
	m.take(p, 1)
}

func (m *drfModel) take(p *drfPool, tasks int64) {
	for name, n := range p.ask {
		m.free[name] -= tasks * n
	}
}

// resize changes the size of the machine; the running tasks must fit.
func (m *drfModel) resize(to cluster.Amounts) {
	for _, p := range m.pools {
		for name, n := range p.ask {
			to[name] = max(to[name], m.capacity[name]-m.free[name], n)
		}
	}
	m.capacity, m.free = to, cluster.Amounts{}
	for name, n := range to {
		m.free[name] = n
	}
	for _, p := range m.pools {
		m.take(p, int64(p.running))
	}
}

func drawMachine(t *rapid.T) cluster.Amounts {
	return cluster.Amounts{
		"cpu": int64(rapid.IntRange(4, 40).Draw(t, "cpu")), "mem": int64(rapid.IntRange(4, 60).Draw(t, "mem")), "gpu": int64(rapid.IntRange(1, 8).Draw(t, "gpu")),
	}
}

func drawDRF(t *rapid.T, weights []int64) (*drfModel, *sched.Scheduler) {
	m := &drfModel{clock: new(big.Rat)}
	cfg := sched.Config{Root: share.Pool{Policy: "drf"}, NewPolicy: policy.New(policy.Options{})}
	for i := range rapid.IntRange(2, 6).Draw(t, "pools") {
		p := &drfPool{turn: new(big.Rat), name: fmt.Sprint("p", i), weight: rapid.SampledFrom(weights).Draw(t, "weight"), ask: cluster.Amounts{"cpu": int64(rapid.IntRange(1, 4).Draw(t, "cpu"))}}
		for name, most := range map[string]int{"mem": 8, "gpu": 1} {
			if n := rapid.IntRange(0, most).Draw(t, name); n > 0 {
				p.ask[name] = int64(n)
			}
		}
		m.pools = append(m.pools, p)
		cfg.Root.Pools = append(cfg.Root.Pools, share.Pool{Name: p.name, Weight: float64(p.weight)})
	}
	s, err := sched.New(cfg, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	m.resize(drawMachine(t))
	s.Join("n", m.capacity, epoch)
	return m, s
}

// TestDRFIsTheModel: whatever is submitted, ends and changes, the scheduler starts tasks of the pools in the order of
// the model, and so does a fork.
func TestDRFIsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, s := drawDRF(t, []int64{1, 2, 4})
		now, job := epoch, int64(0)
		runs := map[string][]sched.RunID{}
		var d, other sched.Decision
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			now = now.Add(time.Second)
			p := rapid.SampledFrom(m.pools).Draw(t, "pool")
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				m.resize(drawMachine(t))
				s.Join("n", m.capacity, now)
			case 1, 2:
				if n := len(runs[p.name]); n > 0 {
					s.Finish(runs[p.name][n-1], now, true)
					runs[p.name] = runs[p.name][:n-1]
					p.running--
					m.take(p, -1)
				}
			default:
				job++
				n := rapid.IntRange(1, 9).Draw(t, "tasks")
				s.Add(sched.Job{ID: job, Pool: s.Pool(p.name), Key: s.Key(p.ask), Priority: 2, Tasks: n}, now)
				p.waiting += n
			}
			fork := s.Fork()
			s.Step(now, 0, &d)
			fork.Step(now, 0, &other)
			if a, b := fmt.Sprint(d.Starts), fmt.Sprint(other.Starts); a != b {
				t.Fatalf("a fork starts %s, the original %s", b, a)
			}
			for _, st := range d.Starts {
				want := m.next()
				if want == nil || s.Path(st.Pool) != want.name {
					t.Fatalf("%s starts, want %v of %v on %v", s.Path(st.Pool), want, m.pools, m.capacity)
				}
				m.start(want)
				runs[want.name] = append(runs[want.name], st.Run)
			}
			if left := m.next(); left != nil {
				t.Fatalf("nothing more starts, but a task of %v would fit", left)
			}
		}
	})
}

// TestDRFKeepsItsPromises fills a machine with tasks of pools that always want more. It checks the properties that the
// paper proves for divisible tasks, as far as whole tasks allow them.
//
//   - Every pool has its part of its dominant resource, w/W of it, less a loss because tasks are whole. When the pool
//     could start no more tasks, every other pool had at most one task more than it by their weights, and the free
//     room was less than one of its own tasks. So it has more than w/W of the machine without one task of each pool.
//   - Among equals, no pool would prefer the resources of another: with these, less one task of the other, it could
//     run at most one task more than it does.
//   - No waiting task would fit.
func TestDRFKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, s := drawDRF(t, rapid.SampledFrom([][]int64{{1}, {1, 2, 3, 5}}).Draw(t, "weights"))
		for i, p := range m.pools {
			s.Add(sched.Job{ID: int64(i + 1), Pool: s.Pool(p.name), Key: s.Key(p.ask), Priority: 2, Tasks: 100}, epoch)
			p.waiting = 100
		}
		var d sched.Decision
		s.Step(epoch, 0, &d)
		for _, st := range d.Starts {
			m.start(m.pools[st.Job-1])
		}
		weights, one := new(big.Rat), big.NewRat(1, 1)
		for _, p := range m.pools {
			if m.fits(p) {
				t.Fatalf("a task of %v fits into %v", p, m.free)
			}
			weights.Add(weights, big.NewRat(p.weight, 1))
			one.Sub(one, m.part(p, 1))
		}
		for _, p := range m.pools {
			least := new(big.Rat).Mul(one, new(big.Rat).Quo(big.NewRat(p.weight, 1), weights))
			if got := m.part(p, p.running); got.Cmp(least) <= 0 && least.Sign() > 0 {
				t.Fatalf("%v has %v of its dominant resource, at least %v is its own", p, got, least)
			}
			for _, q := range m.pools {
				if n := m.couldRun(p, q); p.weight == q.weight && n.Cmp(big.NewRat(int64(p.running+1), 1)) > 0 {
					t.Fatalf("%v could run %v tasks with what %v has", p, n, q)
				}
			}
		}
	})
}

// couldRun returns how many tasks one pool could run with the resources of another, less one task.
func (m *drfModel) couldRun(p, q *drfPool) *big.Rat {
	least := new(big.Rat)
	for name, n := range p.ask {
		x := big.NewRat(int64(max(0, q.running-1))*q.ask[name], n)
		if least.Sign() == 0 || x.Cmp(least) < 0 {
			least = x
		}
		if x.Sign() == 0 {
			return x
		}
	}
	return least
}

// TestDRFAtEqualParts: one of five slots for the weight 1 and three for the weight 3 are equal parts, so the older pool
// goes first. In floating point, a fifth is not a third of three fifths.
func TestDRFAtEqualParts(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "drf", Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 3}}}, 5, 1)
	w.submit("a", 9)
	w.submit("b", 9)
	if got, want := w.paths(w.step(0)), []string{"a", "b", "b", "b", "a"}; !slices.Equal(got, want) {
		t.Errorf("starts %v, want %v", got, want)
	}
}

package cluster

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// slowPlace is what Place promises, said as simply as possible.
func slowPlace(c *Cluster, s Key, ok func(NodeID) bool) (NodeID, bool) {
	req := &c.requests.all[s]
	c.fleet.classes.suiting(req, c.windows.now)
	var best candidate
	for i := range c.fleet.nodes {
		n := &c.fleet.nodes[i]
		if n.State != Up || !n.Free.Covers(req.need) || !req.must.Allows(n.Labels) || !ok(NodeID(i)) {
			continue
		}
		extra := int32(0)
		for r, have := range n.Capacity {
			if have > 0 && req.need.at(r) <= 0 {
				extra++
			}
		}
		best.consider(candidate{true, extra, n.Free.at(req.scarce), NodeID(i)})
	}
	return best.id, best.found
}

func anyNode(NodeID) bool { return true }

func TestPlaceAgainstScan(t *testing.T) {
	for seed := range uint64(30) {
		w := newWorld(seed)
		for step := range 3000 {
			w.change()
			s := w.requests[w.rng.IntN(len(w.requests))]
			want, wantOK := slowPlace(w.c, s, anyNode)
			if w.c.Room(s) != wantOK {
				t.Fatalf("seed %d step %d: Room(%d) = %v", seed, step, s, !wantOK)
			}
			got, ok := w.c.Place(s)
			if got != want && wantOK || ok != wantOK {
				t.Fatalf("seed %d step %d: Place(%d) = %d %v, want %d %v", seed, step, s, got, ok, want, wantOK)
			}
			odd := func(id NodeID) bool { return id%2 == 1 }
			want, wantOK = slowPlace(w.c, s, odd)
			if got, ok := w.c.PlaceOn(s, odd); got != want && wantOK || ok != wantOK {
				t.Fatalf("seed %d step %d: PlaceOn(%d) = %d %v, want %d %v", seed, step, s, got, ok, want, wantOK)
			}
			w.check(t)
			if step%500 == 499 {
				w.c = w.c.Clone()
			}
		}
	}
}

// world is a cluster in which anything happens.
type world struct {
	rng      *rand.Rand
	c        *Cluster
	requests []Key
	runs     [][2]int32 // node, key
}

func newWorld(seed uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 1)), c: New("cpu")}
	for _, must := range []string{"", "rack=a", "rack!=a", "rack=a|b & ssd"} {
		m, _ := ParseConstraint(must)
		for _, a := range []Amounts{
			{"cpu": 1}, {"cpu": 4, "mem": 2}, {"cpu": 2, "mem": 9},
			{"gpu": 1}, {"gpu:a100": 2}, {"cpu": 3, "gpu:h100": 1},
		} {
			w.requests = append(w.requests, w.c.KeyOf(Ask{Amounts: a, Must: m}))
		}
	}
	return w
}

func (w *world) change() {
	switch k := w.rng.IntN(20); {
	case k == 0:
		kinds := []Amounts{
			{"cpu": 8, "mem": 16}, {"cpu": 4}, {"cpu": 8, "mem": 16, "gpu:a100": 4}, {"cpu": 8, "gpu": 3},
			{"cpu": 16, "mem": 64, "gpu:a100": 1, "gpu:h100": 2},
		}
		labels := []Labels{nil, {"rack": "a"}, {"rack": "b", "ssd": "1"}}
		w.c.JoinLabelled(fmt.Sprint("n", w.rng.IntN(40)), kinds[w.rng.IntN(len(kinds))], labels[w.rng.IntN(len(labels))])
	case k == 1 && len(w.c.fleet.nodes) > 0:
		w.c.SetState(NodeID(w.rng.IntN(len(w.c.fleet.nodes))), State(w.rng.IntN(4)))
	case k < 8 && len(w.runs) > 0:
		i := w.rng.IntN(len(w.runs))
		w.c.Give(NodeID(w.runs[i][0]), Key(w.runs[i][1]))
		w.runs[i] = w.runs[len(w.runs)-1]
		w.runs = w.runs[:len(w.runs)-1]
	default:
		s := w.requests[w.rng.IntN(len(w.requests))]
		if id, ok := w.c.Place(s); ok {
			w.c.Take(id, s)
			w.runs = append(w.runs, [2]int32{int32(id), int32(s)})
		}
	}
}

// check compares the stored sums with the tasks behind them.
func (w *world) check(t *testing.T) {
	t.Helper()
	units := int64(0)
	for i := range w.c.fleet.nodes {
		n := &w.c.fleet.nodes[i]
		if n.State == Up {
			units += max(0, n.Free.at(0))
		}
		if !w.c.fleet.groups.made || n.State != Up {
			continue
		}
		g := &w.c.fleet.groups.all[n.group]
		if g.ids[n.slot] != NodeID(i) || fmt.Sprint(g.free) != fmt.Sprint(n.Free.trimmed()) || g.class != n.class {
			t.Fatalf("node %d is in the wrong group", i)
		}
	}
	if got := w.c.FreeUnits(); got != units {
		t.Fatalf("%d units are free, want %d", got, units)
	}
}

func TestTypedResources(t *testing.T) {
	c := New("cpu")
	a := c.Join("a", Amounts{"cpu": 8, "gpu:a100": 4})
	b := c.Join("b", Amounts{"cpu": 8, "gpu:h100": 2})
	c.Join("c", Amounts{"cpu": 8})
	any, cpu := c.Key(Amounts{"gpu": 2}), c.Key(nil)
	a100, h100 := c.Key(Amounts{"gpu:a100": 2}), c.Key(Amounts{"gpu:h100": 2})
	if id, ok := c.Place(a100); !ok || id != a {
		t.Fatalf("a100 on %d %v", id, ok)
	}
	if id, ok := c.Place(any); !ok || id != b {
		t.Fatalf("any on %d %v, want where the least is left over", id, ok)
	}
	c.Take(b, any)
	if _, ok := c.Place(h100); ok {
		t.Fatal("an h100 was given out twice")
	}
	if id, _ := c.Place(cpu); id != 2 {
		t.Fatalf("a task without gpu on %d, want the node without", id)
	}
	c.Take(a, a100)
	c.Take(a, any)
	for name, s := range map[string]Key{"any": any, "a100": a100} {
		if _, ok := c.Place(s); ok {
			t.Errorf("%s: all gpus are taken", name)
		}
	}
}

func TestGapsAreFilledFirst(t *testing.T) {
	c := New("cpu")
	c.Join("large", Amounts{"cpu": 64})
	small := c.Join("small", Amounts{"cpu": 16})
	one, four := c.Key(nil), c.Key(Amounts{"cpu": 4})
	if id, _ := c.Place(four); id != small {
		t.Fatal("a small task broke into the large node")
	}
	other := c.Join("other", Amounts{"cpu": 16})
	c.Take(other, one)
	if id, _ := c.Place(four); id != other {
		t.Fatal("an empty node was opened although another has room")
	}
}

// BenchmarkPlace measures placing and ending a task among nodes of four kinds, nearly full.
func BenchmarkPlace(b *testing.B) {
	for _, nodes := range []int{1, 10, 1000, 10_000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			c := New("cpu")
			kinds := []Amounts{
				{"cpu": 32, "mem": 128}, {"cpu": 64, "mem": 512},
				{"cpu": 32, "mem": 128, "gpu:a100": 4}, {"cpu": 32, "mem": 128, "gpu:h100": 8},
			}
			for i := range nodes {
				c.JoinLabelled(fmt.Sprint(i), kinds[i%4], Labels{"rack": fmt.Sprint(i % 2)})
			}
			var requests []Key
			for i := range 20 {
				requests = append(requests,
					c.Key(Amounts{"cpu": int64(1 + i%8), "mem": int64(1 + 7*i%40), "gpu": int64(i % 5 / 4)}))
			}
			rng := rand.New(rand.NewPCG(1, 1))
			type run struct {
				id NodeID
				s  Key
			}
			var runs []run
			for failed := 0; failed < 20; {
				s := requests[rng.IntN(len(requests))]
				if id, ok := c.Place(s); ok {
					c.Take(id, s)
					runs = append(runs, run{id, s})
				} else {
					failed++
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if k := rng.IntN(len(runs) + 1); k < len(runs) {
					c.Give(runs[k].id, runs[k].s)
					runs[k] = runs[len(runs)-1]
					runs = runs[:len(runs)-1]
				}
				s := requests[rng.IntN(len(requests))]
				if id, ok := c.Place(s); ok {
					c.Take(id, s)
					runs = append(runs, run{id, s})
				}
			}
		})
	}
}

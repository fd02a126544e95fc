package cluster

import (
	"testing"

	"pgregory.net/rapid"
)

// plain answers by trying; the package answers by counting.
type plain struct {
	c       *Cluster
	s       Key
	n       int
	spread  bool
	request Amounts
}

// holds is how many tasks fit into free amounts.
func (p plain) holds(free []int64) int {
	n := 0
	for {
		for r, a := range p.c.Request(p.s) {
			have := int64(0)
			if r < len(free) {
				have = free[r]
			}
			if have < int64(n+1)*a {
				return n
			}
		}
		if n++; p.spread || n > 100 {
			return n
		}
	}
}

func drawGang(t *rapid.T, c *Cluster) plain {
	p := plain{c: c, n: rapid.IntRange(2, 6).Draw(t, "gang"), spread: rapid.Bool().Draw(t, "spread")}
	p.request = Amounts{"cpu": rapid.Int64Range(1, 3).Draw(t, "cpu"), "mem": rapid.Int64Range(0, 2).Draw(t, "mem")}
	p.s = c.KeyOf(Ask{Amounts: p.request, Gang: p.n, Spread: p.spread})
	return p
}

// TestGangsArePlaced compares the nodes that gangs get with the free room, while nodes and tasks come and go.
func TestGangsArePlaced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New("cpu")
		for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
			cpu, mem := rapid.Int64Range(1, 6).Draw(t, "cpu"), rapid.Int64Range(0, 6).Draw(t, "mem")
			c.Join(string(rune('k'+i)), Amounts{"cpu": cpu, "mem": mem})
		}
		taken := map[NodeID][]Key{}
		small := c.Key(Amounts{"cpu": 1})
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			id := NodeID(rapid.IntRange(0, len(c.Nodes())-1).Draw(t, "node"))
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				if c.Fits(id, small) {
					c.Take(id, small)
					taken[id] = append(taken[id], small)
				}
			case 1:
				if had := taken[id]; len(had) > 0 {
					c.Give(id, had[0])
					taken[id] = had[1:]
				}
			case 2:
				c.SetState(id, State(rapid.IntRange(0, 1).Draw(t, "state")))
			}
			checkPlaced(t, drawGang(t, c), taken)
		}
	})
}

func checkPlaced(t *rapid.T, p plain, taken map[NodeID][]Key) {
	room, ever := 0, 0
	for _, n := range p.c.Nodes() {
		ever += p.holds(n.Capacity)
		if n.State == Up {
			room += p.holds(n.Free)
		}
	}
	placed, found := p.c.PlaceGang(p.s, nil, nil)
	if found != (room >= p.n) || found != p.c.Room(p.s) || found && len(placed) != p.n {
		t.Fatalf("room for %d of %d tasks: found %v on %v, room %v", room, p.n, found, placed, p.c.Room(p.s))
	}
	got, tasks := p.c.Empty().Holds(p.request, nil)
	if !p.spread {
		got = int(tasks)
	}
	if got != ever {
		t.Fatalf("%d tasks at once, want %d", got, ever)
	}
	if p.c.Empty().Could(p.s) != (ever >= p.n) {
		t.Fatalf("could %v, room for %d of %d", p.c.Empty().Could(p.s), ever, p.n)
	}
	if !found || !rapid.Bool().Draw(t, "take") {
		return
	}
	used := map[NodeID]bool{}
	for _, id := range placed {
		if !p.c.Fits(id, p.s) || p.spread && used[id] {
			t.Fatalf("no room on %v of %v", id, placed)
		}
		used[id] = true
		p.c.Take(id, p.s)
		taken[id] = append(taken[id], p.s)
	}
}

// TestGangsArePlanned compares the earliest instant at which a gang finds room with a look
// at each instant.
func TestGangsArePlanned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New("cpu")
		for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			cpu, mem := rapid.Int64Range(1, 6).Draw(t, "cpu"), rapid.Int64Range(0, 6).Draw(t, "mem")
			c.Join(string(rune('k'+i)), Amounts{"cpu": cpu, "mem": mem})
		}
		plan, one := c.NewPlan(0, nil), c.Key(Amounts{"cpu": 1})
		for range rapid.IntRange(0, 12).Draw(t, "tasks") {
			id, from := NodeID(rapid.IntRange(0, len(c.Nodes())-1).Draw(t, "node")), rapid.Int64Range(0, 12).Draw(t, "from")
			if to := from + rapid.Int64Range(1, 8).Draw(t, "length"); plan.Fits(id, one, from, to) {
				plan.Take(id, one, from, to)
			}
		}
		p := drawGang(t, c)
		length, from := rapid.Int64Range(1, 10).Draw(t, "length"), rapid.Int64Range(0, 5).Draw(t, "from")
		before := from + rapid.Int64Range(0, 25).Draw(t, "before")
		want, exists := int64(0), false
		for at := from; at < before && !exists; at++ {
			room := 0
			for i := range c.Nodes() {
				room += leastOver(plan, p, NodeID(i), at, at+length)
			}
			want, exists = at, room >= p.n
		}
		at, nodes, found := plan.EarliestGang(p.s, length, from, before, nil)
		if found != exists || found && (at != want || len(nodes) != p.n) {
			t.Fatalf("found %v at %d on %v, want %v at %d", found, at, nodes, exists, want)
		}
		for _, id := range nodes {
			if !plan.Fits(id, p.s, at, at+length) {
				t.Fatalf("no room on %v of %v", id, nodes)
			}
			plan.Take(id, p.s, at, at+length)
		}
	})
}

// leastOver is how many tasks fit on a node at each instant of a time.
func leastOver(plan *Plan, p plain, id NodeID, from, to int64) int {
	least := 1000
	for at := from; at < to; at++ {
		l := &plan.lines[id]
		least = min(least, p.holds(l.freeIn(l.find(at))))
	}
	if got := plan.Holds(id, p.s, from, to); !p.spread && got != least {
		return -1000
	}
	return least
}

// TestGangsAreCompact shows where the tasks of a gang go.
func TestGangsAreCompact(t *testing.T) {
	for _, x := range []struct {
		name   string
		gang   int
		spread bool
		want   []NodeID
	}{
		{"a gang that fits on one node goes where it fits best", 3, false, []NodeID{1, 1, 1}},
		{"a larger one fills the largest node first, and the rest goes where it fits best", 10, false,
			[]NodeID{2, 2, 2, 2, 2, 2, 2, 2, 0, 0}},
		{"nodes with GPUs are left to those who want them", 14, false, []NodeID{2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0}},
		{"a node for each", 3, true, []NodeID{0, 1, 2}},
		{"all of them", 4, true, []NodeID{0, 1, 2, 3}},
	} {
		c := New("cpu")
		c.Join("small", Amounts{"cpu": 2})
		c.Join("middle", Amounts{"cpu": 4})
		c.Join("large", Amounts{"cpu": 8})
		c.Join("gpu", Amounts{"cpu": 8, "gpu": 1})
		got, found := c.PlaceGang(c.KeyOf(Ask{Amounts: Amounts{"cpu": 1}, Gang: x.gang, Spread: x.spread}), nil, nil)
		if !found || len(got) != len(x.want) {
			t.Fatalf("%s: %v %v", x.name, got, found)
		}
		for i := range got {
			if got[i] != x.want[i] {
				t.Errorf("%s: on %v, want %v", x.name, got, x.want)
				break
			}
		}
	}
}

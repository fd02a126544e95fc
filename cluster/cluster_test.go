package cluster

import (
	"fmt"
	"testing"
)

func TestPlaceNeedsEveryResourceOnOneNode(t *testing.T) {
	c := New("cpu")
	c.Join("a", Amounts{"cpu": 4, "mem": 1})
	b := c.Join("b", Amounts{"cpu": 2, "mem": 8})
	wide := c.Key(Amounts{"cpu": 2, "mem": 4})
	if id, ok := c.Place(wide); !ok || id != b {
		t.Fatalf("Place = %v, %v; want b", id, ok)
	}
	c.Take(b, wide)
	if _, ok := c.Place(wide); ok {
		t.Fatal("placed a second one although b has no cpu left and a too little memory")
	}
	c.Give(b, wide)
	c.SetState(b, Drain)
	if _, ok := c.Place(wide); ok {
		t.Fatal("placed on a draining node")
	}
	if !c.Empty().Could(wide) {
		t.Fatal("a draining node still counts for what could ever fit")
	}
	if c.Empty().Could(c.Key(Amounts{"cpu": 5})) {
		t.Fatal("5 cpu fit on no single node")
	}
}

func TestRequestHasAtLeastOneUnit(t *testing.T) {
	c := New("cpu")
	if c.Key(nil) != c.Key(Amounts{"cpu": 1}) {
		t.Fatal("an empty request should ask for one unit")
	}
	gpu := c.Key(Amounts{"gpu": 1})
	if c.Width(gpu) != 1 {
		t.Fatalf("width %v, want 1", c.Width(gpu))
	}
}

func TestRejoinKeepsWhatRuns(t *testing.T) {
	c := New("cpu")
	id := c.Join("a", Amounts{"cpu": 4})
	one := c.Key(nil)
	c.Take(id, one)
	c.Take(id, one)
	c.SetState(id, Down)
	if again := c.Join("a", Amounts{"cpu": 3}); again != id {
		t.Fatal("the node came back under another number")
	}
	if got := c.Nodes()[id].Free[0]; got != 1 {
		t.Fatalf("free %d, want 3-2", got)
	}
}

func TestRequirementsSayWhichLeavesNoNode(t *testing.T) {
	c := New("cpu")
	c.JoinLabelled("a", Amounts{"cpu": 4, "mem": 100}, Labels{"rack": "a"})
	b := c.JoinLabelled("b", Amounts{"cpu": 8, "gpu:a100": 2}, Labels{"rack": "b"})
	c.SetState(b, Down)
	onB, _ := ParseConstraint("rack=b")
	for _, x := range []struct {
		ask   Amounts
		must  Constraint
		ever  bool
		steps string
	}{
		{Amounts{"cpu": 8}, nil, true, "[{ cpu 8 1 8 b []}]"},
		{Amounts{"cpu": 9}, nil, false, "[{ cpu 9 0 8 b []}]"},
		{Amounts{"gpu:a100": 2}, onB, true, "[{rack=b  0 1 0  []} { cpu 1 1 8 b []} { gpu:a100 2 1 2 b []}]"},
		{Amounts{"gpu": 3}, nil, false, "[{ cpu 1 2 8 b []} { gpu 3 0 2 b []}]"},
		{Amounts{"mem": 50}, onB, false, "[{rack=b  0 1 0  []} { cpu 1 1 8 b []} { mem 50 0 0  []}]"},
		{Amounts{"tape": 1}, nil, false, "[{ cpu 1 2 8 b []} { tape 1 0 0  []}]"},
	} {
		requests := c.Keys()
		if got := c.Empty().Ever(x.ask, x.must); got != x.ever {
			t.Errorf("Ever(%v, %v) = %v", x.ask, x.must, got)
		}
		if got := fmt.Sprint(c.Empty().Requirements(x.ask, x.must)); got != x.steps {
			t.Errorf("Requirements(%v, %v)\n got %s\nwant %s", x.ask, x.must, got, x.steps)
		}
		if c.Keys() != requests {
			t.Errorf("the question about %v was kept", x.ask)
		}
	}
}

func TestClassesOfNodesThatWentAreForgotten(t *testing.T) {
	c := New("cpu")
	for i := range int64(1000) {
		c.Join("a", Amounts{"cpu": 1 + i})
		c.Join("b", Amounts{"cpu": 4})
	}
	if got := len(c.fleet.classes.all); got > 3 {
		t.Fatalf("%d classes are kept for two nodes", got)
	}
}

// TestWhatIsNotNeededMayBeShort: a node with fewer GPUs than are taken has room for tasks that
// want none.
func TestWhatIsNotNeededMayBeShort(t *testing.T) {
	c := New("cpu")
	n := c.Join("n", Amounts{"cpu": 4, "gpu": 2, "mem": 8})
	c.Take(n, c.Key(Amounts{"cpu": 1, "gpu": 2}))
	c.Join("n", Amounts{"cpu": 4, "gpu": 1, "mem": 8})
	if !c.Fits(n, c.Key(Amounts{"cpu": 1, "mem": 1})) {
		t.Error("a task without GPUs finds no room")
	}
	if c.Fits(n, c.Key(Amounts{"cpu": 1, "gpu": 1})) {
		t.Error("a task with a GPU finds room")
	}
}

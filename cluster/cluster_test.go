package cluster

import "testing"

func TestPlaceNeedsEveryResourceOnOneNode(t *testing.T) {
	c := New("cpu")
	c.Join("a", Amounts{"cpu": 4, "mem": 1})
	b := c.Join("b", Amounts{"cpu": 2, "mem": 8})
	wide := c.Shape(Amounts{"cpu": 2, "mem": 4})
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
	if !c.Could(wide) {
		t.Fatal("a draining node still counts for what could ever fit")
	}
	if c.Could(c.Shape(Amounts{"cpu": 5})) {
		t.Fatal("5 cpu fit on no single node")
	}
}

func TestShapeHasAtLeastOneUnit(t *testing.T) {
	c := New("cpu")
	if c.Shape(nil) != c.Shape(Amounts{"cpu": 1}) {
		t.Fatal("an empty request should ask for one unit")
	}
	gpu := c.Shape(Amounts{"gpu": 1})
	if c.Width(gpu) != 1 {
		t.Fatalf("width %v, want 1", c.Width(gpu))
	}
}

func TestRejoinKeepsWhatRuns(t *testing.T) {
	c := New("cpu")
	id := c.Join("a", Amounts{"cpu": 4})
	one := c.Shape(nil)
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

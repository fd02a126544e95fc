package cluster_test

import (
	"testing"

	"github.com/fairlead/fairlead/cluster"
)

// windowed is a cluster of two nodes. The first is in maintenance from 100 to 200, and the second
// is reserved for users who ask for the course from 50 to 150.
func windowed() *cluster.Cluster {
	c := cluster.New("cpu")
	c.Join("a", cluster.Amounts{"cpu": 4})
	c.SetWindows([]cluster.Window{
		{Name: "service", Nodes: []string{"a"}, From: 100, To: 200, Closed: true},
		{Name: "course", Nodes: []string{"b"}, From: 50, To: 150},
	}, 0)
	c.Join("b", cluster.Amounts{"cpu": 4}) // a node that joins later has its windows
	return c
}

func TestWindowsCloseNodesToThoseThatWouldRunIntoThem(t *testing.T) {
	c := windowed()
	plain, course := c.Key(cluster.Amounts{"cpu": 1}), c.KeyOf(cluster.Ask{Window: "course"})
	for _, x := range []struct {
		key       cluster.Key
		now, ends int64
		want      string
	}{
		{plain, 0, 100, "a"}, // it is gone when the maintenance begins
		{plain, 0, 101, ""},
		{plain, 40, 50, "a"}, // both would do
		{course, 40, 60, ""}, // it has not begun
		{course, 50, 150, "b"},
		{course, 50, 151, ""},
		{plain, 120, 130, ""},
		{plain, 150, cluster.Forever, "b"}, // the course is over
		{course, 150, 160, ""},
		{plain, 200, cluster.Forever, "a"},
	} {
		c.PassWindows(x.now)
		got := ""
		if id, ok := c.PlaceUntil(x.key, x.now, x.ends); ok {
			got = c.Nodes()[id].Name
		}
		if got != x.want {
			t.Errorf("a task of shape %d from %d to %d goes on %q, want %q", x.key, x.now, x.ends, got, x.want)
		}
	}
	if c.Windows().Any() {
		t.Errorf("windows that are over are still there: %v", c.Windows().All())
	}
}

func TestNodesAreInMaintenanceForAsLongAsAWindowSays(t *testing.T) {
	c := windowed()
	a, _ := c.Lookup("a")
	state := func(want cluster.State) {
		t.Helper()
		if got := c.Nodes()[a].State; got != want {
			t.Errorf("the node is %v, want %v", got, want)
		}
	}
	state(cluster.Up)
	d := c.Clone()
	c.PassWindows(100)
	state(cluster.Maintenance)
	if got := d.Nodes()[a].State; got != cluster.Up || len(d.Windows().All()) != 2 {
		t.Errorf("time has passed in a copy, too: %v, %v", got, d.Windows().All())
	}
	if capacity, _ := c.Capacity(); capacity[0] != 4 {
		t.Errorf("%d cpu take tasks, want those of the other node", capacity[0])
	}
	c.SetState(a, cluster.Drain)
	state(cluster.Drain)
	c.SetState(a, cluster.Up)
	state(cluster.Maintenance)
	c.PassWindows(200)
	state(cluster.Up)
}

func TestPlanFindsRoomBetweenWindows(t *testing.T) {
	c := windowed()
	p := c.NewPlan(0, nil)
	plain := c.Key(cluster.Amounts{"cpu": 4})
	course, gone := c.KeyOf(cluster.Ask{Window: "course"}), c.KeyOf(cluster.Ask{Window: "gone"})
	for _, x := range []struct {
		key          cluster.Key
		length, from int64
		want         int64
		node         string
	}{
		{plain, 100, 0, 0, "a"},
		{plain, 101, 0, 150, "b"},
		{plain, 60, 50, 150, "b"},
		{course, 100, 0, 50, "b"},
		{course, 101, 0, -1, ""},
		{gone, 1, 0, -1, ""},
	} {
		at, id, found := p.Earliest(x.key, x.length, x.from, cluster.Forever)
		if !found {
			at = -1
		}
		if at != x.want || found && c.Nodes()[id].Name != x.node {
			t.Errorf("a task of %d from %d on begins at %d on %s, want %d on %s",
				x.length, x.from, at, c.Nodes()[id].Name, x.want, x.node)
		}
	}
}

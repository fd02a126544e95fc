package engine_test

import (
	"errors"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/store/memory"
)

// TestNamesOfNodes: a node does not join if its name, or the name of one of its resources, could be mistaken for
// something else. It leaves nothing in the store.
func TestNamesOfNodes(t *testing.T) {
	store := memory.New("cpu")
	loop, err := newLoop(t.Context(), store, engine.LoopOptions{})
	if err != nil {
		t.Fatal(err)
	}
	join := func(name string, capacity fairlead.Amounts, info engine.NodeInfo) error {
		_, err := loop.Join(t.Context(), name, capacity, info, nil, nil)
		return err
	}
	cpu := fairlead.Amounts{"cpu": 1}
	for _, name := range []string{"", ".", "..", "a b", "a\tb", "a/b", "<b>x</b>", "\x1b[31mred", "a\u202eb", "a\u200bb", "a\xff", "a,b", "a%2fb", "a?b", string(make([]byte, 1000))} {
		if err := join(name, cpu, engine.NodeInfo{}); !errors.Is(err, fairlead.ErrInvalid) {
			t.Errorf("node %q: %v", name, err)
		}
	}
	for _, resource := range []string{"", "a b", "<b>", "\x1b[31m", "gpu:", "gpu:a b", "handler.\x1b[31m"} {
		if err := join("n", fairlead.Amounts{"cpu": 1, resource: 1}, engine.NodeInfo{}); !errors.Is(err, fairlead.ErrInvalid) {
			t.Errorf("resource %q: %v", resource, err)
		}
	}
	for _, info := range []engine.NodeInfo{{Host: "a\x1b[2J"}, {Version: "1\n2"}} {
		if err := join("n", cpu, info); !errors.Is(err, fairlead.ErrInvalid) {
			t.Errorf("%+v: %v", info, err)
		}
	}
	if kept, err := store.Settings(t.Context()); err != nil || len(kept) > 0 {
		t.Errorf("the store keeps %v, %v", kept, err)
	}
	for _, name := range []string{"n1", "rack-2.example.org", "node_3", "zürich", "slurm@site", "a+b=c", "host:7"} {
		if err := join(name, fairlead.Amounts{"cpu": 1, "gpu:a100": 1, "handler.a kind/of": 1, "scratch_ssd": 2}, engine.NodeInfo{Host: name, Version: "1.2"}); err != nil {
			t.Errorf("node %q: %v", name, err)
		}
	}
}

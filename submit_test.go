package fairlead_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/memory"
)

// A job that no known node could ever run is refused, unless not all may be known.
func TestSubmitRefusesWhatNoNodeCanRun(t *testing.T) {
	ctx := context.Background()
	store := memory.New("cpu")
	loop, err := fairlead.NewLoop(ctx, store, fairlead.LoopOptions{})
	if err != nil {
		t.Fatal(err)
	}
	large := []fairlead.Job{{Argv: []string{"x"}, User: "ann", Request: fairlead.Amounts{"cpu": 64}}, {Argv: []string{"x"}, User: "ann"}}
	refused := func(l *fairlead.Loop, where string, want bool) {
		t.Helper()
		subs, err := l.Submit(ctx, large)
		if err != nil {
			t.Fatal(err)
		}
		if got := errors.Is(subs[0].Err, fairlead.ErrInvalid); got != want || subs[1].Err != nil {
			t.Fatalf("%s: %v, %v", where, subs[0].Err, subs[1].Err)
		}
		if want && !strings.Contains(subs[0].Err.Error(), "64 cpu, and the largest node, n1, has 4") {
			t.Fatalf("%s: %v", where, subs[0].Err)
		}
	}
	refused(loop, "before a node has joined", false)
	capacity, err := fairlead.AgentCapacity(fairlead.Amounts{"cpu": 4})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loop.Join(ctx, "n1", capacity, fairlead.NodeInfo{}, nil, nil); err != nil {
		t.Fatal(err)
	}
	refused(loop, "with a node", true)
	again, err := fairlead.NewLoop(ctx, store, fairlead.LoopOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Join(ctx, "n1", capacity, fairlead.NodeInfo{}, nil, nil); err != nil {
		t.Fatal(err)
	}
	refused(again, "just after a restart", false)
	if _, err := loop.Join(ctx, "n2", capacity, fairlead.NodeInfo{Labels: map[string]string{"ra ck": "b"}}, nil, nil); !errors.Is(err, fairlead.ErrInvalid) {
		t.Fatalf("a label with a blank: %v", err)
	}
}

package engine_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/store/sqlite"
)

// lived runs a loop on a store for as long as f takes.
func lived(t *testing.T, store fairlead.Store, f func(ctx context.Context, l *engine.Loop)) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	l, err := newLoop(ctx, store, engine.LoopOptions{LeaseTTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { l.Run(ctx); close(ended) }()
	f(ctx, l)
	stop()
	<-ended
}

// TestBridgeIsKnownAfterRestart: a server that is started while a bridge is away knows that the node is a bridge's,
// whether or not the bridge runs something, until an agent takes the name of the node. (That settings are kept is in
// the contract of all stores.)
func TestBridgeIsKnownAfterRestart(t *testing.T) {
	for name, open := range map[string]func() (fairlead.Store, error){
		"memory": func() (fairlead.Store, error) { return memory.New("cpu"), nil },
		"sqlite": func() (fairlead.Store, error) {
			return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "db"), sqlite.Options{Unit: "cpu"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			join := func(ctx context.Context, l *engine.Loop, labels map[string]string) {
				t.Helper()
				if _, err := l.Join(ctx, "n1", fairlead.Amounts{"cpu": 1, "handler.work": 1 << 40}, engine.NodeInfo{Labels: labels}, &deaf{}, nil); err != nil {
					t.Fatal(err)
				}
			}
			next := func(ctx context.Context, l *engine.Loop) string {
				t.Helper()
				ids := enginetest.Submit(t, l, fairlead.Job{User: "ann"})
				a, err := forecast.New(l).Why(ctx, ids[0], explain.WhyOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return a.Reason.Next
			}
			lived(t, store, func(ctx context.Context, l *engine.Loop) {
				join(ctx, l, map[string]string{engine.BridgeLabel: "slurm"})
			})
			const command = "fairlead bridge slurm --name n1"
			lived(t, store, func(ctx context.Context, l *engine.Loop) {
				if text := next(ctx, l); !strings.Contains(text, command) {
					t.Errorf("with nothing that runs, the next step is %q", text)
				}
				join(ctx, l, map[string]string{engine.BridgeLabel: "slurm"})
				await.True(t, "a task is leased", func() bool { return views.Nodes(l)[0].Tasks > 0 })
			})
			lived(t, store, func(ctx context.Context, l *engine.Loop) {
				if text := next(ctx, l); !strings.Contains(text, command) {
					t.Errorf("while something runs, the next step is %q", text)
				}
				if n := views.Nodes(l); len(n) != 1 || n[0].Labels[engine.BridgeLabel] != "slurm" || n[0].State != "down" {
					t.Errorf("the nodes are %+v", n)
				}
				join(ctx, l, nil) // an agent takes the name
			})
			lived(t, store, func(ctx context.Context, l *engine.Loop) {
				if text := next(ctx, l); strings.Contains(text, "bridge") {
					t.Errorf("of an agent, the next step is %q", text)
				}
			})
		})
	}
}

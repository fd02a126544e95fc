package fairlead_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/store/memory"
)

// TestSharesByHand: shares that a program fills in by hand apply even if fields are left out, in a new engine, in a
// running one and in a client alone. Shares without any fields are the default shares.
func TestSharesByHand(t *testing.T) {
	for name, change := range map[string]func(*fairlead.Shares){
		"pools only":                func(*fairlead.Shares) {},
		"with the name of a policy": func(s *fairlead.Shares) { s.Sched.Root.Policy = "fairtree" },
		"with policies":             func(s *fairlead.Shares) { s.Sched.NewPolicy = policy.New(policy.Options{}) },
	} {
		t.Run(name, func(t *testing.T) {
			var s fairlead.Shares
			s.Closed = true
			s.Sched.Root.Pools = []share.Pool{{Name: "gold", Weight: 9, MaxRunning: 1}, {Name: "free", Weight: 1}}
			change(&s)
			made, err := fairlead.NewLoop(t.Context(), memory.New("slot"), fairlead.LoopOptions{Shares: s})
			if err != nil {
				t.Fatal(err)
			}
			later, err := fairlead.NewLoop(t.Context(), memory.New("slot"), fairlead.LoopOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := later.Configure(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			alone := fairlead.NewClient(memory.New("slot"), s)
			for i, c := range []*fairlead.Client{made.Client(), later.Client(), alone} {
				if _, err := c.Submit(t.Context(), fairlead.Job{User: "x", Pool: "gold", Kind: "k"}); err != nil {
					t.Errorf("client %d: %v", i, err)
				}
				if _, err := c.Submit(t.Context(), fairlead.Job{User: "x", Kind: "k"}); err == nil {
					t.Errorf("client %d takes a job without a pool, though the tree is closed", i)
				}
			}
		})
	}
	for _, pools := range [][]fairlead.PoolView{fairlead.Pools(t.Context(), loopOf(t, fairlead.Shares{}))} {
		if len(pools) != 1 {
			t.Errorf("the default shares have the pools %+v", pools)
		}
	}
	alone := fairlead.NewClient(memory.New("slot"), fairlead.Shares{})
	if _, err := alone.Submit(t.Context(), fairlead.Job{User: "x", Kind: "k"}); err != nil {
		t.Errorf("with the default shares: %v", err)
	}
}

func loopOf(t *testing.T, s fairlead.Shares) *fairlead.Loop {
	t.Helper()
	loop, err := fairlead.NewLoop(t.Context(), memory.New("slot"), fairlead.LoopOptions{Shares: s})
	if err != nil {
		t.Fatal(err)
	}
	return loop
}

// endsMeanwhile is a store in which a task ends while a caller reads the tasks of its job.
type endsMeanwhile struct {
	*memory.Store
	end chan struct{}
}

func (s *endsMeanwhile) Tasks(ctx context.Context, job int64) ([]queue.Task, error) {
	if s.end != nil {
		close(s.end)
		s.end = nil
		synctest.Wait()
	}
	return s.Store.Tasks(ctx, job)
}

// TestWhyIsOfOneInstant: a task that ends while why reads a job is either running on its node or has ended.
func TestWhyIsOfOneInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, end := &endsMeanwhile{Store: memory.New("cpu")}, make(chan struct{})
		app, err := fairlead.New(t.Context(), store, fairlead.Options{Slots: 1})
		if err != nil {
			t.Fatal(err)
		}
		app.Handle("k", fairlead.HandlerFunc(func(context.Context, *fairlead.Lease) error { <-end; return nil }))
		if err := app.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		ids, err := app.Submit(t.Context(), fairlead.Job{User: "a", Kind: "k"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		store.end = end
		a, err := app.Why(t.Context(), ids[0])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(a.Reason.Text, "it succeeded ") {
			t.Errorf("why says %q", a.Reason.Text)
		}
		if err := app.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestHandlersComeFirst: a handler, a middleware or a schedule that is added after the App has started is refused by
// name.
func TestHandlersComeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, err := fairlead.New(t.Context(), memory.New("cpu"), fairlead.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := app.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for name, late := range map[string]func(){
			"Handle": func() {
				app.Handle("k", fairlead.HandlerFunc(func(context.Context, *fairlead.Lease) error { return nil }))
			},
			"Cron": func() { app.Cron("c", "@daily", nil) },
		} {
			func() {
				defer func() {
					if text, _ := recover().(string); !strings.Contains(text, name) {
						t.Errorf("%s after Start: %q", name, text)
					}
				}()
				late()
			}()
		}
		if err := app.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

package explain_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// TestWhyVerifiesAllTheirLife asks why about waiting, running and ended jobs, under every policy: each answer must be
// recomputable from its own numbers.
func TestWhyVerifiesAllTheirLife(t *testing.T) {
	if testing.Short() {
		t.Skip("much arithmetic, and nothing at once")
	}
	options := map[string]share.Options{
		"decay by half-life":    {Decay: share.Decay{HalfLife: true}},
		"decay scaled by share": {Decay: share.Decay{ScaleByShare: true}},
		"load rounded as Scoot": {Rounding: "scoot"},
		"fairtree as Slurm's":   {Compat: "slurm"},
		"load that rebalances":  {Rebalance: share.Rebalance{Threshold: 10, MinDuration: time.Second}},
	}
	for _, name := range policy.Names() {
		options[name] = share.Options{}
	}
	for name, o := range options {
		t.Run(name, func(t *testing.T) {
			var word string
			fmt.Sscan(name, &word)
			root := share.Pool{Policy: word, Options: o, Pools: []share.Pool{
				{Name: "a", Weight: 2, Pools: []share.Pool{{Name: "x", Weight: 1}, {Name: "y", Weight: 3}}},
				{Name: "b", Weight: 1}, {Name: "c", Weight: 1, Min: map[string]int64{"cpu": 1}}, {Name: "d", Weight: 1},
			}}
			synctest.Test(t, func(t *testing.T) { verifiesAllTheirLife(t, root) })
		})
	}
}

func verifiesAllTheirLife(t *testing.T, root share.Pool) {
	rng := rand.New(rand.NewPCG(5, 6))
	o := engine.LoopOptions{Shares: fairlead.DefaultShares(), Seed: 3}
	o.Shares.Sched.Root, o.Shares.Sched.HalfLife = root, time.Minute
	loop, stop := start(t, o, 4, func(ctx context.Context, l *fairlead.Lease) error {
		time.Sleep(time.Duration(1+l.JobID*7%5) * time.Second)
		return nil
	})
	defer stop()
	asked := map[fairlead.State]int{}
	var ids []int64
	for i := range 80 {
		pool := []string{"a/x", "a/y", "b", "c", "d"}[rng.IntN(5)]
		j := fairlead.Job{User: "ann", Pool: pool}
		if i%7 == 0 {
			j.Array = "0-2"
		}
		ids = append(ids, enginetest.Submit(t, loop, j)...)
		time.Sleep(time.Duration(rng.IntN(3)) * 500 * time.Millisecond)
		if i%4 > 0 {
			continue
		}
		synctest.Wait()
		for _, id := range ids {
			a, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{Evidence: true})
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Levels) == 0 {
				t.Errorf("the answer about job %d, which is %s, compares nothing", id, a.Subject.State)
			}
			asked[fairlead.State(a.Subject.State)]++
			if checks := replay.Verify(a, policy.Rule); !why.Verified(checks) {
				t.Fatalf("job %d, which is %s: %+v\n%s", id, a.Subject.State, checks, a.Text())
			}
		}
	}
	for _, s := range []fairlead.State{fairlead.Waiting, fairlead.Running, fairlead.Succeeded} {
		if asked[s] < 20 {
			t.Errorf("of jobs that are %s, only %d answers were checked", s, asked[s])
		}
	}
}

// TestWhyVerifies asks why about every waiting job at many moments: every answer must be recomputable from its own
// numbers.
func TestWhyVerifies(t *testing.T) {
	for _, policy := range []string{"fair", "fifo", "lottery"} {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { whyVerifies(t, policy) })
		})
	}
}

func whyVerifies(t *testing.T, name string) {
	arrivals := enginetest.Arrivals()[:120]
	lasts := map[string]time.Duration{}
	for _, a := range arrivals {
		lasts[a.Job.Name] = a.Lasts
	}
	o := engine.LoopOptions{Shares: fairlead.DefaultShares(), Seed: 3}
	o.Shares.Sched.Root.Policy = name
	zero := time.Now()
	loop, stop := start(t, o, 3, func(_ context.Context, l *fairlead.Lease) error {
		time.Sleep(lasts[l.Job.Name])
		return nil
	})
	defer stop()
	asked := 0
	for i, a := range arrivals {
		time.Sleep(time.Until(zero.Add(a.At)))
		enginetest.Submit(t, loop, a.Job)
		synctest.Wait()
		if i%12 != 0 {
			continue
		}
		jobs, err := loop.Client().Jobs(t.Context(),
			fairlead.Query{States: []fairlead.State{fairlead.Waiting, fairlead.Running}})
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			a, err := forecast.New(loop).Why(t.Context(), j.ID, explain.WhyOptions{Evidence: true})
			if err != nil {
				t.Fatal(err)
			}
			if j.Waiting == 0 {
				continue
			}
			asked++
			if checks := replay.Verify(a, policy.Rule); !why.Verified(checks) {
				t.Fatalf("job %d at %v: %+v", j.ID, time.Since(zero), checks)
			}
		}
	}
	if asked < 100 {
		t.Errorf("only %d answers were checked", asked)
	}
}

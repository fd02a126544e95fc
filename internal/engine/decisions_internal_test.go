package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// TestChoicesOfEqualsVerify starts tasks of pools that have often received the same, under every
// policy: whatever decides between equal keys, the record of the choice shows it.
func TestChoicesOfEqualsVerify(t *testing.T) {
	for _, name := range policy.Names() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				choicesOfEqualsVerify(t, name, seed)
			}
		})
	}
}

func choicesOfEqualsVerify(t *testing.T, name string, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	kids := []share.Pool{{Name: "x", Weight: 1}, {Name: "y", Weight: 1}}
	root := share.Pool{Policy: name, Pools: []share.Pool{
		{Name: "a", Weight: 1, Pools: kids}, {Name: "b", Weight: 1, Pools: kids}, {Name: "c", Weight: 1, Pools: kids}, {Name: "d", Weight: 1},
	}}
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	core, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}), HalfLife: time.Hour, Unit: "cpu"}, now, seed)
	if err != nil {
		t.Fatal(err)
	}
	core.Join("n", cluster.Amounts{"cpu": 2, "tape": 2}, now)
	core.Join("rest", cluster.Amounts{"cpu": 1 << 40}, now) // beside which a microsecond is lost in rounding
	for id := range int64(60) {
		path := []string{"a/x", "a/y", "b/x", "b/y", "c/x", "c/y", "d"}[rng.IntN(7)]
		core.Add(sched.Job{ID: id + 1, Pool: core.Pool(path), Tasks: 1, Submitted: now, Key: core.Key(cluster.Amounts{"cpu": 1, "tape": 1})}, now)
	}
	var running []sched.RunID
	for range 60 {
		var d sched.Decision
		core.Step(now, 0, &d)
		for _, s := range d.Starts {
			running = append(running, s.Run)
			a := &why.Answer{Levels: (&decided{levels: d.Why(s)}).choice(core)}
			if checks := replay.Verify(a, policy.Rule); len(checks) == 0 || !why.Verified(checks) {
				t.Fatalf("seed %d, job %d: %+v\n%s", seed, s.Job, checks, fmt.Sprintf("%+v", a.Levels))
			}
		}
		now = now.Add(time.Duration(rng.IntN(2)) * time.Microsecond)
		i := rng.IntN(len(running))
		core.Finish(running[i], now, true)
		running = append(running[:i], running[i+1:]...)
	}
}

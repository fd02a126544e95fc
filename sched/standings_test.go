package sched_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// TestStandingsAreWhatIsCompared: each pool is shown with the key that the explanation
// compares, in the words of the policy.
func TestStandingsAreWhatIsCompared(t *testing.T) {
	for name, want := range map[string][2]string{ // ann runs two of three slots for 10 s, bob one
		"fair": {"key 140", "key 70"}, "fairtree": {"use per weight 20", "use per weight 10"},
		"fifo": {"job 4, priority 1", "job 5, priority 1"}, "lottery": {"weight 1", "weight 1"},
		"drf":         {"dominant share 0.667", "dominant share 0.333"},
		"deficit":     {"had 1.667 s of the cluster too much", "lacks 1.667 s of the cluster"},
		"load":        {"above target ", "above target "},
		"decay":       {"share less use ", "share less use "},
		"multifactor": {"priority ", "priority "},
	} {
		zero := time.Unix(1_700_000_000, 0)
		pools := []share.Pool{{Name: "ann", Weight: 1}, {Name: "bob", Weight: 1}, {Name: "idle", Weight: 1}}
		s, err := sched.New(sched.Config{NewPolicy: policy.New(policy.Options{}),
			Root:       share.Pool{Policy: name, Pools: pools},
			Priorities: []sched.Priority{{Name: "high", Weight: 2}, {Name: "normal", Weight: 1}}}, zero, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.Join("n", cluster.Amounts{"cpu": 3}, zero)
		var d sched.Decision
		for i, pool := range []string{"ann", "ann", "bob", "ann", "bob"} {
			s.Add(sched.Job{ID: int64(i + 1), Pool: s.Pool(pool), Key: s.Key(cluster.Amounts{"cpu": 1}), Priority: 1,
				Tasks: 1, Submitted: zero}, zero)
			if i == 1 || i == 2 {
				s.Step(zero, 0, &d)
			}
		}
		s.Advance(zero.Add(10 * time.Second))
		growth := s.Read().Now().Growth
		pool := 0
		s.Explain().Standings(sched.Root, func(child sched.PoolID, terms why.Terms, _ bool) {
			text, shown := terms.Formula.Call(&terms, growth)
			level := s.Explain().Comparisons(child, 0)[0]
			for _, c := range level.Children {
				if key := level.KeyNow(c, growth); c.Name == s.Read().Name(child) && key != shown {
					t.Errorf("%s: the key of %s is %v, shown is %v", name, c.Name, key, shown)
				}
			}
			if pool > 1 || !strings.HasPrefix(text, want[pool]) {
				t.Errorf("%s: %q, want %q", name, text, want)
			}
			pool++
		})
		if pool != 2 {
			t.Errorf("%s: %d pools have something to start, want 2", name, pool)
		}
	}
}

// TestPoolsWithoutRoomAreCompared: the jobs of two pools lack room. Each pool is compared with the other under a policy
// that compares accounts. Under fifo a pool has no key while none of its jobs may start.
func TestPoolsWithoutRoomAreCompared(t *testing.T) {
	for name, want := range map[string]int{"fair": 2, "drf": 2, "fifo": 1} {
		root := two()
		root.Policy = name
		w := newWorld(t, root, 4, 1)
		w.submit("a", 3)
		w.step(0)
		for i, pool := range []string{"a", "b"} {
			w.Add(sched.Job{ID: int64(100 + i), Pool: w.Pool(pool), Key: w.Key(cluster.Amounts{"cpu": 2}),
				Priority: normal, Tasks: 1}, w.now)
		}
		w.last = 200
		w.submit("a", 1) // this job fits, so that the others are asked
		w.step(0)
		a, _ := w.Lookup("a")
		level := w.Explain().Comparisons(a, 0)[0]
		if len(level.Children) != want {
			t.Errorf("%s: %d pools are compared, want %d: %+v", name, len(level.Children), want, level.Children)
		}
		for _, c := range level.Children {
			if c.Open || !c.NoRoom {
				t.Errorf("%s: %s may start something: %+v", name, c.Name, c)
			}
		}
	}
}

package sched_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

func charged(t testing.TB, c sched.Charge) *sched.Scheduler {
	t.Helper()
	s, err := sched.New(sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{}), Charge: c}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 16, "mem": 64, "gpu": 4}, epoch)
	return s
}

// TestPrices checks how much tasks are charged each second.
func TestPrices(t *testing.T) {
	per := map[string]float64{"cpu": 1, "mem": 0.25, "gpu": 20}
	for _, c := range []struct {
		charge sched.Charge
		ask    cluster.Amounts
		want   float64
	}{
		{sched.Charge{}, cluster.Amounts{"cpu": 3, "gpu": 4}, 3},
		{sched.Charge{Per: per}, nil, 1},
		{sched.Charge{Per: per}, cluster.Amounts{"cpu": 2, "mem": 16, "gpu": 1}, 2 + 4 + 20},
		{sched.Charge{Per: per, Largest: true}, cluster.Amounts{"cpu": 2, "mem": 16}, 4},
		{sched.Charge{Per: map[string]float64{"cpu": 1}}, cluster.Amounts{"cpu": 2, "mem": 64}, 2},
		{sched.Charge{Dominant: true}, cluster.Amounts{"cpu": 4, "mem": 8}, 4},
		{sched.Charge{Dominant: true}, cluster.Amounts{"cpu": 1, "mem": 8}, 2},
		{sched.Charge{Dominant: true}, cluster.Amounts{"cpu": 1, "gpu": 4}, 16}, // all GPUs: the whole machine
		{sched.Charge{Dominant: true}, cluster.Amounts{"cpu": 2, "tape": 1}, 2}, // there is no tape
	} {
		s := charged(t, c.charge)
		if got := s.Price(s.Key(c.ask)); got != c.want {
			t.Errorf("%+v: %v costs %v, want %v", c.charge, c.ask, got, c.want)
		}
	}
}

// TestPriceStays: a task is charged at the rate of its start until it ends, whatever nodes join and whatever is
// configured meanwhile.
func TestPriceStays(t *testing.T) {
	s := charged(t, sched.Charge{Dominant: true})
	ask := s.Key(cluster.Amounts{"cpu": 1, "gpu": 1})
	s.Add(sched.Job{ID: 1, Pool: s.Pool("a"), Key: ask, Priority: normal, Tasks: 1}, epoch)
	var d sched.Decision
	s.Step(epoch, 0, &d)
	first := d.Starts[0].Run
	if got := s.Read().Charged(first); got != 4 {
		t.Fatalf("the first task is charged %v, want 4: a quarter of the GPUs", got)
	}
	at := epoch.Add(10 * time.Second)
	s.Join("more", cluster.Amounts{"cpu": 16, "gpu": 12}, at)
	s.Add(sched.Job{ID: 2, Pool: s.Pool("b"), Key: ask, Priority: normal, Tasks: 1}, at)
	s.Step(at, 0, &d)
	second := d.Starts[0].Run
	if got := s.Read().Charged(second); got != 2 {
		t.Errorf("the second is charged %v, want 2: a sixteenth of the GPUs, of 32 processors", got)
	}
	cfg := s.Read().Config()
	cfg.Charge = sched.Charge{Per: map[string]float64{"cpu": 7}}
	if err := s.Configure(cfg, at); err != nil {
		t.Fatal(err)
	}
	end := at.Add(10 * time.Second)
	s.Finish(first, end, true)
	s.Finish(second, end, true)
	a, b := s.View(s.Pool("a")), s.View(s.Pool("b"))
	if a.Service(s.Read().Now()) != 80 || b.Service(s.Read().Now()) != 20 || a.Rate != 0 {
		t.Errorf("a received %v, b %v, want 80 and 20", a.Service(s.Read().Now()), b.Service(s.Read().Now()))
	}
	if got := s.Price(ask); got != 7 {
		t.Errorf("a task that starts now costs %v, want 7", got)
	}
}

// TestFairByCharge: pools whose tasks cost different amounts receive the same charge, not the same processors.
func TestFairByCharge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gpu := float64(rapid.IntRange(1, 40).Draw(t, "gpu"))
		s, err := sched.New(sched.Config{
			Root:      share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}},
			NewPolicy: policy.New(policy.Options{}), Charge: sched.Charge{Per: map[string]float64{"cpu": 1, "gpu": gpu}},
		}, epoch, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.Join("n", cluster.Amounts{"cpu": 1, "gpu": 1}, epoch) // one task at a time
		for id, ask := range []cluster.Amounts{{"cpu": 1}, {"cpu": 1, "gpu": 1}} {
			s.Add(sched.Job{ID: int64(id + 1), Pool: s.Pool([]string{"a", "b"}[id]), Key: s.Key(ask), Priority: normal, Tasks: 1000}, epoch)
		}
		now, count := epoch, map[int64]float64{}
		var d sched.Decision
		for range 200 {
			s.Step(now, 0, &d)
			count[d.Starts[0].Job]++
			now = now.Add(10 * time.Second)
			s.Finish(d.Starts[0].Run, now, true)
		}
		if a, b := count[1], count[2]*(1+gpu); math.Abs(a-b) > 2*(1+gpu) {
			t.Fatalf("a ran %v tasks of 1, b %v of %v", a, count[2], 1+gpu)
		}
	})
}

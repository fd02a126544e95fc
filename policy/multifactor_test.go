package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

func number(x float64) *float64 { return &x }

// TestMultifactorByHand computes a queue with numbers that a reader can check with a pocket calculator. physics has
// used 3/4 of the cluster with 1/2 of the shares: 2^-1.5 = 0.353553; biology has used 1/4 with 1/2: 2^-0.5 = 0.707107.
// In physics ann has used everything, and 2/3 of its weights are hers: share 1/3, usage 3/4, 2^-2.25 = 0.210224. bob's
// usage is 0 + 3/4 x 1/3 = 1/4 on a share of 1/6: 2^-1.5.
func TestMultifactorByHand(t *testing.T) {
	now := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	cfg := sched.Config{
		NewPolicy: policy.New(policy.Options{}),
		Root: share.Pool{Policy: "multifactor", Pools: []share.Pool{
			{Name: "physics", Weight: 1, Factor: number(1), Pools: []share.Pool{{Name: "ann", Weight: 2}, {Name: "bob", Weight: 1, AssocFactor: number(0.5)}}},
			{Name: "biology", Weight: 1, Factor: number(0.25)},
		}},
		Multifactor: sched.Multifactor{
			Age: 1000, Fairshare: 10000, Size: 800, Pool: 400, QOS: 2000, Assoc: 600, Site: 1,
			TRES: map[string]float64{"gpu": 1000, "mem": 64}, MaxAge: 24 * time.Hour, Recalculate: 5 * time.Minute,
			Levels: map[string]float64{"high": 1, "normal": 0.1},
		},
	}
	s, err := sched.New(cfg, now, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 32, "gpu": 8, "mem": 1024}, now)
	var jobs []sched.Job
	add := func(pool string, age time.Duration, request cluster.Amounts, factors sched.Factors) {
		j := sched.Job{
			ID: int64(len(jobs) + 1), Pool: s.Pool(pool), Key: s.Key(request), Tasks: 1, Submitted: now.Add(-age), Class: s.Class(factors),
		}
		jobs = append(jobs, j)
		s.Add(j, now)
	}
	add("physics/ann", 30*time.Hour, cluster.Amounts{"cpu": 32}, sched.Factors{QOS: "normal"})
	add("physics/ann", 6*time.Hour, cluster.Amounts{"cpu": 8, "gpu": 4, "mem": 256}, sched.Factors{QOS: "high", Nice: 250})
	add("physics/bob", 6*time.Hour, cluster.Amounts{"cpu": 1}, sched.Factors{QOS: "normal", Site: 12.5})
	add("biology", 0, cluster.Amounts{"cpu": 4, "gpu": 1}, sched.Factors{QOS: "normal"})
	add("biology", 0, cluster.Amounts{"cpu": 4, "gpu": 1}, sched.Factors{QOS: "normal"})
	s.Memory().SetUsage(s.Pool("physics/ann"), 300)
	s.Memory().SetUsage(s.Pool("biology"), 100)
	s.Memory().Renew()

	var text strings.Builder
	s.Preview(func(st sched.Start, _ float64) bool {
		j := jobs[st.Job-1]
		terms, _ := s.Explain().Priority(j)
		fmt.Fprintf(&text, "job %d of %s goes next, with priority %.4f:\n", j.ID, s.Path(j.Pool), -terms.Key)
		sum := 0.0
		for i, term := range terms.Formula.Terms {
			v := terms.Values[i]
			sign := "+"
			if term.Name == "nice" {
				sign, v = "-", -v
			}
			sum += v
			fmt.Fprintf(&text, "  %s %-9s %10.4f  %s\n", sign, term.Name, terms.Values[i], term.Doc)
		}
		if sum != -terms.Key {
			t.Errorf("job %d: the terms add up to %v, but the priority is %v", j.ID, sum, -terms.Key)
		}
		return true
	})
	golden.Check(t, "testdata/multifactor.txt", text.String())
}

// TestLargeJobsAreFavouredAndSmallOnesNotStarved: on ten processors a job of ten processors and one hour is submitted
// each hour, and one job of one processor at the beginning. Large jobs go first while they are ahead by their size, 900
// points. The small job gains 1000 points a day, so it is level with a large job that is submitted 21.6 hours after it.
func TestLargeJobsAreFavouredAndSmallOnesNotStarved(t *testing.T) {
	now := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	m := sched.Multifactor{Age: 1000, Size: 1000, MaxAge: 24 * time.Hour, Recalculate: 5 * time.Minute}
	s, err := sched.New(sched.Config{NewPolicy: policy.New(policy.Options{}), Root: share.Pool{Policy: "multifactor"}, Multifactor: m}, now, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 10}, now)
	sizes := map[int64]int64{}
	var text strings.Builder
	var d sched.Decision
	var running []sched.RunID
	add := func(pool string, id, cpus int64) {
		sizes[id] = cpus
		s.Add(sched.Job{ID: id, Pool: s.Pool(pool), Key: s.Key(cluster.Amounts{"cpu": cpus}), Tasks: 1, Submitted: now}, now)
	}
	add("small", 1, 1)
	for hour := range 25 {
		for _, r := range running {
			s.Finish(r, now, true)
		}
		running = running[:0]
		add("large", int64(hour+2), 10)
		s.Step(now, 0, &d)
		for _, st := range d.Starts {
			l := d.Why(st)[0]
			fmt.Fprintf(&text, "hour %2d: job %2d starts, of %2d cpus, by %s = %.1f", hour, st.Job, sizes[st.Job], "age "+points(l.Terms.Values[0])+" + size "+points(l.Terms.Values[2]), -l.Terms.Key)
			if l.Rival != sched.Root {
				fmt.Fprintf(&text, "; next would be %s by age %s + size %s = %.1f", s.Path(l.Rival), points(l.RivalTerms.Values[0]), points(l.RivalTerms.Values[2]), -l.RivalTerms.Key)
			}
			text.WriteString("\n")
			running = append(running, st.Run)
		}
		now = now.Add(time.Hour)
	}
	golden.Check(t, "testdata/large.txt", text.String())
}

// TestSizeIsThatOfTheGang: the size of a gang is the sum of its tasks.
func TestSizeIsThatOfTheGang(t *testing.T) {
	now := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	m := sched.Multifactor{Size: 1000, MaxAge: 24 * time.Hour, Recalculate: 5 * time.Minute}
	s, err := sched.New(sched.Config{NewPolicy: policy.New(policy.Options{}), Root: share.Pool{Policy: "multifactor"}, Multifactor: m}, now, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 10}, now)
	one := cluster.Amounts{"cpu": 1}
	s.Add(sched.Job{ID: 1, Pool: s.Pool("wide"), Key: s.Key(cluster.Amounts{"cpu": 5}), Tasks: 1, Submitted: now}, now)
	s.Add(sched.Job{ID: 2, Pool: s.Pool("gang"), Key: s.KeyOf(sched.Request{Amounts: one, Gang: 8}), Tasks: 8, Submitted: now}, now)
	var d sched.Decision
	s.Step(now, 0, &d)
	if len(d.Starts) != 8 || d.Starts[0].Job != 2 || -d.Why(d.Starts[0])[0].Terms.Key != 800 {
		t.Errorf("starts %+v, want the gang by 800 points", d.Starts)
	}
}

func points(x float64) string { return fmt.Sprintf("%.1f", x) }

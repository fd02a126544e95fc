package sched_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// TestGateOfATest: one type makes a kind of gate; this test has its own. The gate holds jobs back, gives the instant at
// which they may start, is shown, survives a reload, and works in copies.
func TestGateOfATest(t *testing.T) {
	w := newWorld(t, two(), 8, 1)
	w.now = epoch.Truncate(24 * time.Hour).Add(30 * time.Hour) // six in the morning
	w.Advance(w.now)
	w.AddCurfew(2, time.Hour)
	wide := sched.Job{ID: 100, Pool: w.Pool("a"), Key: w.Key(cluster.Amounts{"cpu": 3}), Priority: normal, Tasks: 2}
	w.Add(wide, w.now)
	w.submit("b", 1)
	if got := w.step(0); len(got) != 1 || got[0].Job == wide.ID {
		t.Fatalf("started %v, want the narrow job only", got)
	}
	midnight := w.now.Add(18 * time.Hour)
	if !w.d.Next.Equal(midnight) {
		t.Errorf("the next look is at %v, want midnight, %v", w.d.Next, midnight)
	}
	if id, _ := w.Lookup("a"); w.Eligible(id) {
		t.Error("its pool has work that may start")
	}
	shown := false
	for _, g := range w.GateView().Gates(wide) {
		shown = shown || g.Name == "curfew" && !g.Open
	}
	if !shown {
		t.Errorf("the gates are %+v", w.GateView().Gates(wide))
	}
	w.sound()
	copied := w.Fork()
	if err := w.Configure(w.Read().Config(), w.now); err != nil {
		t.Fatal(err)
	}
	if got := w.step(0); len(got) != 0 {
		t.Errorf("started %v after a reload", got)
	}
	for _, s := range []*sched.Scheduler{copied, w.Scheduler} {
		var d sched.Decision
		if s.Step(midnight.Add(time.Minute), 0, &d); len(d.Starts) != 2 {
			t.Errorf("started %v at midnight, want the two tasks", d.Starts)
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
}

// TestRuleOfATest: one type makes a backfill rule; the rule of this test uses the nodes evenly.
func TestRuleOfATest(t *testing.T) {
	for _, c := range []struct {
		rule sched.Backfill
		want int // tasks on the first node
	}{{sched.FirstFit, 4}, {sched.AddWorstFit(), 2}} {
		w := newWorld(t, two(), 8, 1)
		w.Join("m", cluster.Amounts{"cpu": 8}, w.now)
		cfg := w.Read().Config()
		cfg.Backfill = c.rule
		if err := w.Configure(cfg, w.now); err != nil {
			t.Fatal(err)
		}
		w.submit("a", 20)
		first := 0
		for _, st := range w.step(4) {
			if st.Node == 0 {
				first++
			}
		}
		if first != c.want {
			t.Errorf("%v: %d of 4 tasks are on the first node, want %d", c.rule, first, c.want)
		}
		w.sound()
	}
}

// fewest is a policy of this test: the child with the fewest running tasks goes first, whatever its weight.
type fewest struct{}

var fewestFormula = why.NewFormula("fewest", "running", "smallest first", why.Term{Name: "running", Doc: "tasks"})

func (fewest) Formula() *why.Formula { return fewestFormula }

func (fewest) Terms(p *sched.Pool, _ sched.Setting) why.Terms {
	n := float64(p.Tasks)
	return why.Terms{Formula: fewestFormula, Values: [why.MaxTerms]float64{n}, Key: n}
}

// TestPolicyOfATest: one type makes a policy; this test has its own.
func TestPolicyOfATest(t *testing.T) {
	root := two()
	root.Policy = "fewest"
	s, err := sched.New(sched.Config{
		Root: root, NewPolicy: func(string, share.Options) sched.Policy { return fewest{} },
	}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 6}, epoch)
	w := &world{Scheduler: s, t: t, now: epoch}
	w.submit("a", 20)
	w.submit("b", 20)
	w.step(0)
	if a, b := w.running("a"), w.running("b"); a != 3 || b != 3 {
		t.Errorf("%d and %d tasks run, want 3 each: weights do not count", a, b)
	}
	w.sound()
}

// TestEvidenceKnowsTheGateOfATest: replay finds the same order as a preview, although replay does not know the gate
// that holds some of the jobs back. Nobody asked the gate before, because there is no room for any job.
func TestEvidenceKnowsTheGateOfATest(t *testing.T) {
	w := newWorld(t, two(), 8, 1)
	w.now = epoch.Truncate(24 * time.Hour).Add(30 * time.Hour)
	w.Advance(w.now)
	w.AddCurfew(2, time.Hour)
	w.submit("b", 8)
	w.step(0)
	wide := sched.Job{ID: 100, Pool: w.Pool("a"), Key: w.Key(cluster.Amounts{"cpu": 3}), Priority: normal, Tasks: 3}
	w.Add(wide, w.now)
	waiting := []sched.Job{w.submit("b", 2), w.submit("a", 2), w.submit("b", 1)}
	w.step(0)
	position, n := map[int64]int64{}, int64(0)
	w.Preview(func(st sched.Start, _ float64) bool {
		if n++; position[st.Job] == 0 {
			position[st.Job] = n
		}
		return true
	})
	if position[wide.ID] != 0 || len(position) != len(waiting) {
		t.Fatalf("the preview starts %v", position)
	}
	for _, j := range waiting {
		a := &why.Answer{Subject: why.Subject{Job: j.ID}, Rank: &why.Rank{Position: position[j.ID]},
			Evidence: w.Explain().Evidence(100), Levels: w.Explain().Comparisons(w.Leaf(j), 0)}
		for _, c := range replay.Verify(a, policy.Rule) {
			if !c.OK {
				t.Errorf("job %d: %s: %s", j.ID, c.What, c.Text)
			}
		}
	}
	w.sound()
}

package explain_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// passedCase is a job whose room other jobs take or do not take, depending on the configuration.
type passedCase struct {
	name   string
	shares func(s *sched.Config)
	others fairlead.Job // five of them come before the job and five after it
	job    fairlead.Job
	code   why.Code // "": no job passes it forever
	says   string
}

func wide(n int64) fairlead.Amounts { return fairlead.Amounts{"cpu": n} }

// fifoBelow returns a configuration with a pool g below fair that serves in order of arrival.
func fifoBelow(place sched.Backfill) func(*sched.Config) {
	return func(s *sched.Config) {
		g := share.Pool{Name: "g", Weight: 1, Policy: "fifo"}
		g.Pools = []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}
		s.Root, s.Backfill = share.Pool{Policy: "fair", Pools: []share.Pool{g, {Name: "c", Weight: 1}}}, place
	}
}

// flat returns a configuration with two equal pools below a policy.
func flat(policy string, place sched.Backfill) func(*sched.Config) {
	return func(s *sched.Config) {
		two := []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}
		s.Root, s.Backfill = share.Pool{Policy: policy, Pools: two}, place
	}
}

// passedByChoice returns jobs for which it matters how their pools choose.
func passedByChoice() []passedCase {
	return []passedCase{
		{"another's license under deficit", func(s *sched.Config) {
			s.Backfill, s.Licenses = sched.EASY, map[string]int64{"matlab": 2}
			s.Root = share.Pool{Policy: "deficit", Pools: []share.Pool{{Name: "a", Weight: 9}, {Name: "b", Weight: 1}}}
		}, fairlead.Job{Licenses: map[string]int64{"matlab": 1}}, fairlead.Job{Request: wide(4)}, why.StarveOrder,
			"counts a wait for a license as lag"},
		{"wide, lottery and fcfs", flat("lottery", sched.FCFS), fairlead.Job{}, fairlead.Job{Request: wide(4)},
			why.StarveWidth, "the policy of the cluster chooses a new first job"},
		{"as wide as all, lottery and fcfs", flat("lottery", sched.FCFS), fairlead.Job{Request: wide(2)},
			fairlead.Job{Request: wide(2)}, "", ""},
		{"wide, lottery and easy", flat("lottery", sched.EASY), fairlead.Job{}, fairlead.Job{Request: wide(4)}, "", ""},
		{"wide, load and fcfs", flat("load", sched.FCFS), fairlead.Job{}, fairlead.Job{Request: wide(4)},
			why.StarveWidth, "the policy of the cluster chooses a new first job"},
		{"wide, fifo below fair and first-fit", fifoBelow(sched.FirstFit), fairlead.Job{Pool: "g/a"},
			fairlead.Job{Pool: "g/b", Request: wide(4)}, why.StarveWidth, "less than its 4 cpu"},
		{"wide, fifo below fair and fcfs", fifoBelow(sched.FCFS), fairlead.Job{Pool: "g/a"},
			fairlead.Job{Pool: "g/b", Request: wide(4)}, "", ""},
		{"priority, fifo below fair and fcfs", fifoBelow(sched.FCFS), fairlead.Job{Pool: "g/a", Priority: "high"},
			fairlead.Job{Pool: "g/b"}, why.StarveOrder, "higher priority"},
	}
}

func passedCases() []passedCase {
	pools := func(policy string, a, b share.Pool) func(*sched.Config) {
		a.Name, b.Name = "a", "b"
		return func(s *sched.Config) { s.Root = share.Pool{Policy: policy, Pools: []share.Pool{a, b}} }
	}
	one := share.Pool{Weight: 1}
	fair := pools("fair", one, one)
	with := func(f func(s *sched.Config)) func(*sched.Config) {
		return func(s *sched.Config) { fair(s); f(s) }
	}
	placed := func(p sched.Backfill) func(*sched.Config) { return with(func(s *sched.Config) { s.Backfill = p }) }
	ff := placed(sched.FirstFit)
	licensed := func(n int64) fairlead.Job { return fairlead.Job{Licenses: map[string]int64{"matlab": n}} }
	matlab := func(place sched.Backfill) func(*sched.Config) {
		return with(func(s *sched.Config) { s.Licenses, s.Backfill = map[string]int64{"matlab": 2}, place })
	}
	return []passedCase{
		{"wide, first-fit", ff, fairlead.Job{}, fairlead.Job{Request: wide(4)}, why.StarveWidth, "less than its 4 cpu"},
		{"as wide as all, first-fit", ff, fairlead.Job{Request: wide(2)}, fairlead.Job{Request: wide(2)}, "", ""},
		{"of width one, first-fit", ff, fairlead.Job{}, fairlead.Job{}, "", ""},
		{"narrower than all, first-fit", ff, fairlead.Job{Request: wide(2)}, fairlead.Job{}, "", ""},
		{"gang, first-fit", ff, fairlead.Job{}, fairlead.Job{Tasks: 4, Gang: 4}, why.StarveWidth,
			"less than its 4 cpu"},
		{"wide, easy", placed(sched.EASY), fairlead.Job{}, fairlead.Job{Request: wide(4)}, "", ""},
		{"wide, fcfs", placed(sched.FCFS), fairlead.Job{}, fairlead.Job{Request: wide(4)}, "", ""},
		{"beyond the horizon", with(func(s *sched.Config) { s.Backfill, s.Window = sched.EASY, time.Minute }),
			fairlead.Job{Limit: time.Hour}, fairlead.Job{Request: wide(4), Limit: time.Hour}, why.StarveWidth,
			"backfill_window"},
		{"licenses, first-fit", matlab(sched.FirstFit), licensed(1), licensed(2), why.StarveWidth,
			"2 of the license matlab"},
		{"licenses, fcfs", matlab(sched.FCFS), licensed(1), licensed(2), why.StarveWidth, "fcfs keeps none"},
		{"one license, first-fit", matlab(sched.FirstFit), licensed(1), licensed(1), "", ""},
		{"licenses, easy", matlab(sched.EASY), licensed(1), licensed(2), "", ""},
		{"below a maximum", func(s *sched.Config) {
			s.Backfill = sched.EASY
			g := share.Pool{Name: "g", Weight: 1, Max: map[string]int64{"cpu": 2}}
			g.Pools = []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}
			s.Root = share.Pool{Policy: "fair", Pools: []share.Pool{g}}
		}, fairlead.Job{Pool: "g/a"}, fairlead.Job{Pool: "g/b", Request: wide(2)}, why.StarveWidth, "maximum of g"},
		{"priority", fair, fairlead.Job{Pool: "b", Priority: "high"}, fairlead.Job{}, why.StarveOrder,
			"higher priority"},
		{"priority by weights", with(func(s *sched.Config) { s.PriorityWeights = true }),
			fairlead.Job{Pool: "b", Priority: "high"}, fairlead.Job{}, "", ""},
		{"priority of another pool", fair, fairlead.Job{Priority: "high"}, fairlead.Job{}, "", ""},
		{"priority under fifo", pools("fifo", one, one), fairlead.Job{Priority: "high"}, fairlead.Job{},
			why.StarveOrder, "higher priority"},
		{"fifo", pools("fifo", one, one), fairlead.Job{}, fairlead.Job{}, "", ""},
		{"weight 0", pools("fairtree", one, share.Pool{}), fairlead.Job{}, fairlead.Job{}, why.StarveShare, "weight 0"},
		{"less than a slot under load", pools("load", share.Pool{Weight: 9}, one), fairlead.Job{}, fairlead.Job{},
			why.StarveShare, "less than a slot"},
		{"license order", func(s *sched.Config) {
			matlab(sched.EASY)(s)
			s.Root.Policy = "deficit"
		}, licensed(1), licensed(2), why.StarveOrder, "counts a wait for a license as lag"},
		{"factors", func(s *sched.Config) {
			pools("multifactor", one, one)(s)
			s.Multifactor = sched.Multifactor{Size: 1000, MaxAge: time.Hour, Recalculate: time.Minute}
		}, fairlead.Job{Request: wide(2)}, fairlead.Job{}, why.StarveOrder, "more than the factor age ever can"},
		{"factors and age", func(s *sched.Config) {
			pools("multifactor", one, one)(s)
			s.Multifactor = sched.Multifactor{Size: 1000, Age: 5000, MaxAge: time.Hour, Recalculate: time.Minute}
		}, fairlead.Job{Request: wide(2)}, fairlead.Job{}, "", ""},
	}
}

// TestStarvationIsAnnounced: a job that nobody can pass is told to wait, and a job that others can pass forever is not.
func TestStarvationIsAnnounced(t *testing.T) {
	for _, c := range append(passedCases(), passedByChoice()...) {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
				c.shares(&o.Shares.Sched)
				loop, stop := start(t, o, 4, enginetest.Endless)
				defer stop()
				flood := func() {
					for range 5 {
						j := c.others
						if j.User = "ann"; j.Pool == "" {
							j.Pool = "a"
						}
						enginetest.Submit(t, loop, j)
						time.Sleep(time.Second)
					}
				}
				flood()
				if c.job.User = "bob"; c.job.Pool == "" {
					c.job.Pool = "b"
				}
				id := enginetest.Submit(t, loop, c.job)[0]
				time.Sleep(time.Second)
				flood()
				a, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if a.Subject.State != "waiting" {
					t.Fatalf("the job is %s", a.Subject.State)
				}
				if starves := a.Verdict == why.MayStarve; starves != (c.code != "") ||
					starves && a.Reason.Code != c.code ||
					!strings.Contains(a.Reason.Text, c.says) || starves && a.Reason.Next == "" {
					t.Errorf("verdict %q because of %+v, want the code %q", a.Verdict, a.Reason, c.code)
				}
				t.Log(a.Reason.Text, "->", a.Reason.Next)
			})
		})
	}
}

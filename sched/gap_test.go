package sched_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestGapsOfManyHalfLives: the growth since the last event overflows in a very long gap, once with a task running and
// once idle. Afterwards all amounts are right, and the shares are kept.
func TestGapsOfManyHalfLives(t *testing.T) {
	for _, gap := range []time.Duration{10 * time.Minute, 18 * time.Hour, 400 * 24 * time.Hour} {
		t.Run(fmt.Sprint(gap), func(t *testing.T) { gapKeepsAmounts(t, gap) })
	}
}

func gapKeepsAmounts(t *testing.T, gap time.Duration) {
	const half = time.Minute
	most := half.Seconds() / math.Ln2 // decayed service of one slot that was always busy
	s, err := sched.New(sched.Config{
		Root:      share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}},
		NewPolicy: policy.New(policy.Options{}), HalfLife: half,
	}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 1}, epoch)
	w := &world{Scheduler: s, t: t, now: epoch}
	used := func(pool string, want float64) {
		t.Helper()
		s.Advance(w.now)
		p := s.View(s.Pool(pool))
		if got := p.Service(s.Read().Now()) / s.Read().Now().Growth; !(math.Abs(got-want) <= 1e-6*most) {
			t.Errorf("%s used %v, want %v: %+v at %+v", pool, got, want, p.Account, s.Read().Now())
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
	w.submit("a", 1)
	long := w.step(0)[0]
	w.submit("a", 100)
	w.submit("b", 100)
	w.tick(gap)
	lived := most * (1 - math.Exp2(-gap.Seconds()/half.Seconds()))
	used("a", lived)
	s.Finish(long.Run, w.now, true)
	used("a", lived)
	if got := w.paths(w.step(0)); got[0] != "b" {
		t.Errorf("%v goes before b, which has had nothing", got)
	}
	s.Finish(w.d.Starts[0].Run, w.now, true)
	w.tick(gap)
	used("a", lived*math.Exp2(-gap.Seconds()/half.Seconds()))
	count := map[string]int{}
	for range 100 {
		start := w.step(0)[0]
		count[w.Path(start.Pool)]++
		w.tick(10 * time.Second)
		s.Finish(start.Run, w.now, true)
	}
	if count["a"] < 45 || count["b"] < 45 {
		t.Errorf("afterwards %v of 100 starts", count)
	}
}

package sched_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// hourly serves children in turn: in even hours the first child, in odd hours the last. The keys fall at the full
// hour, which a Renewer may do.
type hourly struct{}

var hourlyRule = why.NewFormula("hourly", "turn", "smallest first", why.Term{Name: "turn", Doc: "whose hour it is"})

func (hourly) Formula() *why.Formula { return hourlyRule }

func (hourly) Terms(p *sched.Pool, at sched.Setting) why.Terms {
	t := why.Terms{Formula: hourlyRule, Key: p.Weight}
	if int(at.Tau/time.Hour.Seconds())%2 == 1 {
		t.Key = -p.Weight
	}
	t.Values[0] = t.Key
	return t
}

func (hourly) Renew(now time.Time) time.Time { return now.Truncate(time.Hour).Add(time.Hour) }

func TestKeysAreComputedAnewAtTheInstantsOfTheirPolicy(t *testing.T) {
	root := share.Pool{Policy: "hourly", Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 2}}}
	s, err := sched.New(sched.Config{Root: root, NewPolicy: func(string, share.Options) sched.Policy { return hourly{} }}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 1}, epoch)
	w := &world{Scheduler: s, t: t, now: epoch}
	w.submit("a", 9)
	w.submit("b", 9)
	var got []string
	for range 6 {
		starts := w.step(1)
		got = append(got, w.Path(starts[0].Pool))
		if next := w.d.Next; !next.Equal(w.now.Truncate(time.Hour).Add(time.Hour)) {
			t.Errorf("at %v the next instant is %v, want the full hour", w.now, next)
		}
		w.tick(30 * time.Minute)
		fork := w.Fork() // the fork continues by itself
		fork.Finish(starts[0].Run, w.now, true)
		w.Finish(starts[0].Run, w.now, true)
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
		if err := fork.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if want := "[a a b b a a]"; fmt.Sprint(got) != want {
		t.Errorf("served %v, want %s", got, want)
	}
}

package sched_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

var (
	duels    = flag.Int("cases", 2000, "duels of TestStarvation")
	duelOnce = flag.Bool("first", false, "end TestStarvation with the first duel that fails")
	duelSeed = flag.Uint64("seed", 0, "the only duel of TestStarvation, as a failure names it; 0: the first so many")
)

// TestStarvation: whatever others submit, a job that fits on the empty machine starts within a bound that follows from
// the share of its pool and from the longest task, under easy, conservative and every policy. GateView.Starves never
// says that others pass it forever. The others form an adversary: it sees the machine and the planned starts, and
// submits the jobs that delay the victim most. -cases sets the number of duels, -seed repeats one of them. Every other
// duel is under conservative, for which the same bound holds: its first job waits as under easy, and the other jobs are
// planned behind it and never delay it.
//
// The bound, with L the longest time for which a task may run, n the number of leaf pools and p the
// part of the machine to which the job's pool is entitled:
//
//	(2 + (n+1+m) / p) * (4 L + patience + 10 s)
//
// The second factor is the length of one round: the longest time until the job that is first in the policy's order
// starts, or a job of another pool starts before it. It is the sum of these times:
//
//   - L until its planned start, because the running tasks end by then, and no plan that begins with them is longer;
//   - L for wrong predictions: a late task is planned to run on for as long as it is late, which is at most L;
//   - L until the tasks that started meanwhile have ended: then others have passed the job, and all tasks that ran
//     when it became first have ended, whatever was predicted;
//   - L until the nodes are free that are held from then on: no task starts there that might run beyond that;
//   - backfill_patience, if it is set, replaces the predictions;
//   - 10 s, the minimum time for which a late task is planned to run on.
//
// The first factor is the largest number of rounds until the job's pool is first and stays so:
//
//   - each of the n leaf pools may be level with the job's pool when the job comes, and then start a task first; one
//     more is the job whose turn had begun already;
//   - a sibling of the weight w gets w/v starts for each start of the job's pool, whose weight is v; over all levels
//     of the tree, that is less than 1/p;
//   - under fifo all earlier jobs go first, so m is 16, the largest number of them;
//   - under lottery a pool is first by chance. In one of e^20 cases it is not first for 20/p rounds, so m is 20;
//   - one round for tasks that ran when the job came, and one for the job itself.
func TestStarvation(t *testing.T) {
	if *duelSeed > 0 {
		fight(t, *duelSeed)
		return
	}
	worst, of := 0.0, uint64(0)
	for seed := uint64(1); seed <= uint64(*duels) && !(*duelOnce && t.Failed()); seed++ {
		if part := fight(t, seed); part > worst {
			worst, of = part, seed
		}
	}
	t.Logf("figure: %d duels; the longest wait was %.0f%% of its bound (seed %d)", *duels, 100*worst, of)
}

// backfills are the rules under which waits are bounded.
var backfills = [2]sched.Backfill{sched.EASY, sched.Conservative}

// fight lets a job wait among those of an adversary, and returns its wait as a fraction of the bound.
func fight(t *testing.T, seed uint64) float64 {
	t.Helper()
	d := newDuel(t, rand.New(rand.NewPCG(seed, 15)), &duel{backfill: backfills[seed%2]})
	limit := d.bound()
	if !d.owes() { // there, pools that licenses hold back go first for a while, as if forever
		d.alarm = func(g why.Gate) {
			t.Errorf("seed %d: %s is said to starve after %v: %+v", seed, d, d.now.Sub(d.came), g)
		}
	}
	if d.waits(limit) {
		t.Errorf("seed %d: %s has waited for %v, the bound; %d tasks run (go test ./sched -run 'TestStarvation$' -seed=%d)",
			seed, d, limit, len(d.runs), seed)
	}
	return float64(d.now.Sub(d.came)) / float64(limit)
}

// waits reports whether the victim still waits after the limit.
func (d *duel) waits(limit time.Duration) bool {
	for steps := 0; ; steps++ {
		d.act()
		if d.step(); d.started {
			return false
		}
		if !d.came.IsZero() && d.now.Sub(d.came) > limit {
			return true
		}
		if steps%16 == 0 && d.alarm != nil && !d.came.IsZero() {
			if g, told := d.starves(); told {
				d.alarm(g)
			}
		}
		d.pass()
	}
}

// bound is the longest possible wait of the victim; see TestStarvation.
func (d *duel) bound() time.Duration {
	others := len(d.pools) + 1
	if d.drawn {
		others += 20
	}
	if d.arrival {
		others += 16
	}
	return time.Duration((2 + float64(others)/d.part) * float64(4*d.longest+d.patience+10*time.Second))
}

func (d *duel) String() string {
	return fmt.Sprintf("%v of %s against %s under %s, %s, limits %s, patience %v, nodes %v", d.want, d.pools[0], d.plan,
		d.backfill, d.policies, d.limits, d.patience, d.nodes)
}

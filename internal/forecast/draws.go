package forecast

import (
	"math/rand/v2"
	"time"

	"github.com/fairlead/fairlead/sched"
)

// draws are the random numbers of one replay. The number of the replay is their seed: replay 3 draws the same numbers
// whichever job asks. So a job that starts before another job in every replay also has the earlier range.
type draws struct {
	replay uint64
	rng    *rand.Rand
	pools  map[sched.PoolID]luck
}

func newDraws(replay int) *draws {
	return &draws{uint64(replay), rand.New(rand.NewPCG(uint64(replay), 0)), map[sched.PoolID]luck{}}
}

// luck says for one replay how the tasks of a pool compare with the known ones. All of them share it: if a new program
// runs longer than those before it, each of its tasks does.
type luck struct{ rank, factor float64 }

func (d *draws) of(pool sched.PoolID) luck {
	l, known := d.pools[pool]
	if !known {
		rng := rand.New(rand.NewPCG(d.replay, uint64(pool)+1))
		l = luck{rng.Float64(), 1 / max(0.1, 1-rng.Float64())}
		d.pools[pool] = l
	}
	return l
}

// outlasts reports whether the tasks take longer than all of n known run times.
func (l luck) outlasts(n int) bool { return l.rank*float64(n+1) < 1 }

// outlasting returns the run time of a task that takes longer than a time r, if nothing else is known. Such a task
// takes longer than x with the probability r/x (Gott, "Implications of the Copernican principle for our future
// prospects", Nature 363, 1993). So a start that depends on the task gets a wide range instead of an instant that moves
// on with the clock. The longest tenth counts as ten times r.
func (l luck) outlasting(r time.Duration) time.Duration { return time.Duration(float64(r) * l.factor) }

package enginetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// An Arrival is a job to submit to an engine.
type Arrival struct {
	Job   queue.Job
	At    time.Duration // after the beginning
	Lasts time.Duration // the time for which each of its tasks runs
}

// Arrivals returns 400 jobs of four users in the order of their arrival, about two and a half of them a second, whose
// tasks run for two seconds on average. Some are arrays, some have a high or a low priority, and each has a different
// name. Every call returns the same jobs.
func Arrivals() []Arrival {
	rng := rand.New(rand.NewPCG(11, 12))
	var all []Arrival
	now := time.Duration(0)
	for i := range 400 {
		now += time.Duration(rng.Int64N(int64(800 * time.Millisecond)))
		j := queue.Job{
			Name: fmt.Sprint("job", i), Kind: kind, User: fmt.Sprint("u", rng.IntN(4)),
			Priority: []string{"normal", "normal", "high", "low"}[rng.IntN(4)],
		}
		if rng.IntN(8) == 0 {
			j.Array = "0-5%2"
		}
		lasts := time.Duration(rng.ExpFloat64()*2e9) + time.Millisecond
		all = append(all, Arrival{Job: j, At: now, Lasts: lasts})
	}
	return all
}

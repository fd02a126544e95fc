package sched_test

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/usage"
	"github.com/fairlead/fairlead/why"
)

// occupancy orders children by running tasks over weight, as Scoot does. It serves as a comparison, and shows that a
// new policy takes a dozen lines.
type occupancy struct{}

var occupancyFormula = why.NewFormula("running/weight", "running / weight", "smallest first",
	why.Term{Name: "running"}, why.Term{Name: "weight"})

func (occupancy) Formula() *why.Formula { return occupancyFormula }

func (occupancy) Terms(p *sched.Pool, _ sched.Setting) why.Terms {
	t := why.Terms{Formula: occupancyFormula, Tie: -p.Weight, Key: p.Running / p.Weight}
	t.Values[0], t.Values[1] = p.Running, p.Weight
	return t
}

// ending is a task that ends at an instant.
type ending struct {
	at   float64
	run  sched.RunID
	pool sched.PoolID
}

type endings []ending

func (e endings) Len() int           { return len(e) }
func (e endings) Less(i, j int) bool { return e[i].at < e[j].at }
func (e endings) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *endings) Push(x any)        { *e = append(*e, x.(ending)) }
func (e *endings) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

// lagCase is one of the four cases in which policies are compared: always
// backlogged pools of weights 1, 2, 4, exponential task lengths.
type lagCase struct {
	name         string
	pools, slots int
	horizon      float64
	mean         func(pool int) float64
	fair         float64 // the largest lag that fair may have, in slot-seconds
	seeds        int     // with -all; fewer where a million tasks run
}

func same(int) float64 { return 1 }

func mixed(pool int) float64 {
	if pool%2 == 0 {
		return 1
	}
	return 10
}

var lagCases = []lagCase{
	{"60 pools, 120 slots, T=500", 60, 120, 500, same, 3.1, 5},
	{"60 pools, 120 slots, T=2000", 60, 120, 2000, same, 3.3, 5},
	{"lengths 1 against 10, T=2000", 60, 120, 2000, mixed, 37, 5},
	{"50 pools, 1000 slots, T=1000", 50, 1000, 1000, same, 25, 2},
}

// TestLargestLag measures the largest |lag| behind the ideal fluid scheduler in virtual time. With -all it takes the
// mean over some seeds. With -v it takes the mean over five, and measures other policies for comparison.
func TestLargestLag(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute of arithmetic")
	}
	known := policy.New(policy.Options{ShortlistPools: 1, ShortlistJobs: 1})
	policies := func(name string, o share.Options) sched.Policy {
		if name == "running/weight" {
			return occupancy{}
		}
		return known(name, o)
	}
	cases := lagCases
	if !*all {
		cases = []lagCase{cases[0], cases[2]} // the others take as long again, and the last one has a million tasks
	}
	for _, c := range cases {
		line := fmt.Sprintf("%-30s", c.name)
		names, seeds := []string{"fair"}, 1
		if *all {
			seeds = c.seeds
		}
		if testing.Verbose() {
			names, seeds = append(names, "running/weight", "lottery"), 5
		}
		for _, name := range names {
			sum := 0.0
			if name != "fair" {
				seeds = 1 // printed for comparison only
			}
			for seed := range seeds {
				sum += c.measure(t, name, policies, uint64(seed+1))
			}
			largest := sum / float64(seeds)
			line += fmt.Sprintf("  %s %.1f", name, largest)
			if name == "fair" && largest > c.fair {
				t.Errorf("%s: largest lag of fair is %.2f slot-seconds, at most %.1f", c.name, largest, c.fair)
			}
		}
		t.Log(line)
	}
}

func (c lagCase) measure(t *testing.T, name string, policies func(string, share.Options) sched.Policy, seed uint64) float64 {
	root := share.Pool{Policy: name}
	weights := make([]float64, c.pools)
	total := 0.0
	for i := range c.pools {
		weights[i] = []float64{1, 2, 4}[i%3]
		total += weights[i]
		root.Pools = append(root.Pools, share.Pool{Name: fmt.Sprint("p", i), Weight: weights[i]})
	}
	s, err := sched.New(sched.Config{Root: root, NewPolicy: policies}, epoch, seed)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": int64(c.slots)}, epoch)
	rates := make([]usage.Rate, c.pools)
	number := map[sched.PoolID]int{}
	for i := range c.pools {
		id := s.Pool(fmt.Sprint("p", i))
		number[id] = i
		rates[i].Ideal = float64(c.slots) * weights[i] / total
		s.Add(sched.Job{ID: int64(i + 1), Pool: id, Key: s.Key(nil), Priority: normal, Tasks: 1 << 30}, epoch)
	}
	rng := rand.New(rand.NewPCG(seed, 99))
	lag := usage.NewFairness(epoch)
	var queue endings
	var d sched.Decision
	for now := 0.0; now <= c.horizon; {
		at := epoch.Add(time.Duration(now * 1e9))
		for s.Step(at, 0, &d); ; s.Step(at, 0, &d) {
			for _, st := range d.Starts {
				i := number[st.Pool]
				rates[i].Received++
				heap.Push(&queue, ending{now + rng.ExpFloat64()*c.mean(i), st.Run, st.Pool})
			}
			if !d.More {
				break
			}
		}
		e := heap.Pop(&queue).(ending)
		lag.Set(at, rates, 0)
		now = e.at
		lag.Advance(epoch.Add(time.Duration(now * 1e9)))
		rates[number[e.pool]].Received--
		s.Finish(e.run, epoch.Add(time.Duration(now*1e9)), true)
	}
	return lag.Largest()
}

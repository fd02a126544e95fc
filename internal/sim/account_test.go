package sim_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/share"
)

// slow is the slow, obvious version of the account: it visits every second and all pools.
type slow struct {
	r          *sim.Result
	root       *share.Pool
	due, had   []float64 // by user
	share      []float64 // integral, by user
	wanted     []float64 // seconds, by user
	idle       float64
	queue      float64 // job-seconds
	configured map[string]bool
}

// party is a pool or a user in a pool.
type party struct {
	share.Claim
	user int // -1: a pool
	kids []party
	path string
}

func newSlow(r *sim.Result, root *share.Pool) *slow {
	n := len(r.Workload.Users)
	s := &slow{r: r, root: root, due: make([]float64, n), had: make([]float64, n), share: make([]float64, n),
		wanted: make([]float64, n), configured: map[string]bool{}}
	for path := range root.All() {
		s.configured[path] = true
	}
	for second := r.Workload.Jobs[0].Submit; second < r.Workload.Jobs[0].Submit+r.Metrics.Makespan; second++ {
		s.second(second)
	}
	return s
}

func (s *slow) second(now int64) {
	w := s.r.Workload
	demand := map[[2]int32]float64{}
	widths := map[[2]int32][]int{}
	var all []int
	users := make([]float64, len(w.Users))
	busy, fitting := 0.0, 0.0
	var waiting []float64
	for i, j := range w.Jobs {
		if now < j.Submit || now >= s.r.End(i) {
			continue
		}
		if room := s.room(w.Pools[j.Pool]); int(j.Procs) <= room {
			at := [2]int32{j.Pool, j.User}
			widths[at], all = append(widths[at], int(j.Procs)), append(all, int(j.Procs))
			demand[at] = float64(mostOf(widths[at], room))
		}
		users[j.User] += float64(j.Procs)
		if now < s.r.Schedule.Start[i] {
			waiting = append(waiting, float64(j.Procs))
			s.queue++
		} else {
			s.had[j.User] += float64(j.Procs)
			busy += float64(j.Procs)
		}
	}
	free := float64(w.Procs) - busy
	for _, procs := range waiting {
		if procs <= free {
			fitting += procs
		}
	}
	s.idle += math.Min(free, fitting)
	for u, procs := range users {
		if procs > 0 {
			s.wanted[u]++
		}
	}
	top := s.party("", demand)
	s.pour(top, math.Min(float64(mostOf(all, w.Procs)), top.Demand), 1)
}

// room returns the maximum number of processors of a pool.
func (s *slow) room(path string) int {
	room := s.r.Workload.Procs
	for ; path != ""; path, _ = share.Cut(path) {
		if c := s.root.Find(path); c != nil {
			if most, ok := c.Max["cpu"]; ok {
				room = min(room, int(most))
			}
		}
	}
	return room
}

// mostOf returns the largest sum of some of the widths that fits.
func mostOf(widths []int, room int) int {
	sums := map[int]bool{0: true}
	for _, width := range widths {
		for _, sum := range slices.Collect(maps.Keys(sums)) {
			sums[sum+width] = sums[sum+width] || sum+width <= room
		}
	}
	most := 0
	for sum, fits := range sums {
		if fits {
			most = max(most, sum)
		}
	}
	return most
}

// party returns the tree at and below a pool.
func (s *slow) party(path string, demand map[[2]int32]float64) party {
	w := s.r.Workload
	p := party{Claim: share.Claim{Weight: 1, Max: math.Inf(1)}, user: -1, path: path}
	if c := s.root.Find(path); c != nil && path != "" {
		p.Weight = c.Weight
		p.Min = float64(c.Min["cpu"])
		if most, ok := c.Max["cpu"]; ok {
			p.Max = float64(most)
		}
	}
	below := map[string]bool{}
	for i, pool := range w.Pools {
		for u := range w.Users {
			if n := demand[[2]int32{int32(i), int32(u)}]; n > 0 && pool == path {
				p.kids = append(p.kids, party{Claim: share.Claim{Weight: 1, Max: n, Demand: n}, user: u})
			} else if rest, ok := strings.CutPrefix(pool, strings.TrimPrefix(path+"/", "/")); ok && n > 0 && pool != path {
				head, _, _ := strings.Cut(rest, "/")
				below[strings.TrimPrefix(path+"/"+head, "/")] = true
			}
		}
	}
	for kid := range below {
		p.kids = append(p.kids, s.party(kid, demand))
	}
	slices.SortFunc(p.kids, func(a, b party) int { return strings.Compare(a.path, b.path) })
	least := 0.0
	for _, kid := range p.kids {
		least += kid.Min
		p.Demand += kid.Demand
	}
	p.Demand = math.Min(p.Demand, p.Max)
	p.Min = math.Min(math.Max(p.Min, least), p.Demand)
	return p
}

func (s *slow) pour(p party, due, part float64) {
	if p.user >= 0 {
		s.due[p.user] += due
		s.share[p.user] += part
		return
	}
	var claims []share.Claim
	weights := 0.0
	counted := map[string]bool{}
	for _, kid := range p.kids {
		claims = append(claims, kid.Claim)
		weights += kid.Weight
		counted[kid.path] = true
	}
	for path, c := range s.root.All() {
		if above, _ := share.Cut(path); above == p.path && !counted[path] {
			weights += c.Weight
		}
	}
	for i, amount := range share.Divide(due, claims) {
		s.pour(p.kids[i], amount, part*p.kids[i].Weight/weights)
	}
}

// TestAccountBySecond checks the due and the received service of users, their shares, the idle time and the series
// against a version that visits every second.
func TestAccountBySecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, c := drawn(t)
		r, err := sim.Run(w, sim.Options{Config: c, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		s := newSlow(r, &c.Root)
		for _, u := range r.Metrics.Users {
			i := slices.Index(w.Users, u.User)
			if !near(u.Due, s.due[i]) || !near(u.Received, s.had[i]) || !near(u.Lag, s.due[i]-s.had[i]) {
				t.Fatalf("%s: due %v received %v, want %v %v", u.User, u.Due, u.Received, s.due[i], s.had[i])
			}
			if want := s.share[i] / math.Max(1, s.wanted[i]); !near(u.Share, want) {
				t.Fatalf("%s: share %v, want %v", u.User, u.Share, want)
			}
		}
		if !near(r.Metrics.IdleWanted, s.idle) {
			t.Fatalf("idle %v, want %v", r.Metrics.IdleWanted, s.idle)
		}
		checkSeries(t, r, s)
	})
}

// checkSeries checks that the stretches of a series add up to the totals.
func checkSeries(t *rapid.T, r *sim.Result, s *slow) {
	x := &r.Series
	sum := func(values []float64) (total float64) {
		for i, v := range values {
			total += v * float64(min(x.Step, r.Metrics.Makespan-int64(i)*x.Step))
		}
		return total
	}
	machine := float64(r.Workload.Procs)
	had, due := 0.0, 0.0
	for i := range s.had {
		had, due = had+s.had[i], due+s.due[i]
	}
	used, owed := 0.0, 0.0
	for _, p := range x.Pools {
		used, owed = used+sum(p.Used), owed+sum(p.Due)
	}
	if !near(sum(x.Utilisation)*machine, had) || !near(used*machine, had) || !near(owed*machine, due) ||
		!near(sum(x.Queue), s.queue) {
		t.Fatalf("series %+v; had %v, due %v, queue %v", x, had, due, s.queue)
	}
	if len(x.Queue) > sim.MaxPoints {
		t.Fatalf("%d points", len(x.Queue))
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*(1+math.Abs(a)+math.Abs(b)) }

// TestSeriesIsBounded checks that the series of a long simulation has at most MaxPoints points, and at least
// a third of them.
func TestSeriesIsBounded(t *testing.T) {
	var lines []string
	for range 30 {
		lines = append(lines, "0 987654 2 1", "5 1 1 2")
	}
	r := run(t, jobs(t, 3, lines...), fifo(backfills["fcfs"]))
	x := r.Series
	if n := len(x.Queue); n > sim.MaxPoints || n < sim.MaxPoints/3 || int64(n)*x.Step < r.Metrics.Makespan {
		t.Errorf("%d points of %d s for %d s", n, x.Step, r.Metrics.Makespan)
	}
	if len(x.Pools) != 2 || x.Pools[0].Name != "u1" {
		t.Errorf("pools %+v", x.Pools[0].Name)
	}
}

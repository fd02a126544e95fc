package sched_test

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

// story drives a scheduler by hand and writes down all events, with all numbers.
type story struct {
	*world
	text  strings.Builder
	runs  map[sched.RunID]sched.Job
	order []sched.RunID // the running tasks, in order of their starts
	stops []sched.Stop  // the stops that have not ended
	names map[int64]string
}

func newStory(t testing.TB, cfg sched.Config, nodes ...int64) *story {
	t.Helper()
	cfg.NewPolicy = policy.New(policy.Options{})
	s, err := sched.New(cfg, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range nodes {
		s.Join(fmt.Sprint("n", i+1), cluster.Amounts{"cpu": n}, epoch)
	}
	return &story{world: &world{Scheduler: s, t: t, now: epoch}, runs: map[sched.RunID]sched.Job{}, names: map[int64]string{}}
}

func (s *story) add(pool string, tasks int, width int64, f ...func(*sched.Job)) sched.Job {
	s.last++
	j := sched.Job{ID: s.last, Pool: s.Pool(pool), Key: s.Key(cluster.Amounts{"cpu": width}), Priority: normal, Tasks: tasks}
	for _, f := range f {
		f(&j)
	}
	s.names[j.ID] = pool
	s.Add(j, s.now)
	s.say("job %d: %d x %d cpu in %s", j.ID, tasks, width, pool)
	return j
}

func (s *story) say(format string, args ...any) {
	fmt.Fprintf(&s.text, "%-6s %s\n", s.now.Sub(epoch), fmt.Sprintf(format, args...))
}

// decide steps once and prints the decisions.
func (s *story) decide() {
	s.Step(s.now, 0, &s.d)
	count := map[int64]int{}
	var jobs []int64
	for _, st := range s.d.Starts {
		s.runs[st.Run] = sched.Job{ID: st.Job, Pool: st.Pool}
		s.order = append(s.order, st.Run)
		if count[st.Job]++; count[st.Job] == 1 {
			jobs = append(jobs, st.Job)
		}
	}
	for _, id := range jobs {
		s.say("start  %d of job %d (%s)", count[id], id, s.names[id])
	}
	for _, x := range s.d.Stops {
		s.stops = append(s.stops, x)
		s.say("stop   job %d (%s) on n%d by %s for %s: it had %.4g of %.4g cpu for %s, was owed %.4g cpu-s",
			x.Job, s.Path(x.Pool), x.Node+1, x.Rule, s.Path(x.For), x.Running, x.Goal, s.now.Sub(x.Since), x.Owed)
		s.say("       %s ran %.4g cpu, %.4g above its entitlement of %.4g; %s; ran %s on %.4g cpu, lost %.4g cpu-s; room for job %d; safe for %s",
			s.Path(x.From), x.FromRunning, x.FromRunning-x.FromGoal, x.FromGoal, x.Choice, x.Elapsed, x.Width, x.Lost, x.Next, x.Safe.Sub(s.now))
	}
}

// until steps at the instants at which, by the decisions, something may change.
func (s *story) until(d time.Duration) {
	end := epoch.Add(d)
	for {
		s.decide()
		if next := s.d.Next; next.IsZero() || next.After(end) {
			break
		} else if next.After(s.now) {
			s.now = next
		}
	}
	s.now = end
}

// carryOut ends the stopped tasks; they wait again.
func (s *story) carryOut() {
	stops := s.stops
	s.stops = nil
	for _, x := range stops {
		s.Finish(x.Run, s.now, false)
		delete(s.runs, x.Run)
		s.Add(sched.Job{ID: x.Job, Pool: s.Pool(s.names[x.Job]), Key: s.Key(cluster.Amounts{"cpu": int64(x.Width)}), Priority: normal, Tasks: 1}, s.now)
	}
	if len(stops) > 0 {
		s.say("ended: what was stopped, and waits again")
	}
}

func (s *story) shares() {
	e := s.Read().Entitlements()
	for i := 1; i < s.Read().Pools(); i++ {
		id := sched.PoolID(i)
		if s.Read().PriorityClass(id) {
			continue
		}
		p := s.View(id)
		s.say("       %-12s runs %2.4g, entitlement %5.4g, wants %3.4g", s.Path(id), p.Running, e[i].Now, e[i].Demand)
	}
}

func reclaimConfig(root share.Pool, choose sched.Choose) sched.Config {
	return sched.Config{Root: root, Reclaim: sched.Reclaim{Grace: 30 * time.Minute, Choose: choose}}
}

// TestReclaimByHand plays the sample of a minimum and of a part that a pool does not get, with all numbers.
func TestReclaimByHand(t *testing.T) {
	root := share.Pool{
		Policy: "fair", Reclaim: share.Reclaim{MinAfter: time.Minute, ShareAfter: 10 * time.Minute},
		Pools: []share.Pool{
			{Name: "biology", Weight: 2, Pools: []share.Pool{
				{Name: "env", Weight: 1, Min: map[string]int64{"cpu": 8}}, {Name: "epi", Weight: 1},
			}},
			{Name: "physics", Weight: 3},
		},
	}
	s := newStory(t, reclaimConfig(root, sched.Newest), 16, 16, 16, 16)
	s.add("physics", 4, 8)
	s.decide()
	s.now = epoch.Add(5 * time.Minute)
	s.add("physics", 20, 4)
	s.decide()
	s.now = epoch.Add(6 * time.Minute)
	s.add("biology/env", 3, 4)
	s.add("biology/epi", 40, 1)
	s.shares()
	s.until(8 * time.Minute)
	s.carryOut()
	s.decide()
	s.shares()
	s.until(20 * time.Minute)
	s.carryOut()
	s.decide()
	s.shares()
	s.until(40 * time.Minute)
	golden.Check(t, "testdata/reclaim.txt", s.text.String())
}

// TestReclaimOrder: nothing is stopped if another pool would take the room first, here because its job came before.
func TestReclaimOrder(t *testing.T) {
	for _, policy := range []string{"fifo", "fair"} {
		root := share.Pool{
			Policy: policy, Reclaim: share.Reclaim{ShareAfter: time.Minute},
			Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}},
		}
		s := newStory(t, reclaimConfig(root, sched.Newest), 6)
		s.add("a", 60, 1)
		s.decide()
		s.now = s.now.Add(time.Second)
		s.add("b", 6, 1)
		s.until(10 * time.Minute)
		if got := len(s.stops) > 0; got != (policy == "fair") {
			t.Errorf("%s:\n%s", policy, s.text.String())
		}
	}
}

// TestReclaimChoice: the cheapest task to stop is not the newest one if an older one is narrower.
func TestReclaimChoice(t *testing.T) {
	for choose, want := range map[sched.Choose]int64{sched.Newest: 3, sched.Cheapest: 2} {
		root := share.Pool{
			Policy: "fair", Reclaim: share.Reclaim{MinAfter: time.Minute},
			Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1, Min: map[string]int64{"cpu": 1}}},
		}
		s := newStory(t, reclaimConfig(root, choose), 10)
		for i, width := range []int64{7, 1, 2} {
			s.now = epoch.Add(time.Duration(20*i) * time.Second)
			s.add("a", 1, width)
			s.decide()
		}
		s.now = epoch.Add(45 * time.Second)
		s.add("b", 5, 1)
		s.until(2 * time.Minute)
		if len(s.stops) != 1 || s.stops[0].Job != want || !s.stops[0].Since.Equal(epoch.Add(45*time.Second)) {
			t.Errorf("%v: %d stops\n%s", choose, len(s.stops), s.text.String())
		}
	}
}

// TestReclaimSpares: reclaim spares protected tasks and jobs in their grace period, and stops no task before a pool has
// been below its minimum for long enough.
func TestReclaimSpares(t *testing.T) {
	play := func(change func(*share.Pool), f func(*story)) *story {
		root := share.Pool{
			Policy: "fair", Reclaim: share.Reclaim{MinAfter: time.Minute},
			Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1, Min: map[string]int64{"cpu": 2}}},
		}
		change(&root)
		s := newStory(t, reclaimConfig(root, sched.Newest), 4)
		s.add("a", 4, 1)
		s.decide()
		s.now = s.now.Add(time.Second)
		f(s)
		s.add("b", 2, 1)
		s.until(time.Hour)
		return s
	}
	same := func(*share.Pool) {}
	for name, c := range map[string]struct {
		change func(*share.Pool)
		f      func(*story)
		want   int
	}{
		"as it is":      {same, func(*story) {}, 2},
		"off for b":     {func(p *share.Pool) { p.Pools[1].Reclaim.MinAfter = share.Never }, func(*story) {}, 0},
		"a protected":   {func(p *share.Pool) { p.Pools[0].Reclaim.Protect = true }, func(*story) {}, 0},
		"in its grace":  {same, func(s *story) { s.Memory().Protect(1, epoch.Add(50*time.Minute)) }, 2},
		"in its grace ": {same, func(s *story) { s.Memory().Protect(1, epoch.Add(2*time.Hour)) }, 0},
		"leaving":       {same, func(s *story) { s.Leave(s.order[0]); s.Leave(s.order[1]) }, 0},
	} {
		s := play(c.change, c.f)
		if len(s.stops) != c.want {
			t.Errorf("%s: %d stops, want %d\n%s", name, len(s.stops), c.want, s.text.String())
		}
		for _, x := range s.stops {
			if at := x.Safe.Add(-30 * time.Minute); name == "in its grace" && at.Before(epoch.Add(50*time.Minute)) {
				t.Errorf("stopped at %v", at)
			}
		}
	}
}

// TestReclaimBesideProtected: resources that protected tasks hold above the part of their pool are missing to the parts
// of the others, but not to a minimum. If nothing can be stopped, the scheduler says for which pool, and how much
// protected tasks hold.
func TestReclaimBesideProtected(t *testing.T) {
	for _, c := range []struct {
		name      string
		protected []string
		rule      share.Reclaim
		stops     int
		starving  bool
	}{
		{"minimum, one protected", []string{"a"}, share.Reclaim{MinAfter: time.Minute}, 4, false},
		{"minimum, both protected", []string{"a", "c"}, share.Reclaim{MinAfter: time.Minute}, 0, true},
		{"part, one protected", []string{"a"}, share.Reclaim{ShareAfter: time.Minute}, 4, false},
		{"part, both protected", []string{"a", "c"}, share.Reclaim{ShareAfter: time.Minute}, 0, true},
	} {
		root := share.Pool{Policy: "fair", Reclaim: c.rule, Pools: []share.Pool{
			{Name: "a", Weight: 1}, {Name: "b", Weight: 1, Min: map[string]int64{"cpu": 4}}, {Name: "c", Weight: 1},
		}}
		for _, name := range c.protected {
			root.Find(name).Reclaim.Protect = true
		}
		s := newStory(t, reclaimConfig(root, sched.Newest), 8)
		s.add("a", 4, 1)
		s.decide()
		s.add("c", 4, 1)
		s.decide()
		s.now = s.now.Add(time.Second)
		s.add("b", 6, 1)
		s.until(20 * time.Minute)
		starving := s.Read().Starving()
		if len(s.stops) != c.stops || (len(starving) > 0) != c.starving {
			t.Errorf("%s: %d stops, want %d; starving %+v\n%s", c.name, len(s.stops), c.stops, starving, s.text.String())
		}
		for _, x := range starving {
			if x.Pool != s.Pool("b") || x.Goal < 1 || x.Running != 0 || x.Protected != 8 || !x.Since.Equal(epoch.Add(time.Second)) {
				t.Errorf("%s: %+v", c.name, x)
			}
		}
		for _, x := range s.stops {
			if s.Path(x.From) != "c" || x.FromGoal != 0 || !strings.Contains(x.Choice, "would be 2 if no task were protected") {
				t.Errorf("%s: %+v", c.name, x)
			}
		}
	}
}

// TestReclaimBelowAMaximum: a pool gets its minimum, or its part, of the resources that its parent may have, even if
// the parent is at its maximum. Only its siblings lose tasks, whatever else runs.
func TestReclaimBelowAMaximum(t *testing.T) {
	min, part := share.Reclaim{MinAfter: time.Minute}, share.Reclaim{ShareAfter: time.Minute}
	four := func(p *share.Pool) { p.Max = map[string]int64{"cpu": 4} }
	tasks := func(p *share.Pool) { p.MaxRunning = 4 }
	gang := func(s *story, j *sched.Job) { s.gang(j) }
	for _, c := range []struct {
		name  string
		rule  share.Reclaim
		limit func(*share.Pool)
		width int64
		gang  func(*story, *sched.Job)
		want  [2]float64 // number of tasks that x and y run in the end
		room  int64      // number of slots that stay free elsewhere
	}{
		{"minimum", min, four, 1, nil, [2]float64{3, 1}, 0},
		{"part", part, four, 1, nil, [2]float64{2, 2}, 0},
		{"minimum, tasks at once", min, tasks, 1, nil, [2]float64{3, 1}, 0},
		{"minimum, and free room", min, four, 1, nil, [2]float64{3, 1}, 4},
		{"minimum, tasks at once, and free room", min, tasks, 1, nil, [2]float64{3, 1}, 4},
		{"minimum, wide", min, four, 2, nil, [2]float64{2, 2}, 0},
		{"minimum, gang", min, four, 1, gang, [2]float64{3, 1}, 0},
	} {
		root := share.Pool{Policy: "fair", Reclaim: c.rule, Pools: []share.Pool{
			{Name: "a", Weight: 1, Pools: []share.Pool{
				{Name: "x", Weight: 1, Min: map[string]int64{"cpu": 3}}, {Name: "y", Weight: 1},
			}},
			{Name: "b", Weight: 1},
		}}
		if c.rule.MinAfter == 0 {
			root.Pools[0].Pools[0].Min = nil
		}
		c.limit(&root.Pools[0])
		s := newStory(t, reclaimConfig(root, sched.Newest), 12+c.room)
		s.add("a/y", 6, 1)
		s.decide()
		s.add("b", 8, 1)
		s.decide()
		s.now = s.now.Add(time.Second)
		tasks := 6
		if c.gang != nil {
			tasks = 3
		}
		s.add("a/x", tasks, c.width, func(j *sched.Job) {
			if c.gang != nil {
				c.gang(s, j)
			}
		})
		for range 10 {
			s.now = s.now.Add(time.Minute)
			s.decide()
			s.carryOut()
			s.decide()
		}
		got := [2]float64{s.View(s.Pool("a/x")).Running, s.View(s.Pool("a/y")).Running}
		if got != c.want || s.View(s.Pool("b")).Running != 8 || len(s.Read().Starving()) > 0 {
			t.Errorf("%s: x and y run %v, want %v; starving %+v\n%s", c.name, got, c.want, s.Read().Starving(), s.text.String())
		}
	}
}

// gang makes a gang of the tasks of a job.
func (s *story) gang(j *sched.Job) {
	j.Key = s.KeyOf(sched.Request{Amounts: s.Cluster().Amounts(s.Cluster().Request(j.Key)), Gang: j.Tasks})
}

// TestReclaimGang: all running tasks of a gang are stopped, or none.
func TestReclaimGang(t *testing.T) {
	for _, c := range []struct {
		least int64
		want  int
	}{{2, 0}, {3, 3}} { // with 3 of 6 the gang of 3 can be spared, with 4 of 6 it cannot
		root := share.Pool{
			Policy: "fair", Reclaim: share.Reclaim{MinAfter: time.Minute},
			Pools: []share.Pool{{Name: "a", Weight: 1, Min: map[string]int64{"cpu": 6 - c.least}}, {Name: "b", Weight: 1, Min: map[string]int64{"cpu": c.least}}},
		}
		s := newStory(t, reclaimConfig(root, sched.Newest), 3, 3)
		for range 2 {
			s.add("a", 3, 1, s.gang)
			s.decide()
		}
		s.now = s.now.Add(time.Second)
		s.add("b", int(c.least), 1)
		s.until(90 * time.Second)
		if len(s.stops) != c.want {
			t.Errorf("minimum %d: %d stops, want %d\n%s", c.least, len(s.stops), c.want, s.text.String())
		}
	}
}

// TestReclaimForGang: room is made for all tasks of a gang, on several nodes, or nothing is
// stopped.
func TestReclaimForGang(t *testing.T) {
	for _, c := range []struct {
		name   string
		tasks  int
		spread bool
		least  int64 // minimum of the pool with the gang
		stops  int
	}{
		{"on three nodes", 3, true, 6, 6},
		{"wherever there is room", 3, false, 6, 6},
		{"larger than the minimum", 4, false, 6, 0},
		{"more nodes than there are", 4, true, 8, 0},
	} {
		root := share.Pool{
			Policy: "fair", Reclaim: share.Reclaim{MinAfter: time.Minute},
			Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 2, Min: map[string]int64{"cpu": c.least}}},
		}
		s := newStory(t, reclaimConfig(root, sched.Newest), 4, 4, 4)
		s.add("a", 12, 1)
		s.decide()
		s.now = s.now.Add(time.Second)
		gang := s.add("b", c.tasks, 2, func(j *sched.Job) {
			j.Key = s.KeyOf(sched.Request{Amounts: cluster.Amounts{"cpu": 2}, Gang: c.tasks, Spread: c.spread})
		})
		s.until(90 * time.Second)
		stopped := len(s.stops)
		s.carryOut()
		s.decide()
		nodes, started := map[cluster.NodeID]bool{}, 0
		for _, st := range s.d.Starts {
			if st.Job == gang.ID {
				started++
				nodes[st.Node] = true
			}
		}
		if stopped != c.stops || (started > 0) != (stopped > 0) || c.spread && len(nodes) != started {
			t.Errorf("%s: %d stops, want %d; %d tasks started on %d nodes\n%s", c.name, stopped, c.stops, started, len(nodes), s.text.String())
		}
	}
}

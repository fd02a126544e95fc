package sched_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// model keeps a plain account of a scheduler's jobs.
type model struct {
	*world
	cfg     sched.Config
	jobs    map[int64]*modelJob
	running []modelRun
	nodes   map[string]int64
	down    map[string]bool
	boosts  int64
	paused  map[string]time.Time // end of the pause, by pool
	plain   bool                 // every place can be recomputed, except for rounding
}

type modelJob struct {
	header  sched.Job
	path    string
	request sched.Request
	waiting int
	later   int
	running int
}

type modelRun struct {
	id   sched.RunID
	job  int64
	node string
}

var paths = []string{"a", "a/x", "a/y", "b", "b/x/1", "b/x/2", "c", "d/u"}

func TestRandomEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"submit":    m.submit,
			"withdraw":  m.withdraw,
			"step":      m.step,
			"one":       m.stepOnce,
			"finish":    m.finish,
			"abort":     m.abort,
			"queue":     m.queue,
			"begin":     m.begin,
			"wait":      func(t *rapid.T) { m.tick(time.Duration(rapid.IntRange(1, 5000).Draw(t, "ms")) * time.Millisecond) },
			"days":      func(t *rapid.T) { m.tick(time.Duration(rapid.IntRange(1, 50).Draw(t, "hours")) * time.Hour) },
			"boost":     m.boost,
			"pause":     m.pause,
			"resume":    m.resume,
			"configure": m.configure,
			"foresee":   m.forecast,
			"node":      m.node,
			"adopt":     m.adopt,
			"take":      m.takeElsewhere,
			"together":  m.together,
			"restore":   m.restore,
			"late":      m.finishLate,
			"leave":     m.leave,
			"spare":     m.spare,
			"":          m.check,
		})
	})
}

func newModel(t *rapid.T) *model {
	m := &model{jobs: map[int64]*modelJob{}, nodes: map[string]int64{"n1": 4, "n2": 3}, down: map[string]bool{}, paused: map[string]time.Time{}}
	m.cfg = sched.Config{Root: drawTree(t), NewPolicy: policy.New(policy.Options{}), HalfLife: 20 * time.Second, Charge: drawCharge(t)}
	drawQuotas(t, &m.cfg)
	m.cfg.Backfill = rapid.SampledFrom([]sched.Backfill{sched.FirstFit, sched.FCFS, sched.EASY, sched.Conservative}).Draw(t, "backfill")
	s, err := sched.New(m.cfg, epoch, rapid.Uint64().Draw(t, "seed"))
	if err != nil {
		t.Fatal(err)
	}
	m.world = &world{Scheduler: s, now: epoch}
	for _, n := range []string{"n1", "n2"} {
		s.Join(n, roomOf(m.nodes[n]), epoch)
	}
	return m
}

func (m *model) submit(t *rapid.T) {
	path := rapid.SampledFrom(paths).Draw(t, "pool")
	m.last++
	request := drawRequest(t)
	j := sched.Job{
		ID: m.last, Pool: m.Pool(path), Tasks: rapid.IntRange(1, 4).Draw(t, "tasks"),
		Priority:   rapid.IntRange(1, 3).Draw(t, "priority"),
		MaxRunning: rapid.IntRange(0, 2).Draw(t, "most"), Submitted: m.now,
		Limit: time.Duration(rapid.IntRange(0, 4).Draw(t, "limit")) * 3 * time.Second,
	}
	if rapid.IntRange(0, 3).Draw(t, "gang") == 0 {
		request.Gang, request.Spread = j.Tasks, rapid.Bool().Draw(t, "spread")
		j.MaxRunning = 0
	}
	j.Key = m.KeyOf(request)
	mj := &modelJob{header: j, path: path, request: request}
	m.jobs[j.ID] = mj
	if rapid.IntRange(0, 5).Draw(t, "later") == 0 {
		j.Begin = m.now.Add(time.Duration(rapid.IntRange(1, 9000).Draw(t, "begin")) * time.Millisecond)
		mj.header.Begin = j.Begin
		mj.later = j.Tasks
	} else {
		mj.waiting = j.Tasks
	}
	m.Add(j, m.now)
}

// due moves the jobs whose begin time has come.
func (m *model) due() {
	for _, j := range m.jobs {
		if j.later > 0 && !j.header.Begin.After(m.now) {
			j.waiting, j.later = j.waiting+j.later, 0
		}
	}
}

func (m *model) anyJob(t *rapid.T) *modelJob {
	if m.last == 0 {
		t.Skip("no job")
	}
	return m.jobs[rapid.Int64Range(1, m.last).Draw(t, "job")]
}

func (m *model) withdraw(t *rapid.T) {
	j := m.anyJob(t)
	m.due()
	if got := m.Withdraw(j.header, m.now); got != j.waiting+j.later {
		t.Fatalf("withdrew %d tasks of job %d, want %d", got, j.header.ID, j.waiting+j.later)
	}
	j.waiting, j.later = 0, 0
}

func (m *model) step(t *rapid.T) {
	m.due()
	m.Step(m.now, rapid.IntRange(0, 3).Draw(t, "limit"), &m.d)
	m.took(t)
}

// took records the starts of a step.
func (m *model) took(t *rapid.T) {
	m.checkGangs(t)
	for _, st := range m.d.Starts {
		m.checkWhy(t, st)
		j := m.jobs[st.Job]
		if j.waiting == 0 {
			t.Fatalf("started job %d, none of whose tasks waits", st.Job)
		}
		if m.isPaused(j.path) {
			t.Fatalf("job %d started in %s, which is paused: %v", st.Job, j.path, m.paused)
		}
		j.waiting--
		m.checkStart(t, j)
		for name, n := range j.request.Licenses {
			if m.held(name)+n > m.cfg.Licenses[name] {
				t.Fatalf("job %d started with %d of the license %s, of which %d of %d are held", st.Job, n, name, m.held(name), m.cfg.Licenses[name])
			}
		}
		if most := int64(m.cfg.UserRunning); most > 0 && j.request.User != "" && m.runningOf(j.request.User) >= most {
			t.Fatalf("job %d started, and %s runs %d tasks", st.Job, j.request.User, m.runningOf(j.request.User))
		}
		j.running++
		m.running = append(m.running, modelRun{st.Run, st.Job, m.Cluster().Nodes()[st.Node].Name})
	}
	if !m.d.More && m.cfg.Backfill == sched.FirstFit {
		m.checkNothingIdles(t)
		if idle := m.Read().IdleWhileDemand(); idle > 0 {
			t.Fatalf("%v units idle after a step", idle)
		}
	}
}

// gang returns how many tasks of a job start at once, 1 if each starts for itself.
func (j *modelJob) gang() int { return max(1, j.request.Gang) }

// checkGangs fails if a gang did not start as a whole, with its tasks one after another and none of them running
// before, or if it started on fewer nodes than it asked for.
func (m *model) checkGangs(t *rapid.T) {
	for i := 0; i < len(m.d.Starts); {
		j := m.jobs[m.d.Starts[i].Job]
		n := j.gang()
		if n > 1 && (j.running > 0 || j.waiting != n || i+n > len(m.d.Starts)) {
			t.Fatalf("of gang %d, %d tasks wait and %d run, and it starts", j.header.ID, j.waiting, j.running)
		}
		nodes := map[cluster.NodeID]bool{}
		for _, st := range m.d.Starts[i:][:n] {
			if nodes[st.Node] = true; st.Job != j.header.ID {
				t.Fatalf("a part of gang %d started", j.header.ID)
			}
		}
		if j.request.Spread && len(nodes) < n {
			t.Fatalf("gang %d is on %d nodes instead of %d", j.header.ID, len(nodes), n)
		}
		i += n
	}
}

// checkWhy re-derives each choice from the numbers that were recorded for it.
func (m *model) checkWhy(t *rapid.T, st sched.Start) {
	for _, l := range m.d.Why(st) {
		if l.Terms.Formula != nil && !recomputed(l.Terms) {
			t.Fatalf("key %v does not follow from %v by %s", l.Terms.Key, l.Terms.Values, l.Terms.Formula.Text)
		}
		if l.Rival == sched.Root || l.Terms.Formula.Policy == "lottery" {
			continue
		}
		a, b := l.Terms, l.RivalTerms
		if a.Formula.Policy == "deficit" && math.Abs(a.Key-b.Key) < 1e-9 {
			continue // equal lags except for rounding
		}
		// Under fairtree, children that tie go in the order of their own children.
		isNew := a.Key == b.Key && a.Tie == b.Tie && a.Fixed == b.Fixed && l.Child > l.Rival && a.Formula.Policy != "fairtree"
		if !recomputed(b) || a.Key > b.Key || a.Key == b.Key && a.Tie > b.Tie || isNew {
			t.Fatalf("chose key %v (tie %v) before %v (tie %v)", a.Key, a.Tie, b.Key, b.Tie)
		}
	}
}

// checkNothingIdles fails if a waiting task would fit on a node and within all caps.
func (m *model) checkNothingIdles(t *rapid.T) {
	for _, j := range m.jobs {
		if j.waiting < j.gang() || j.header.MaxRunning > 0 && j.running >= j.header.MaxRunning {
			continue
		}
		if m.Cluster().Room(j.header.Key) && m.admitted(j) {
			t.Fatalf("a task of job %d in %s waits although it fits", j.header.ID, j.path)
		}
	}
}

func (m *model) admitted(j *modelJob) bool {
	if !m.paid(j) || m.unserved(j.path) || m.isPaused(j.path) {
		return false
	}
	for _, p := range m.configured(j.path) {
		tasks, units, ofJob := m.inUse(p.path, j.header.ID)
		n := j.gang()
		width := int64(m.Cluster().Width(j.header.Key)) * int64(n)
		if p.MaxRunning > 0 && tasks+n > p.MaxRunning || p.JobRunning > 0 && ofJob+n > p.JobRunning {
			return false
		}
		if most, ok := p.Max["cpu"]; ok && units+width > most {
			return false
		}
		if most, ok := p.Max["mem"]; ok && j.request.Amounts["mem"] > 0 && m.mem(p.path)+j.request.Amounts["mem"]*int64(n) > most {
			return false
		}
	}
	return true
}

// paid reports whether the licenses that a task asks for are free, and whether its rates allow one more start.
func (m *model) paid(j *modelJob) bool {
	for name, n := range j.request.Licenses {
		if m.held(name)+n*int64(j.gang()) > m.cfg.Licenses[name] {
			return false
		}
	}
	user, most := j.request.User, int64(m.cfg.UserRunning)
	if user != "" && most > 0 && m.runningOf(user)+int64(j.gang()) > most {
		return false
	}
	_, rates := m.Read().Quotas()
	for _, r := range rates {
		if slices.Contains(j.request.Rates, r.Name) && r.Limit.Count > 0 && r.Left < min(int64(j.gang()), r.Burst) {
			return false
		}
	}
	return true
}

// runningOf is the number of running tasks of a user whose requests name the user.
func (m *model) runningOf(user string) (n int64) {
	for _, r := range m.running {
		if m.jobs[r.job].request.User == user {
			n++
		}
	}
	return n
}

// held is how many of a license the running tasks hold.
func (m *model) held(license string) (n int64) {
	for _, r := range m.running {
		n += m.jobs[r.job].request.Licenses[license]
	}
	return n
}

// mem returns how much memory the running tasks in and below a pool use.
func (m *model) mem(path string) (n int64) {
	for _, r := range m.running {
		if j := m.jobs[r.job]; inPool(j.path, path) {
			n += j.request.Amounts["mem"]
		}
	}
	return n
}

// inPool reports whether a path is that of a pool, or of one below it.
func inPool(path, pool string) bool {
	return path == pool || pool == "" || len(path) > len(pool) && path[:len(pool)+1] == pool+"/"
}

type at struct {
	*share.Pool
	path string
}

// configured returns the configured pools on the way to a path.
func (m *model) configured(path string) []at {
	var pools []at
	for where, p := range m.cfg.Root.All() {
		if inPool(path, where) {
			pools = append(pools, at{p, where})
		}
	}
	return pools
}

func (m *model) inUse(path string, job int64) (tasks int, units int64, ofJob int) {
	for _, r := range m.running {
		j := m.jobs[r.job]
		if r.job == job {
			ofJob++
		}
		if inPool(j.path, path) {
			tasks++
			units += int64(m.Cluster().Width(j.header.Key))
		}
	}
	return tasks, units, ofJob
}

func (m *model) takeRun(t *rapid.T) modelRun {
	if len(m.running) == 0 {
		t.Skip("nothing runs")
	}
	i := rapid.IntRange(0, len(m.running)-1).Draw(t, "run")
	r := m.running[i]
	m.running = slices.Delete(m.running, i, i+1)
	m.jobs[r.job].running--
	return r
}

func (m *model) finish(t *rapid.T) {
	r := m.takeRun(t)
	m.Finish(r.id, m.now, rapid.Bool().Draw(t, "learn"))
	if rapid.IntRange(0, 3).Draw(t, "again") == 0 {
		j := m.jobs[r.job]
		again := j.header
		again.Tasks, again.Begin = 1, time.Time{}
		again.Pool = m.Pool(j.path)
		j.header.Pool = again.Pool
		m.Add(again, m.now)
		j.waiting++
	}
	m.due()
}

func (m *model) abort(t *rapid.T) {
	r := m.takeRun(t)
	back := rapid.Bool().Draw(t, "back")
	m.Abort(r.id, m.now, back)
	if back {
		m.jobs[r.job].waiting++
	}
	m.due()
}

func (m *model) configure(t *rapid.T) {
	cfg := m.cfg
	cfg.Root = drawTree(t)
	drawQuotas(t, &cfg)
	cfg.HalfLife = time.Duration(rapid.IntRange(0, 2).Draw(t, "half-life")) * 30 * time.Second
	if err := m.Configure(cfg, m.now); err != nil {
		t.Fatal(err)
	}
	m.cfg = cfg
	m.due()
}

func (m *model) node(t *rapid.T) {
	name := rapid.SampledFrom([]string{"n1", "n2", "n3"}).Draw(t, "node")
	id, known := m.Cluster().Lookup(name)
	if known && rapid.Bool().Draw(t, "drain") {
		m.SetNode(id, cluster.Drain, m.now)
		return
	}
	m.nodes[name] = int64(rapid.IntRange(1, 6).Draw(t, "cpus"))
	m.Join(name, roomOf(m.nodes[name]), m.now)
}

// check compares the scheduler with the model, and its order with an order that is computed from scratch.
func (m *model) check(t *rapid.T) {
	m.due()
	m.Withdraw(sched.Job{ID: 1 << 40, Pool: m.Pool("c")}, m.now) // brings the scheduler's time up to date
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	waiting, running := 0, 0
	for _, j := range m.jobs {
		waiting += j.waiting
		running += j.running
	}
	root := m.View(sched.Root)
	if int(root.Waiting) != waiting || int(root.Tasks) != running {
		t.Fatalf("%d wait and %d run, want %d and %d", root.Waiting, root.Tasks, waiting, running)
	}
	m.checkCaps(t)
	m.checkShares(t)
	m.checkVerified(t, map[string]int{})
	m.checkEntitled(t)
	m.checkLicenses(t)
	kept, anew := m.Fork(), m.Fork()
	anew.Rebuild()
	if a, b := order(kept), order(anew); !slices.Equal(a, b) {
		t.Fatalf("order kept up by events %v, from scratch %v", a, b)
	}
}

// checkCaps: no task started over a cap. A configuration that sets a cap below the running tasks stops none of them, so
// these do not count.
func (m *model) checkCaps(t *rapid.T) {
	for path := range m.cfg.Root.All() {
		if l, ok := m.Read().Limits(m.lookup(t, path)); ok {
			if _, units, _ := m.inUse(path, 0); l.Used["cpu"] != units || l.Used["mem"] != m.mem(path) {
				t.Fatalf("%s uses %d cpu and %d mem, counted %v", path, units, m.mem(path), l.Used)
			}
		}
	}
}

// checkStart fails if a task that has just started, and is not counted yet, exceeds a cap of a pool above it.
func (m *model) checkStart(t *rapid.T, j *modelJob) {
	for _, p := range m.configured(j.path) {
		tasks, units, ofJob := m.inUse(p.path, j.header.ID)
		width, mem := int64(m.Cluster().Width(j.header.Key)), j.request.Amounts["mem"]
		most, capped := p.Max["cpu"]
		mostMem, cappedMem := p.Max["mem"]
		if p.MaxRunning > 0 && tasks >= p.MaxRunning || p.JobRunning > 0 && ofJob >= p.JobRunning ||
			capped && units+width > most || cappedMem && mem > 0 && m.mem(p.path)+mem > mostMem {
			t.Fatalf("job %d started although %s has %d tasks, %d of the job, %d cpu and %d mem, with the limits %v", j.header.ID, p.path, tasks, ofJob, units, m.mem(p.path), []any{p.MaxRunning, p.JobRunning, p.Max})
		}
	}
	if most := j.header.MaxRunning; most > 0 && j.running >= most {
		t.Fatalf("job %d started with %d of %d tasks at once", j.header.ID, j.running, most)
	}
}

// checkLicenses compares the counted amounts with the licenses that running tasks hold.
func (m *model) checkLicenses(t *rapid.T) {
	licenses, _ := m.Read().Quotas()
	for _, l := range licenses {
		if l.Used != m.held(l.Name) {
			t.Fatalf("%d of the license %s are held, counted %d", m.held(l.Name), l.Name, l.Used)
		}
	}
}

func (m *model) lookup(t *rapid.T, path string) sched.PoolID {
	id, ok := m.Lookup(path)
	if !ok {
		t.Fatalf("pool %s is not there", path)
	}
	return id
}

// order is the order of the next starts, as far as chance does not decide.
func order(s *sched.Scheduler) []string {
	var next []string
	s.Preview(func(st sched.Start, _ float64) bool {
		next = append(next, fmt.Sprint(st.Job))
		return len(next) < 20
	})
	return next
}

package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// picky is a node that begins some tasks, which then succeed, and refuses others.
type picky struct {
	t       *testing.T
	name    string
	member  *engine.Member
	refuses func(*fairlead.Lease) queue.Refusal
	mu      sync.Mutex
	given   []queue.Ref
	begun   []queue.Ref
	all     *sync.WaitGroup // tasks
	lasts   time.Duration   // of each task that begins; default: a second
}

func (p *picky) Start(leases []*fairlead.Lease) {
	for _, l := range leases {
		p.all.Go(func() { p.run(l) })
	}
}
func (p *picky) Stop([]queue.Ref, string) {}

func (p *picky) run(l *fairlead.Lease) {
	o := fairlead.Outcome{State: fairlead.Succeeded}
	p.mu.Lock()
	p.given = append(p.given, l.Ref)
	why := p.refuses(l)
	if why == "" {
		p.begun = append(p.begun, l.Ref)
	} else {
		o = fairlead.Outcome{State: fairlead.Failed, ExitCode: -1, Cause: p.name + " cannot begin jobs of " + l.Job.User, Refused: why}
		if missing, is := strings.CutPrefix(l.Job.Name, "missing "); is {
			o.Cause, o.ExitCode, o.NotFound = "command not found: "+missing, 127, true
		}
		if missing, is := strings.CutPrefix(l.Job.Name, "lost "); is {
			o.Cause = "no such directory: " + missing
		}
	}
	p.mu.Unlock()
	if why == "" {
		time.Sleep(cmp.Or(p.lasts, time.Second))
	} else {
		time.Sleep(time.Second)
	}
	if _, err := p.member.Finish(p.t.Context(), []queue.Result{{Ref: l.Ref, Outcome: o}}); err != nil && p.t.Context().Err() == nil {
		p.t.Error(err)
	}
}

// counts are how many tasks the node was given and how many of them it began.
func (p *picky) counts() (given, begun int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.given), len(p.begun)
}

// refusers is a loop in virtual time with nodes that refuse tasks.
type refusers struct {
	*engine.Loop
	t         *testing.T
	ctx       context.Context
	explainer *explain.Explainer
	nodes     sync.WaitGroup // goroutines that renew leases
}

func inSite(t *testing.T, f func(s *refusers)) {
	t.Helper()
	inSiteOn(t, memory.New("cpu"), f)
}

func inSiteOn(t *testing.T, store fairlead.Store, f func(s *refusers)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		loop, err := engine.NewLoop(ctx, store, engine.LoopOptions{LeaseTTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		s := &refusers{Loop: loop, t: t, ctx: ctx, explainer: explain.New(loop)}
		s.explainer.Remember()
		var ended sync.WaitGroup
		ended.Go(func() { loop.Run(ctx) })
		defer ended.Wait()
		defer stop()
		defer s.nodes.Wait()
		defer stop()
		f(s)
	})
}

// join adds a node with this number of slots, which renews its leases again and again.
func (s *refusers) join(name string, slots int64, refuses func(*fairlead.Lease) queue.Refusal) *picky {
	s.t.Helper()
	return s.joinAs(name, slots, engine.NodeInfo{}, refuses)
}

func (s *refusers) joinAs(name string, slots int64, info engine.NodeInfo, refuses func(*fairlead.Lease) queue.Refusal) *picky {
	s.t.Helper()
	p := &picky{t: s.t, name: name, refuses: refuses, all: &s.nodes}
	capacity, err := engine.AgentCapacity(map[string]int64{"cpu": slots})
	if err != nil {
		s.t.Fatal(err)
	}
	p.mu.Lock() // what it is given at once waits until it knows who it is
	m, err := s.Join(s.ctx, name, capacity, info, p, nil)
	p.member = m
	p.mu.Unlock()
	if err != nil {
		s.t.Fatal(err)
	}
	s.nodes.Go(func() {
		every := time.NewTicker(20 * time.Second)
		defer every.Stop()
		for {
			select {
			case <-s.ctx.Done():
				return
			case <-every.C:
			}
			p.mu.Lock()
			running := slices.Clone(p.begun)
			p.mu.Unlock()
			m.Renew(s.ctx, running)
		}
	})
	return p
}

func (s *refusers) submit(user string, f ...func(*fairlead.Job)) int64 {
	s.t.Helper()
	j := fairlead.Job{User: user, Argv: []string{"true"}}
	for _, f := range f {
		f(&j)
	}
	id, err := s.Client().Submit(s.ctx, j)
	if err != nil {
		s.t.Fatal(err)
	}
	return id[0]
}

func (s *refusers) ends(id int64, want fairlead.State) *fairlead.Job {
	s.t.Helper()
	j, err := s.Client().Job(s.ctx, id)
	if err != nil {
		s.t.Fatal(err)
	}
	if j.State != want {
		s.t.Errorf("job %d is %s (%s), want %s", id, j.State, j.Cause, want)
	}
	return j
}

func always(r queue.Refusal) func(*fairlead.Lease) queue.Refusal {
	return func(*fairlead.Lease) queue.Refusal { return r }
}

// TestRefusedTasksGoElsewhere: a node that does not have a user is asked once for each job, and
// the jobs run on the other, arrays and gangs among them.
func TestRefusedTasksGoElsewhere(t *testing.T) {
	for _, r := range queue.Refusals() {
		inSite(t, func(s *refusers) {
			bad, good := s.join("n1", 2, always(r)), s.join("n2", 4, always(""))
			ids := []int64{s.submit("ann"), s.submit("ann", func(j *fairlead.Job) { j.Array = "0-9" }), s.submit("ann", func(j *fairlead.Job) { j.Gang = 2 })}
			time.Sleep(time.Hour)
			for _, id := range ids {
				s.ends(id, fairlead.Succeeded)
			}
			if _, begun := good.counts(); begun < 13 {
				t.Errorf("%s: the good node began %d tasks", r, begun)
			}
			given := map[queue.Ref]bool{}
			for _, ref := range bad.given {
				key := queue.Ref{JobID: ref.JobID, Task: ref.Task}
				if given[key] {
					t.Errorf("%s: the bad node was given task %d of job %d twice", r, ref.Task, ref.JobID)
				}
				given[key] = true
			}
			if run, wait := s.Running(); run != 0 || wait != 0 {
				t.Errorf("%s: the loop believes that %d run and %d wait; nodes %+v", r, run, wait, views.Nodes(s.Loop))
			}
			events, err := s.explainer.History(s.ctx, ids[0])
			if err != nil || !slices.ContainsFunc(events, func(e queue.Event) bool {
				return e.Code == "refused" && strings.Contains(e.Text, "n1 cannot begin jobs of ann")
			}) {
				t.Errorf("%s: history %v, %v", r, events, err)
			}
		})
	}
}

// TestRefusedEverywhere: a job that none of the nodes begins ends, and says why; so does one
// whose only node will never begin it.
func TestRefusedEverywhere(t *testing.T) {
	inSite(t, func(s *refusers) {
		s.join("n1", 1, always(queue.RefusedUser))
		id := s.submit("ann")
		time.Sleep(time.Minute)
		if j := s.ends(id, fairlead.Failed); j.Cause != "n1 cannot begin jobs of ann" {
			t.Errorf("cause %q", j.Cause)
		}
		for n := 2; n <= 3; n++ {
			s.join(fmt.Sprint("n", n), 1, always(queue.RefusedJob))
		}
		many := s.submit("ann", func(j *fairlead.Job) { j.Array = "0-5" })
		time.Sleep(time.Minute)
		if j := s.ends(many, fairlead.Failed); !strings.Contains(j.Cause, "none of its 3 nodes could begin it; "+
			"the last failure, on n") {
			t.Errorf("cause %q", j.Cause)
		}
	})
}

// TestRefusedByTheOnlyMachine: if there is no other machine, one that can begin nothing is tried again, several times.
func TestRefusedByTheOnlyMachine(t *testing.T) {
	inSite(t, func(s *refusers) {
		var full atomic.Bool
		full.Store(true)
		s.join("n1", 1, func(*fairlead.Lease) queue.Refusal {
			if full.Load() {
				return queue.RefusedMachine
			}
			return ""
		})
		first := s.submit("ann")
		time.Sleep(10 * time.Second)
		full.Store(false)
		time.Sleep(time.Hour)
		s.ends(first, fairlead.Succeeded)
		full.Store(true)
		second := s.submit("ann")
		time.Sleep(time.Hour)
		if j := s.ends(second, fairlead.Failed); !strings.Contains(j.Cause, "no node could begin it in 5 attempts; the last failure, on n1: n1 cannot") {
			t.Errorf("cause %q", j.Cause)
		}
	})
}

// TestResumedNodesGetTheirJobs: a job that waits because its node could not begin it goes there again when an
// administrator resumes the node, and not before.
func TestResumedNodesGetTheirJobs(t *testing.T) {
	inSite(t, func(s *refusers) {
		var known atomic.Bool
		s.join("n1", 1, func(*fairlead.Lease) queue.Refusal {
			if known.Load() {
				return ""
			}
			return queue.RefusedUser
		})
		s.join("n2", 1, always(""))
		if err := s.Overrides.SetDrained(s.ctx, "n2", &engine.Drain{Reason: "fan"}, "", ""); err != nil {
			t.Fatal(err)
		}
		id := s.submit("ann")
		time.Sleep(time.Minute)
		known.Store(true)
		time.Sleep(time.Hour)
		s.ends(id, fairlead.Waiting)
		w, err := forecast.New(s.Loop).Why(s.ctx, id, explain.WhyOptions{})
		if err != nil || w.Reason.Code != "start.refused" ||
			w.Reason.Text != "n1 could not begin it (n1 cannot begin jobs of ann); it waits for another node" {
			t.Errorf("why %+v, %v", w, err)
		}
		j, _ := s.Client().Job(s.ctx, id)
		short := s.explainer.ShortReasons(s.ctx, []*queue.Job{j})[id]
		if short.Text != "another node: n1 could not begin it (n1 cannot begin jobs of ann)" {
			t.Errorf("in tables %+v", short)
		}
		if err := s.Overrides.SetDrained(s.ctx, "n1", nil, "", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		s.ends(id, fairlead.Succeeded)
	})
}

// drained waits for a while and says why a node is drained; "" if it is not.
func (s *refusers) drained(node string) string {
	s.t.Helper()
	time.Sleep(10 * time.Second)
	for _, n := range views.Nodes(s.Loop) {
		if n.Name == node && n.Drained {
			return n.Why
		}
	}
	return ""
}

// told reports whether a watcher got an event whose text begins with this one.
func told(w *engine.Watch, code, text string) (found bool) {
	for len(w.C) > 0 {
		e := <-w.C
		found = found || e.Code == code && strings.HasPrefix(e.Text, text)
	}
	return found
}

// TestRulesAreNoFaults: a node whose options exclude users is not drained, however many of their jobs it refuses.
func TestRulesAreNoFaults(t *testing.T) {
	inSite(t, func(s *refusers) {
		s.join("n1", 1, func(l *fairlead.Lease) queue.Refusal {
			if l.Job.User == "eve" {
				return ""
			}
			return queue.RefusedRule
		})
		for _, user := range []string{"ann", "bob", "cem", "dan"} {
			id := s.submit(user)
			time.Sleep(10 * time.Second)
			s.ends(id, fairlead.Failed)
		}
		if why := s.drained("n1"); why != "" {
			t.Errorf("its rules drain the node: %s", why)
		}
		if n := views.Nodes(s.Loop)[0]; n.Fault != nil {
			t.Errorf("its rules count as a fault: %+v", n.Fault)
		}
		eve := s.submit("eve")
		time.Sleep(time.Minute)
		s.ends(eve, fairlead.Succeeded)
	})
}

// TestNodesThatBeginNothingAreDrained: a node that fails to begin the jobs of three users in a
// row is drained, and later jobs do not go there. Resumed, it takes tasks again.
func TestNodesThatBeginNothingAreDrained(t *testing.T) {
	inSite(t, func(s *refusers) {
		known := map[string]bool{"eve": true}
		bad := s.join("n1", 1, func(l *fairlead.Lease) queue.Refusal {
			if known[l.Job.User] {
				return ""
			}
			return queue.RefusedUser
		})
		s.join("n2", 2, always(""))
		watch := s.Watch()
		defer watch.Close()
		var ids []int64
		for range 20 {
			ids = append(ids, s.submit("ann"), s.submit("bob"))
		}
		if why := s.drained("n1"); why != "" {
			t.Errorf("two users drain the node: %s", why)
		}
		time.Sleep(time.Minute)
		alone := &engine.Drain{Reason: "only n1 is to begin it"}
		if err := s.Overrides.SetDrained(s.ctx, "n2", alone, "", ""); err != nil {
			t.Fatal(err)
		}
		eve := s.submit("eve")
		time.Sleep(time.Minute)
		s.ends(eve, fairlead.Succeeded)
		given, _ := bad.counts()
		for _, user := range []string{"ann", "bob", "cem", "dan"} {
			ids = append(ids, s.submit(user))
			time.Sleep(5 * time.Second)
		}
		why := s.drained("n1")
		if !strings.Contains(why, "could not begin the last 3 tasks, of 3 users; the last error: n1 cannot begin "+
			"jobs of cem") {
			t.Errorf("the node is drained: %q", why)
		}
		if now, _ := bad.counts(); now != given+3 {
			t.Errorf("the node was given %d tasks before it was drained", now-given)
		}
		if st := s.Stats(); st.Drained != 1 || st.Refused < 3 {
			t.Errorf("counted %d nodes, %d tasks", st.Drained, st.Refused)
		}
		if !told(watch, "node-drained", "n1: ") {
			t.Error("who watches is not told")
		}
		if err := s.Overrides.SetDrained(s.ctx, "n2", nil, "", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		for _, id := range ids {
			s.ends(id, fairlead.Succeeded)
		}
		known = map[string]bool{"ann": true, "bob": true, "cem": true}
		if err := s.Overrides.SetDrained(s.ctx, "n1", nil, "", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		_, before := bad.counts()
		for range 3 {
			s.submit("ann")
		}
		time.Sleep(time.Minute)
		if _, begun := bad.counts(); begun == before {
			t.Error("the node that was resumed begins nothing")
		}
	})
}

// TestRefusalsCountThoughTheTaskRunsElsewhere: a task that a node refused counts against the node even if the task has
// begun on another node before the store has answered the refusal.
func TestRefusalsCountThoughTheTaskRunsElsewhere(t *testing.T) {
	inSiteOn(t, slowFinish{memory.New("cpu")}, func(s *refusers) {
		s.join("n1", 1, always(queue.RefusedMachine))
		s.join("n2", 8, always(""))
		id := s.submit("ann", func(j *fairlead.Job) { j.Array = "0-4" })
		time.Sleep(10 * time.Second)
		s.ends(id, fairlead.Succeeded)
		if n := views.Nodes(s.Loop)[0]; n.Fault == nil || n.Fault.Tasks != 1 || n.Fault.Users != 1 {
			t.Errorf("%s shows %+v", n.Name, n.Fault)
		}
	})
}

// TestMissingFilesDrainNoNode: a job whose file is missing on all nodes drains no node; a job that
// other nodes can begin does.
func TestMissingFilesDrainNoNode(t *testing.T) {
	inSite(t, func(s *refusers) {
		nowhere := func(l *fairlead.Lease) queue.Refusal {
			if l.Job.Name == "lost typo" {
				return queue.RefusedJob
			}
			return ""
		}
		s.join("n1", 1, always(queue.RefusedJob))
		s.join("n2", 1, nowhere)
		for _, user := range []string{"ann", "bob", "cem", "dan"} {
			s.submit(user, func(j *fairlead.Job) { j.Name = "lost typo" })
		}
		if why := s.drained("n1") + s.drained("n2"); why != "" {
			t.Errorf("drained for what jobs name: %s", why)
		}
		for _, user := range []string{"ann", "bob", "cem", "dan", "eve", "fay"} {
			s.submit(user)
		}
		if s.drained("n1") == "" {
			t.Error("a node that begins nothing of what others begin is not drained")
		}
		if why := s.drained("n2"); why != "" {
			t.Errorf("the good node is drained: %s", why)
		}
	})
}

// TestSilentBeginningsDrain: a node that still reports, but never says that it runs the tasks that it was given, is
// drained before a job fails because of it. A node that does not report is only down.
func TestSilentBeginningsDrain(t *testing.T) {
	for _, alive := range []bool{true, false} {
		inSite(t, func(s *refusers) {
			capacity, _ := engine.AgentCapacity(map[string]int64{"cpu": 1})
			m, err := s.Join(s.ctx, "n1", capacity, engine.NodeInfo{}, &deaf{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.nodes.Go(func() {
				for end := time.Now().Add(time.Hour); time.Now().Before(end); time.Sleep(20 * time.Second) {
					if alive {
						m.Renew(s.ctx, nil)
					}
				}
			})
			id := s.submit("ann")
			time.Sleep(30 * time.Minute)
			why := s.drained("n1")
			if alive && !strings.Contains(why, "could not begin the last 3 tasks") || !alive && why != "" {
				t.Errorf("alive %v: drained %q", alive, why)
			}
			if j := s.ends(id, fairlead.Waiting); j.Cause != "" {
				t.Errorf("alive %v: %s", alive, j.Cause)
			}
			time.Sleep(time.Hour)
		})
	}
}

// TestRefusingQueueingSystemDrainsItsBridge: a job that a queueing system refuses for good counts as not begun, even if
// no other node could show that the job is right.
func TestRefusingQueueingSystemDrainsItsBridge(t *testing.T) {
	inSite(t, func(s *refusers) {
		bridge := s.joinAs("slurm", 1, engine.NodeInfo{Queue: true}, always(queue.RefusedJob))
		for n := range 16 {
			s.submit([]string{"ann", "bob", "cem", "dan"}[n%4])
		}
		time.Sleep(time.Minute)
		if why := s.drained("slurm"); !strings.Contains(why, "of 3 users; the last error: slurm cannot begin jobs of") {
			t.Errorf("the bridge is drained: %q", why)
		}
		if given, _ := bridge.counts(); given > 10 {
			t.Errorf("the queueing system was given %d of 16 jobs, all of which it refused", given)
		}
		if n := views.Nodes(s.Loop)[0]; n.Fault == nil || n.Fault.Users != 3 {
			t.Errorf("the node shows %+v", n.Fault)
		}
	})
}

// refusesFirst is a store in which n1 fails to begin a job just before the loop asks for a lease of the job there.
type refusesFirst struct {
	*memory.Store
	done bool
}

func (s *refusesFirst) Lease(ctx context.Context, holder string, wants []queue.Want, ttl time.Duration) ([]queue.Grant, error) {
	if !s.done && len(wants) > 0 && (holder == "n1" || slices.Contains(wants[0].Nodes, "n1")) {
		s.done = true
		grants, err := s.Store.Lease(ctx, holder, wants[:1], ttl)
		if err != nil {
			return nil, err
		}
		for _, l := range append(grants[0].Gang, grants[0].Lease) {
			if l == nil {
				continue
			}
			o := fairlead.Outcome{State: fairlead.Failed, Cause: "no such user", Refused: queue.RefusedUser}
			if _, err := s.Finish(ctx, []queue.Result{{Ref: l.Ref, Outcome: o}}); err != nil {
				return nil, err
			}
		}
	}
	return s.Store.Lease(ctx, holder, wants, ttl)
}

// TestRefusedBetweenDecisionAndLease: a decision that was made before a node refused a job does not bring the job
// there; all its tasks run once, elsewhere, and the loop's sums are right.
func TestRefusedBetweenDecisionAndLease(t *testing.T) {
	for name, j := range map[string]fairlead.Job{"array": {Array: "0-3"}, "gang": {Gang: 2}} {
		t.Run(name, func(t *testing.T) {
			inSiteOn(t, &refusesFirst{Store: memory.New("cpu")}, func(s *refusers) {
				id := s.submit("ann", func(to *fairlead.Job) { to.Array, to.Gang = j.Array, j.Gang })
				bad := s.join("n1", 2, always(""))
				time.Sleep(time.Minute)
				for n := 2; n <= 3; n++ {
					s.join(fmt.Sprint("n", n), 1, always(""))
				}
				time.Sleep(time.Hour)
				s.ends(id, fairlead.Succeeded)
				if given, _ := bad.counts(); given > 0 {
					t.Errorf("n1 was given %d tasks", given)
				}
				if run, wait := s.Running(); run != 0 || wait != 0 {
					t.Errorf("the loop believes that %d run and %d wait", run, wait)
				}
				if found, err := s.Recount(s.ctx); err != nil || len(found.Wrong) > 0 {
					t.Errorf("sums: %+v, %v", found.Wrong, err)
				}
			})
		})
	}
}

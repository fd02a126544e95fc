package engine_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// ledger is a loop, driven by hand, with a bridge that goes away and comes back, and a node beside
// it. After any events in any order, the sums of the loop equal those of a recount, and those of a
// loop that begins anew with the same store.
type ledger struct {
	*engine.Loop
	ctx   context.Context
	store *memory.Store
	at    map[string]*holder
	jobs  []int64
}

// holder is a node and what it has.
type holder struct {
	*engine.Member
	info   engine.NodeInfo
	has    []queue.Ref
	leases handed
}

var bridgeInfo = engine.NodeInfo{Queue: true, Lease: 10 * time.Minute}

func newLedger(t *rapid.T, ctx context.Context) *ledger {
	l := &ledger{ctx: ctx, store: memory.New("cpu"), at: map[string]*holder{}}
	l.again(t)
	l.join(t, "bridge", bridgeInfo, 40, nil)
	l.join(t, "n1", engine.NodeInfo{}, 3, nil)
	return l
}

// again begins with a new loop over the same store, as after a restart of the server.
func (l *ledger) again(t *rapid.T) {
	o := engine.LoopOptions{Shares: fairlead.DefaultShares(), Seed: 1}
	o.Shares.Sched.Root.Policy = rapid.SampledFrom([]string{"fair", "decay", "deficit", "drf", "load"}).Draw(t, "policy")
	var err error
	if l.Loop, err = newLoop(l.ctx, l.store, o); err != nil {
		t.Fatal(err)
	}
	for _, h := range l.at {
		h.Member = nil
	}
}

func (l *ledger) join(t *rapid.T, name string, info engine.NodeInfo, cpus int64, has []queue.Ref) {
	capacity, err := engine.AgentCapacity(fairlead.Amounts{"cpu": cpus})
	if err != nil {
		t.Fatal(err)
	}
	h := &holder{info: info, has: has, leases: make(handed, 1000)}
	if h.Member, err = l.Join(l.ctx, name, capacity, info, h.leases, has); err != nil {
		t.Fatal(err)
	}
	l.at[name] = h
}

// took takes over what nodes were given.
func (l *ledger) took() {
	for _, h := range l.at {
		for len(h.leases) > 0 {
			h.has = append(h.has, (<-h.leases).Ref)
		}
	}
}

func (l *ledger) submit(t *rapid.T) {
	for range rapid.IntRange(1, 12).Draw(t, "jobs") {
		j := fairlead.Job{
			Argv: []string{"x"}, User: rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "user"),
			Pool:     rapid.SampledFrom([]string{"science", "art", "art/oil"}).Draw(t, "pool"),
			Priority: rapid.SampledFrom([]string{"normal", "normal", "normal", "high"}).Draw(t, "priority"),
			Request:  fairlead.Amounts{"cpu": rapid.Int64Range(1, 2).Draw(t, "cpu")},
			Retries:  rapid.IntRange(0, 2).Draw(t, "retries"),
			Array:    rapid.SampledFrom([]string{"", "", "", "0-3", "0-5%2"}).Draw(t, "array"),
		}
		ids, err := l.Client().Submit(l.ctx, j)
		if err != nil {
			t.Fatal(err)
		}
		l.jobs = append(l.jobs, ids...)
	}
}

func (l *ledger) turn(t *rapid.T) {
	if err := l.Turn(l.ctx); err != nil {
		t.Fatal(err)
	}
	synctest.Wait() // the released leases are on their way
	l.took()
}

// some is a part of the jobs that there ever were.
func (l *ledger) some(t *rapid.T) []int64 {
	if len(l.jobs) == 0 {
		t.Skip("no job")
	}
	from := rapid.IntRange(0, len(l.jobs)-1).Draw(t, "from")
	return l.jobs[from:min(len(l.jobs), from+rapid.IntRange(1, 40).Draw(t, "many"))]
}

func (l *ledger) alter(t *rapid.T, a queue.Alteration) {
	var all []queue.Alteration
	for _, id := range l.some(t) {
		a.Job = id
		all = append(all, a)
	}
	if _, err := l.Client().Alter(l.ctx, all...); err != nil { // changes of ended jobs are refused one by one
		t.Fatal(err)
	}
}

func (l *ledger) cancel(t *rapid.T) { l.alter(t, queue.Alteration{Verb: queue.VerbCancel}) }

func (l *ledger) change(t *rapid.T) {
	verb := rapid.SampledFrom([]queue.Verb{queue.VerbHold, queue.VerbRelease, queue.VerbRequeue, queue.VerbUncancel, queue.VerbMove, queue.VerbPrioritise}).Draw(t, "verb")
	a := queue.Alteration{Verb: verb}
	switch verb {
	case queue.VerbMove:
		a.Pool = rapid.SampledFrom([]string{"science", "art", "music"}).Draw(t, "to")
	case queue.VerbPrioritise:
		a.Priority = "low"
	}
	l.alter(t, a)
}

// node is one of the nodes that are there, and some of what it has.
func (l *ledger) node(t *rapid.T) (*holder, []queue.Ref) {
	h := l.at[rapid.SampledFrom([]string{"bridge", "bridge", "n1"}).Draw(t, "node")]
	if h.Member == nil || len(h.has) == 0 {
		t.Skip("it has nothing")
	}
	from := rapid.IntRange(0, len(h.has)-1).Draw(t, "from")
	return h, slices.Clone(h.has[from:min(len(h.has), from+rapid.IntRange(1, 40).Draw(t, "many"))])
}

func (h *holder) forget(refs []queue.Ref) {
	h.has = slices.DeleteFunc(h.has, func(r queue.Ref) bool { return slices.Contains(refs, r) })
}

func (l *ledger) begin(t *rapid.T) {
	h, refs := l.node(t)
	var all []queue.Progress
	for _, ref := range refs {
		all = append(all, queue.Progress{Ref: ref, Began: time.Now().Add(-time.Duration(rapid.IntRange(-5, 300).Draw(t, "ago")) * time.Second)})
	}
	if err := h.Progress(l.ctx, all); err != nil {
		t.Fatal(err)
	}
}

func (l *ledger) finish(t *rapid.T) {
	h, refs := l.node(t)
	var all []queue.Result
	for _, ref := range refs {
		state := rapid.SampledFrom([]fairlead.State{fairlead.Succeeded, fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled}).Draw(t, "state")
		r := queue.Result{Ref: ref, Outcome: fairlead.Outcome{State: state}}
		if h.info.Queue && rapid.Bool().Draw(t, "began") {
			r.Began = time.Now().Add(-time.Duration(rapid.IntRange(1, 3000).Draw(t, "for")) * time.Second)
		}
		all = append(all, r)
	}
	if _, err := h.Finish(l.ctx, all); err != nil {
		t.Fatal(err)
	}
	if rapid.IntRange(0, 4).Draw(t, "told twice") > 0 {
		h.forget(refs)
	}
}

func (l *ledger) release(t *rapid.T) {
	h, refs := l.node(t)
	if err := h.Release(l.ctx, refs); err != nil {
		t.Fatal(err)
	}
	h.forget(refs)
}

func (l *ledger) renew(t *rapid.T) {
	h, refs := l.node(t)
	if _, err := h.RenewFor(l.ctx, refs, h.info.Lease); err != nil {
		t.Fatal(err)
	}
}

// leave takes a node away. It may leave without a word.
func (l *ledger) leave(t *rapid.T) {
	h := l.at[rapid.SampledFrom([]string{"bridge", "n1"}).Draw(t, "node")]
	if h.Member == nil {
		t.Skip("it is away")
	}
	if rapid.Bool().Draw(t, "says so") {
		if err := h.Leave(l.ctx); err != nil {
			t.Fatal(err)
		}
	}
	h.Member = nil
}

// back lets a node join, with all, some or nothing of what it had.
func (l *ledger) back(t *rapid.T) {
	name := rapid.SampledFrom([]string{"bridge", "n1"}).Draw(t, "node")
	h := l.at[name]
	has := h.has
	switch rapid.IntRange(0, 3).Draw(t, "has") {
	case 0:
		has = nil
	case 1:
		has = append([]queue.Ref{}, has[:len(has)/2]...)
	}
	l.join(t, name, h.info, rapid.Int64Range(2, 40).Draw(t, "cpus"), has)
}

func (l *ledger) wait(t *rapid.T) {
	time.Sleep(time.Duration(rapid.IntRange(1, 400).Draw(t, "seconds")) * time.Second)
	if rapid.Bool().Draw(t, "expire") {
		l.Expire(l.ctx)
	}
}

func (l *ledger) configure(t *rapid.T) {
	s := fairlead.DefaultShares()
	s.Sched.Root.Policy = rapid.SampledFrom([]string{"fair", "decay", "deficit", "drf", "load"}).Draw(t, "policy")
	if err := l.Configure(l.ctx, s); err != nil {
		t.Fatal(err)
	}
}

func (l *ledger) rebuild(t *rapid.T) {
	if err := l.Rebuild(l.ctx); err != nil {
		t.Fatal(err)
	}
}

// check compares the sums with a recount, and with those of a loop that begins anew.
func (l *ledger) check(t *rapid.T) {
	a, err := l.Recount(l.ctx)
	if err != nil || len(a.Wrong) > 0 {
		t.Fatal(a.Wrong, err)
	}
	for path, amount := range l.Expects() {
		if amount < 0 {
			t.Fatalf("of %q %v is expected", path, amount)
		}
	}
	fresh, err := newLoop(l.ctx, l.store, engine.LoopOptions{Shares: fairlead.DefaultShares()})
	if err != nil {
		t.Fatal(err)
	}
	if here, anew := sums(l.ctx, l.Loop), sums(l.ctx, fresh); here != anew {
		t.Fatalf("the loop counts\n%sand one that begins anew\n%s", here, anew)
	}
}

// sums are the tasks in each top-level pool, as a loop reports them.
func sums(ctx context.Context, l *engine.Loop) string {
	var all []string
	for _, p := range views.Pools(ctx, l) {
		if p.Depth < 2 && (p.Tasks > 0 || p.Waiting > 0) {
			all = append(all, fmt.Sprintf("%q: %d tasks run in %v units, %d wait, %d of these elsewhere\n", p.Path, p.Tasks, p.Running, p.Waiting, p.Queued))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

func TestSumsOfBridge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) { // a bubble has no deadline
			l := newLedger(rt, t.Context())
			rt.Repeat(map[string]func(*rapid.T){
				"submit": l.submit, "turn": l.turn, "turn again": l.turn, "begin": l.begin, "finish": l.finish, "release": l.release,
				"renew": l.renew, "leave": l.leave, "back": l.back, "wait": l.wait, "cancel": l.cancel, "change": l.change,
				"configure": l.configure, "rebuild": l.rebuild, "restart": l.again, "": l.check,
			})
		})
	})
}

// TestSumsThatDiffer: the loop recounts by itself, and says once in the log that sums differ.
func TestSumsThatDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		loop, stop := start(t, engine.LoopOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))}, 2, func(ctx context.Context, _ *fairlead.Lease) error {
			<-ctx.Done()
			return ctx.Err()
		})
		enginetest.Submit(t, loop, fairlead.Job{User: "ann"}, fairlead.Job{User: "bob"})
		made := loop.LastRecount()
		time.Sleep(2 * time.Minute)
		if r := loop.LastRecount(); made.At.IsZero() || !r.At.After(made.At) || len(r.Wrong) > 0 {
			t.Errorf("at first %+v, and two minutes later %+v", made, r)
		}
		loop.Mislay()
		time.Sleep(10 * time.Minute)
		r := loop.LastRecount()
		stop()
		if len(r.Wrong) != 1 || r.Wrong[0].Kept != 2 || r.Wrong[0].Counted != 1 {
			t.Errorf("with a task that is not known any more: %+v", r)
		}
		if n := strings.Count(log.String(), "sums differ"); n != 1 || !strings.Contains(log.String(), "tasks that run: kept 2, counted 1") {
			t.Errorf("said %d times: %s", n, log.String())
		}
	})
}

// TestCancelledWhileBridgeIsAway: jobs that wait behind a bridge are canceled while it is away, and it reports their
// ends when it is back; meanwhile the mean length of the tasks of their pool has changed. Then the expected length is
// that of the task that still runs.
func TestCancelledWhileBridgeIsAway(t *testing.T) {
	behindQueue(t, func(b *behind) {
		t, ctx := b.t, b.t.Context()
		var jobs []fairlead.Job
		for range 10 {
			jobs = append(jobs, fairlead.Job{User: "ann", Pool: "science", Argv: []string{"x"}})
		}
		ids := enginetest.Submit(t, b.Loop, jobs...)
		var refs []queue.Ref
		for range ids {
			refs = append(refs, b.take())
		}
		began := time.Now()
		if err := b.node.Progress(ctx, []queue.Progress{{Ref: refs[0], Began: began}, {Ref: refs[1], Began: began}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Minute) // nothing is heard of it
		for _, id := range ids[2:] {
			if err := b.Client().Cancel(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		results := []queue.Result{{Ref: refs[0], Outcome: fairlead.Outcome{State: fairlead.Succeeded}, Began: began, Ended: began.Add(20 * time.Minute)}}
		for _, ref := range refs[2:] {
			results = append(results, queue.Result{Ref: ref, Outcome: fairlead.Outcome{State: fairlead.Cancelled}})
		}
		if _, err := b.node.Finish(ctx, results); err != nil {
			t.Fatal(err)
		}
		if got := b.Expects()["science"]; math.Abs(got-1200) > 1 {
			t.Errorf("%v is expected of the task that runs, want 1200", got)
		}
		if r, err := b.Recount(ctx); err != nil || len(r.Wrong) > 0 {
			t.Errorf("%v, %v", r.Wrong, err)
		}
	})
}

package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// TestReferenceStates makes random changes to jobs in the reference store, records which event led from which
// state to which, and compares that with the diagrams in the documentation.
func TestReferenceStates(t *testing.T) {
	t.Parallel()
	seen := map[string]transitions{"jobs": {}, "tasks": {}}
	for seed := range uint64(3000) {
		l := newLife(t, seed, seen)
		for range 25 {
			l.step()
		}
	}
	for what, all := range seen {
		region(t, "docs/reference/states.md", what, all.diagram())
	}
}

// transitions maps pairs of states to the events that led from the first to the second.
type transitions map[[2]string]map[string]bool

func (x transitions) add(from, to, event string) {
	if from == to {
		return
	}
	if x[[2]string{from, to}] == nil {
		x[[2]string{from, to}] = map[string]bool{}
	}
	x[[2]string{from, to}][event] = true
}

func (x transitions) diagram() string {
	order := func(s string) int {
		return slices.Index(append([]string{"[*]"}, stateNames()...), s)
	}
	edges := slices.SortedFunc(maps.Keys(x), func(a, b [2]string) int {
		return (order(a[0])-order(b[0]))*100 + order(a[1]) - order(b[1])
	})
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	for _, e := range edges {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", e[0], e[1], strings.Join(slices.Sorted(maps.Keys(x[e])), ", "))
	}
	return b.String() + "```"
}

func stateNames() []string {
	var names []string
	for _, s := range queue.States() {
		names = append(names, string(s))
	}
	return names
}

// life is the life of one job, and of another job on which it may depend.
type life struct {
	t      *testing.T
	ctx    context.Context
	rng    *rand.Rand
	store  *memory.Store
	id, on int64
	job    *queue.Job
	tasks  map[int]queue.State
	leases []queue.Ref
	seen   map[string]transitions
}

func newLife(t *testing.T, seed uint64, seen map[string]transitions) *life {
	l := &life{t: t, ctx: t.Context(), rng: rand.New(rand.NewPCG(seed, 1)), store: memory.New("cpu"), seen: seen}
	subs, err := l.store.Submit(l.ctx, []*queue.Job{{User: "x", Pool: "x", Requestor: "x", Priority: "normal", Kind: "on"}})
	if err != nil {
		t.Fatal(err)
	}
	l.on = subs[0].ID
	j := &queue.Job{User: "x", Pool: "x", Requestor: "x", Priority: "normal", Kind: "it", Backoff: 1, Held: l.rng.IntN(4) == 0, Retries: l.rng.IntN(2)}
	j.Array = []string{"", "0-1"}[l.rng.IntN(2)]
	if l.rng.IntN(2) == 0 {
		j.After = []queue.Dependency{{Job: l.on, On: queue.OnOK}}
	}
	if subs, err = l.store.Submit(l.ctx, []*queue.Job{j}); err != nil || subs[0].Err != nil {
		t.Fatal(err, subs)
	}
	l.id = subs[0].ID
	l.look("submitted")
	return l
}

// look records the changes of states since the last look.
func (l *life) look(event string) {
	jobs, err := l.store.Jobs(l.ctx, queue.Query{IDs: []int64{l.id}})
	if err != nil {
		l.t.Fatal(err)
	}
	was := "[*]"
	if l.job != nil {
		was = string(l.job.State)
	}
	l.job = jobs[0]
	l.seen["jobs"].add(was, string(l.job.State), event)
	tasks, err := l.store.Tasks(l.ctx, l.id)
	if err != nil {
		l.t.Fatal(err)
	}
	now := map[int]queue.State{}
	for _, k := range tasks {
		now[k.Index] = k.State
		from := queue.Waiting
		if s, known := l.tasks[k.Index]; known {
			from = s
		}
		l.seen["tasks"].add(string(from), string(k.State), event)
	}
	l.tasks = now
}

// step does one random thing to the job, or to the other job.
func (l *life) step() {
	verbs := []queue.Verb{queue.VerbCancel, queue.VerbHold, queue.VerbRelease, queue.VerbRequeue, queue.VerbUncancel}
	switch n := l.rng.IntN(12); {
	case n < 3:
		l.start()
	case n > 9:
		l.beginThere()
	case n < 7 && len(l.leases) > 0:
		l.end()
	case n == 7:
		l.endOther()
	case n > 7:
		v := verbs[l.rng.IntN(len(verbs))]
		if errs, err := l.store.Alter(l.ctx, []queue.Alteration{{Job: l.id, Verb: v}}); err == nil && errs[0] == nil {
			l.look("fairlead " + string(v))
		}
	}
}

func (l *life) start() {
	grants, err := l.store.Lease(l.ctx, "n", []queue.Want{{Job: l.id}}, 1<<40)
	if err != nil {
		l.t.Fatal(err)
	}
	x := grants[0].Lease
	if x == nil {
		return
	}
	l.leases = append(l.leases, x.Ref)
	if l.rng.IntN(3) > 0 {
		l.look("started")
		return
	}
	l.progress(x.Ref, time.Time{})
	l.look("handed to a bridge")
}

// beginThere lets an attempt begin in the queueing system behind a bridge, if the attempt waits there.
func (l *life) beginThere() {
	if len(l.leases) > 0 {
		l.progress(l.leases[0], time.Now())
		l.look("begun there")
	}
}

// progress reports that an attempt waits behind a bridge (began is zero), or has begun there.
func (l *life) progress(ref queue.Ref, began time.Time) {
	errs, err := l.store.Progress(l.ctx, []queue.Progress{{Ref: ref, Began: began}})
	if err != nil || errs[0] != nil {
		l.t.Fatal(err, errs)
	}
}

// end ends an attempt in one of the possible ways. A task that has to stop is stopped.
func (l *life) end() {
	ref := l.leases[0]
	l.leases = l.leases[1:]
	stopped := l.job.Cancel
	tasks, _ := l.store.Tasks(l.ctx, l.id)
	for _, k := range tasks {
		stopped = stopped || k.Index == ref.Task && k.Requeue
	}
	switch n := l.rng.IntN(4); {
	case stopped:
		l.finish(ref, queue.Cancelled, "stopped")
	case n == 0:
		l.finish(ref, queue.Succeeded, "succeeded")
	case n == 1:
		l.finish(ref, queue.Failed, "failed")
	case n == 2:
		if _, err := l.store.Release(l.ctx, []queue.Ref{ref}); err != nil {
			l.t.Fatal(err)
		}
		l.look("given back")
	default:
		if _, err := l.store.Expire(l.ctx, "n"); err != nil {
			l.t.Fatal(err)
		}
		l.leases = nil
		l.look("agent lost")
	}
}

func (l *life) finish(ref queue.Ref, s queue.State, event string) {
	if _, err := l.store.Finish(l.ctx, []queue.Result{{Ref: ref, Outcome: queue.Outcome{State: s}}}); err != nil {
		l.t.Fatal(err)
	}
	l.look(event)
}

// endOther ends the job on which the other may depend.
func (l *life) endOther() {
	grants, err := l.store.Lease(l.ctx, "other", []queue.Want{{Job: l.on}}, 1<<40)
	if err != nil || grants[0].Lease == nil {
		return
	}
	s := []queue.State{queue.Succeeded, queue.Failed}[l.rng.IntN(2)]
	if _, err := l.store.Finish(l.ctx, []queue.Result{{Ref: grants[0].Lease.Ref, Outcome: queue.Outcome{State: s}}}); err != nil {
		l.t.Fatal(err)
	}
	l.look("dependency ended")
}

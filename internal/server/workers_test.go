package server_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// TestWorkerOfKinds: a worker that names kinds gets jobs of these kinds with their arguments, and no commands.
func TestWorkerOfKinds(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	join, err := r.Join(ctx, "w", api.JoinRequest{Capacity: map[string]int64{"cpu": 9}, Kinds: []string{"resize", "text"}})
	if err != nil {
		t.Fatal(err)
	}
	ids := r.submit(t, truth(), api.Spec{Kind: "other"},
		api.Spec{Kind: "resize", Args: []byte(`{ "width": 64, "title": "a < b" }`), Retries: 9},
		api.Spec{Kind: "text", Payload: []byte("no JSON")}, api.Spec{Kind: "text", Args: []byte("null")})
	var got []api.Lease
	for len(got) < 3 {
		var ack []queue.Ref
		for _, l := range got {
			ack = append(ack, l.Ref)
		}
		p, err := r.Poll(ctx, "w", api.PollRequest{Session: join.Session, Ack: ack, WaitSeconds: 5})
		if err != nil || len(p.Start) == 0 {
			t.Fatalf("%+v, %v", p, err)
		}
		got = append(got, p.Start...)
	}
	byJob := map[int64]api.Lease{}
	for _, l := range got {
		byJob[l.JobID] = l
	}
	if l := byJob[ids[2]]; string(l.Job.Args) != `{"width":64,"title":"a \u003c b"}` || l.Job.Payload != nil {
		t.Errorf("arguments arrive as %s, payload %s", l.Job.Args, l.Job.Payload)
	}
	if l := byJob[ids[3]]; l.Job.Args != nil || string(l.Job.Payload) != "no JSON" {
		t.Errorf("a payload arrives as %s, arguments %s", l.Job.Payload, l.Job.Args)
	}
	if l := byJob[ids[4]]; l.JobID == 0 || l.Job.Args != nil || l.Job.Payload != nil {
		t.Errorf("nothing arrives as %+v", l)
	}
	done := api.Finished{Ref: byJob[ids[2]].Ref, State: "failed", Cause: "no image", Final: true}
	report, err := r.Report(ctx, "w", api.ReportRequest{Session: join.Session, Finished: []api.Finished{done}})
	if err != nil || report.Finished[0] != nil {
		t.Fatalf("%+v, %v", report, err)
	}
	if j, err := r.Jobs.Get(ctx, ids[2]); err != nil || j.Job.State != "failed" || string(j.Job.Args) == "" {
		t.Errorf("after a final failure, with tries left: %+v, %v", j, err)
	}
	if _, err := r.Jobs.Log(ctx, ids[3], url.Values{}); !errors.Is(err, queue.ErrNotFound) || !strings.Contains(err.Error(), "keeps no output") {
		t.Errorf("its output: %v", err)
	}
}

// TestWorkerLeaves: tasks that have not reached a worker when it leaves count as not begun.
func TestWorkerLeaves(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	join, err := r.Join(ctx, "w", api.JoinRequest{Capacity: map[string]int64{"cpu": 1}, Kinds: []string{"resize"}})
	if err != nil {
		t.Fatal(err)
	}
	id := r.submit(t, api.Spec{Kind: "resize"})[0]
	for deadline := time.Now().Add(await.Patience); ; {
		j, err := r.Jobs.Get(ctx, id)
		if err != nil || time.Now().After(deadline) {
			t.Fatal(j, err)
		}
		if j.Job.State == "running" {
			break
		}
	}
	if _, err := r.Report(ctx, "w", api.ReportRequest{Session: join.Session, Leave: true}); err != nil {
		t.Fatal(err)
	}
	if j, err := r.Jobs.Get(ctx, id); err != nil || j.Job.State != "waiting" || j.Tasks[0].Losses != 0 {
		t.Errorf("%+v, %v", j, err)
	}
}

// heldLeases is a store that stores leases at once, and answers when its gate opens.
type heldLeases struct {
	*memory.Store
	gate chan struct{}
}

func (s heldLeases) Lease(
	ctx context.Context, holder string, wants []queue.Want, ttl time.Duration,
) ([]queue.Grant, error) {
	grants, err := s.Store.Lease(ctx, holder, wants, ttl)
	<-s.gate
	return grants, err
}

// TestWorkerLeavesBeforeItsLeaseArrives: a task whose lease is stored, but has not arrived when its worker leaves,
// counts as not begun, too.
func TestWorkerLeavesBeforeItsLeaseArrives(t *testing.T) {
	store := heldLeases{memory.New("cpu"), make(chan struct{})}
	r := newRigOn(t, store, time.Minute)
	ctx, open := t.Context(), sync.OnceFunc(func() { close(store.gate) })
	t.Cleanup(open) // otherwise the rig could not end
	join, err := r.Join(ctx, "w", api.JoinRequest{Capacity: map[string]int64{"cpu": 1}, Kinds: []string{"resize"}})
	if err != nil {
		t.Fatal(err)
	}
	id := enginetest.Submit(t, r.loop, queue.Job{Kind: "resize"})[0] // the server would answer after the lease
	await.True(t, "the store has the lease", func() bool {
		tasks, err := store.Tasks(ctx, id)
		return err == nil && len(tasks) == 1 && tasks[0].State == queue.Running
	})
	left := make(chan error)
	go func() {
		_, err := r.Report(ctx, "w", api.ReportRequest{Session: join.Session, Leave: true})
		left <- err
	}()
	await.True(t, "the worker begins to leave", func() bool {
		p, err := r.Poll(ctx, "w", api.PollRequest{Session: join.Session})
		return err == nil && p.Rejoin
	})
	open()
	if err := <-left; err != nil {
		t.Fatal(err)
	}
	if tasks, err := store.Tasks(ctx, id); err != nil || tasks[0].State != queue.Waiting || tasks[0].Losses != 0 {
		t.Errorf("%+v, %v", tasks, err)
	}
}

// TestWorkersAreChecked: the server checks the fields of a worker, and of a job for a worker.
func TestWorkersAreChecked(t *testing.T) {
	r := newRig(t)
	for _, bad := range []api.JoinRequest{
		{Kinds: []string{""}}, {Kinds: []string{"a\nb"}}, {Kinds: make([]string, 101)},
		{Capacity: map[string]int64{"exec": 1}}, {Capacity: map[string]int64{"handler.x": 1}}, {Capacity: map[string]int64{"cpu": -1}},
	} {
		if _, err := r.Join(t.Context(), "w", bad); !errors.Is(err, queue.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	for _, bad := range []api.Spec{
		{Kind: "resize", Args: []byte("{}"), Payload: []byte("x")}, {Argv: []string{"true"}, Args: []byte("{}")},
	} {
		if _, err := r.Jobs.Submit(t.Context(), api.SubmitRequest{Jobs: []api.Spec{bad}}); !errors.Is(err, queue.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

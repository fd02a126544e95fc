package engine_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/store/memory"
)

// A job that no known node could ever run is refused, unless not all may be known.
func TestSubmitRefusesWhatNoNodeCanRun(t *testing.T) {
	ctx := context.Background()
	store := memory.New("cpu")
	loop, err := newLoop(ctx, store, engine.LoopOptions{})
	if err != nil {
		t.Fatal(err)
	}
	large := []fairlead.Job{{Argv: []string{"x"}, User: "ann", Request: fairlead.Amounts{"cpu": 64}},
		{Argv: []string{"x"}, User: "ann"}}
	refused := func(l *engine.Loop, where string, want bool) {
		t.Helper()
		subs, err := l.Intake.Submit(ctx, large)
		if err != nil {
			t.Fatal(err)
		}
		if got := errors.Is(subs[0].Err, fairlead.ErrInvalid); got != want || subs[1].Err != nil {
			t.Fatalf("%s: %v, %v", where, subs[0].Err, subs[1].Err)
		}
		if want && !strings.Contains(subs[0].Err.Error(), "64 cpu, and the largest node, n1, has 4") {
			t.Fatalf("%s: %v", where, subs[0].Err)
		}
	}
	refused(loop, "before a node has joined", false)
	capacity, err := engine.AgentCapacity(fairlead.Amounts{"cpu": 4})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loop.Join(ctx, "n1", capacity, engine.NodeInfo{}, nil, nil); err != nil {
		t.Fatal(err)
	}
	refused(loop, "with a node", true)
	again, err := newLoop(ctx, store, engine.LoopOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Join(ctx, "n1", capacity, engine.NodeInfo{}, nil, nil); err != nil {
		t.Fatal(err)
	}
	refused(again, "just after a restart", false)
	if _, err := loop.Join(ctx, "n2", capacity, engine.NodeInfo{Labels: map[string]string{"ra ck": "b"}}, nil,
		nil); !errors.Is(err, fairlead.ErrInvalid) {
		t.Fatalf("a label with a blank: %v", err)
	}
}

// TestKeyOfAnotherJob: the same job submitted again counts as the first one, whatever the current shares make of it and
// whichever trace it belongs to. A different job with its key is refused.
func TestKeyOfAnotherJob(t *testing.T) {
	ctx := context.Background()
	submit := func(c *engine.Client, f func(*fairlead.Job)) (int64, error) {
		j := fairlead.Job{Argv: []string{"x"}, User: "ann", Key: "k", Env: map[string]string{"A": "1"}}
		f(&j)
		ids, err := c.Submit(ctx, j)
		return ids[0], err
	}
	store := memory.New("cpu")
	client := engine.NewClient(store, fairlead.DefaultShares())
	first, err := submit(client, func(*fairlead.Job) {})
	if err != nil {
		t.Fatal(err)
	}
	other := fairlead.DefaultShares()
	other.Sched.Root.Time = time.Hour
	for name, f := range map[string]func(*fairlead.Job){
		"again":   func(*fairlead.Job) {},
		"trace":   func(j *fairlead.Job) { j.Env["TRACEPARENT"] = "00-1-2-01" },
		"group":   func(j *fairlead.Job) { j.Group = "staff" },
		"one key": func(j *fairlead.Job) { j.KeyUntilEnd, j.Argv = true, []string{"y"} },
	} {
		for _, c := range []*engine.Client{client, engine.NewClient(store, other)} {
			if id, err := submit(c, f); id != first || err != nil {
				t.Errorf("%s: job %d, %v; want %d", name, id, err, first)
			}
		}
	}
	for name, f := range map[string]func(*fairlead.Job){
		"command":     func(j *fairlead.Job) { j.Argv = []string{"y"} },
		"environment": func(j *fairlead.Job) { j.Env["A"] = "2" },
		"payload":     func(j *fairlead.Job) { j.Payload = []byte("y") },
		"limit":       func(j *fairlead.Job) { j.Limit = time.Minute },
		"begin":       func(j *fairlead.Job) { j.Begin = time.Now().Add(time.Hour) },
		"array":       func(j *fairlead.Job) { j.Array = "0-9" },
	} {
		if id, err := submit(client, f); id != 0 || !errors.Is(err, fairlead.ErrKeyUsed) ||
			!strings.Contains(err.Error(), `the key "k" belongs to job 1`) {
			t.Errorf("another %s: job %d, %v", name, id, err)
		}
	}
}

// TestDigestKnowsEveryField: a new field of a job is either part of what its key stands for, or named here.
func TestDigestKnowsEveryField(t *testing.T) {
	left := []string{
		"ID", "User", "Group", "Args", "Key", "KeyUntilEnd", "Digest", "State", "Tasks", "Waiting", "Running", "Queued", "Succeeded", "Failed",
		"Cancelled", "Pending", "Cancel", "Submitted", "HeldBy", "HeldWhy", "Avoid", "Started", "Ended", "Cause",
	}
	var missing []string
	for i := range reflect.TypeFor[fairlead.Job]().NumField() {
		name := reflect.TypeFor[fairlead.Job]().Field(i).Name
		if _, in := engine.Digested.FieldByName(name); in == slices.Contains(left, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		t.Errorf("neither in the digest nor left out on purpose, or both: %v", missing)
	}
}

// Package clienttest tests the promises of clients of a queue. The client in this process and the client of a
// server have to pass the same tests, so that a program can switch between them.
package clienttest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Run runs the suite. The function "open" returns a client of an empty queue without nodes, whose jobs belong to user.
func Run(t *testing.T, user string, open func(t *testing.T) queue.Client) {
	for _, c := range []struct {
		name string
		test func(s *suite)
	}{
		{"Submit", submit},
		{"SubmitSaysWhichIsWrong", submitSaysWhichIsWrong},
		{"KeysStandForOneJob", keys},
		{"ArgumentsAreKept", arguments},
		{"AllThatAJobSaysIsKept", roundTrip},
		{"NothingHasStarted", tasks},
		{"QueriesSelect", queries},
		{"AlterInOrder", alter},
		{"AlterRefuses", alterRefuses},
		{"Cancel", cancel},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(&suite{t, user, open(t)}) })
	}
}

type suite struct {
	*testing.T
	user string
	queue.Client
}

// command returns a job that runs a command, with changes applied.
func (s *suite) command(change ...func(*queue.Job)) queue.Job {
	j := queue.Job{User: s.user, Argv: []string{"true"}}
	for _, f := range change {
		f(&j)
	}
	return j
}

func (s *suite) add(jobs ...queue.Job) []int64 {
	s.Helper()
	ids, err := s.Submit(s.Context(), jobs...)
	if err != nil {
		s.Fatal(err)
	}
	return ids
}

func (s *suite) state(id int64, want queue.State) {
	s.Helper()
	if j, err := s.Job(s.Context(), id); err != nil || j.State != want {
		s.Errorf("job %d: %+v, %v; want %s", id, j, err, want)
	}
}

func (s *suite) is(err, want error) {
	s.Helper()
	if !errors.Is(err, want) || want == nil && err != nil {
		s.Errorf("the error is %v, want %v", err, want)
	}
}

func submit(s *suite) {
	ids := s.add(s.command(), s.command(func(j *queue.Job) { j.Held = true }))
	if len(ids) != 2 || ids[0] <= 0 || ids[1] <= ids[0] {
		s.Errorf("the ids are %v", ids)
	}
	s.state(ids[0], queue.Waiting)
	s.state(ids[1], queue.Held)
	_, err := s.Job(s.Context(), ids[1]+1)
	s.is(err, queue.ErrNotFound)
	if none, err := s.Submit(s.Context()); err != nil || len(none) > 0 {
		s.Errorf("of no jobs: %v, %v", none, err)
	}
}

func submitSaysWhichIsWrong(s *suite) {
	wrong := s.command(func(j *queue.Job) { j.Priority = "no such priority" })
	ids, err := s.Submit(s.Context(), s.command(), wrong)
	s.is(err, queue.ErrInvalid)
	if err == nil || !strings.Contains(err.Error(), "job 2: ") || strings.Contains(err.Error(), "job 1: ") {
		s.Errorf("the error is %v", err)
	}
	if len(ids) != 2 || ids[0] == 0 || ids[1] != 0 {
		s.Errorf("the ids are %v", ids)
	}
	subs, err := s.SubmitAll(s.Context(), []queue.Job{wrong, s.command()})
	if err != nil || len(subs) != 2 || subs[1].Err != nil || subs[1].ID == 0 {
		s.Fatalf("%+v, %v", subs, err)
	}
	s.is(subs[0].Err, queue.ErrInvalid)
	if !strings.Contains(subs[0].Err.Error(), "priority") {
		s.Errorf("the error is %v, which does not name the field", subs[0].Err)
	}
}

func keys(s *suite) {
	key := func(j *queue.Job) { j.Key = "once" }
	first := s.add(s.command(key))[0]
	subs, err := s.SubmitAll(s.Context(), []queue.Job{s.command(key), s.command(key, func(j *queue.Job) { j.Name = "another" })})
	if err != nil || len(subs) != 2 || subs[0].ID != first || !subs[0].Existing || subs[0].Err != nil {
		s.Fatalf("%+v, %v; want job %d again", subs, err, first)
	}
	s.is(subs[1].Err, queue.ErrKeyUsed)
}

type thumbnail struct{ Image string }

func (thumbnail) Kind() string { return "thumbnail" }

type unkeepable struct{ C chan int }

func (unkeepable) Kind() string { return "unkeepable" }

func arguments(s *suite) {
	id := s.add(queue.Job{User: s.user, Args: thumbnail{"cat.jpg"}})[0]
	if j, err := s.Job(s.Context(), id); err != nil || j.Kind != "thumbnail" || string(j.Payload) != `{"Image":"cat.jpg"}` {
		s.Errorf("%+v, %v", j, err)
	}
	_, err := s.Submit(s.Context(), s.command(), queue.Job{User: s.user, Args: unkeepable{}})
	s.is(err, queue.ErrInvalid)
	if err == nil || !strings.Contains(err.Error(), "job 2: ") {
		s.Errorf("the error is %v", err)
	}
}

// roundTrip submits a job with all fields set, and compares each field.
func roundTrip(s *suite) {
	first := s.add(s.command())[0]
	full := queue.Job{
		User: s.user, Name: "name", Kind: "kind", Requestor: "requestor", Pool: "pool", Priority: "high", QOS: "", Nice: 0,
		Argv: []string{"a", "b c"}, Payload: []byte("#!/bin/sh\n"), Script: true, Env: map[string]string{"A": "1"}, Dir: "/tmp", Output: "/tmp/o", Error: "/tmp/e",
		Request: queue.Amounts{"cpu": 2, "mem": 1 << 20}, Constraint: "arch=amd64",
		Limit: time.Hour, Begin: time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC), Retries: 3, Backoff: time.Minute,
		Array: "0-9", MaxRunning: 4, After: []queue.Dependency{{Job: first, On: queue.OnAny}}, Key: "key", Held: true,
	}
	got, err := s.Job(s.Context(), s.add(full)[0])
	if err != nil {
		s.Fatal(err)
	}
	got.Begin = got.Begin.UTC()
	want, has := reflect.ValueOf(full), reflect.ValueOf(*got)
	for i := range want.NumField() {
		name := want.Type().Field(i).Name
		if name == "ID" { // the store sets the fields from State on
			continue
		}
		if name == "State" {
			break
		}
		if name == "Digest" || name == "Group" || name == "KeyUntilEnd" {
			continue
		}
		if !reflect.DeepEqual(want.Field(i).Interface(), has.Field(i).Interface()) {
			s.Errorf("%s is %#v, want %#v", name, has.Field(i).Interface(), want.Field(i).Interface())
		}
	}
	if got.Tasks != 10 || got.State != queue.Held || got.Pending != 1 || got.Submitted.IsZero() {
		s.Errorf("the store says %+v", got)
	}
}

func tasks(s *suite) {
	id := s.add(s.command(func(j *queue.Job) { j.Array = "1-3" }))[0]
	if all, err := s.Tasks(s.Context(), id); err != nil || len(all) > 0 {
		s.Errorf("tasks that have started: %+v, %v", all, err)
	}
	_, err := s.Tasks(s.Context(), id+1)
	s.is(err, queue.ErrNotFound)
}

func queries(s *suite) {
	kind := func(k string) func(*queue.Job) { return func(j *queue.Job) { j.Kind = k } }
	pool := func(p string) func(*queue.Job) { return func(j *queue.Job) { j.Pool = p } }
	held := func(j *queue.Job) { j.Held = true }
	ids := s.add(s.command(kind("a"), pool("x")), s.command(kind("b"), pool("x/y")), s.command(kind("a"), pool("z"), held), s.command(kind("b"), pool("z")))
	if err := s.Cancel(s.Context(), ids[3]); err != nil {
		s.Fatal(err)
	}
	for _, c := range []struct {
		name string
		q    queue.Query
		want []int64
	}{
		{"all", queue.Query{}, ids},
		{"newest first", queue.Query{Newest: true}, []int64{ids[3], ids[2], ids[1], ids[0]}},
		{"ids", queue.Query{IDs: []int64{ids[2], ids[0]}}, []int64{ids[0], ids[2]}},
		{"an id that is not there", queue.Query{IDs: []int64{ids[3] + 1}}, nil},
		{"user", queue.Query{User: s.user}, ids},
		{"nobody", queue.Query{User: "nobody at all"}, nil},
		{"kind", queue.Query{Kind: "a"}, []int64{ids[0], ids[2]}},
		{"pool", queue.Query{Pool: "z"}, []int64{ids[2], ids[3]}},
		{"state", queue.Query{States: []queue.State{queue.Waiting}}, ids[:2]},
		{"states", queue.Query{States: []queue.State{queue.Held, queue.Cancelled}}, ids[2:]},
		{"waits", queue.Query{Waits: true}, ids[:3]},
		{"after", queue.Query{After: ids[1]}, ids[2:]},
		{"before", queue.Query{Before: ids[1]}, ids[:1]},
		{"limit", queue.Query{Limit: 2}, ids[:2]},
		{"the newest", queue.Query{Limit: 1, Newest: true}, ids[3:]},
		{"since", queue.Query{Since: time.Now().Add(time.Hour)}, ids[:3]},
	} {
		jobs, err := s.Jobs(s.Context(), c.q)
		var got []int64
		for _, j := range jobs {
			got = append(got, j.ID)
		}
		if err != nil || !slices.Equal(got, c.want) {
			s.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

func alter(s *suite) {
	ids := s.add(s.command(), s.command(), s.command())
	errs, err := s.Alter(s.Context(),
		queue.Alteration{Job: ids[0], Verb: queue.VerbHold}, queue.Alteration{Job: ids[1], Verb: queue.VerbHold},
		queue.Alteration{Job: ids[0], Verb: queue.VerbRelease}, queue.Alteration{Job: ids[2], Verb: queue.VerbCancel, Cause: "not needed"},
		queue.Alteration{Job: ids[1], Verb: queue.VerbPrioritise, Priority: "high"}, queue.Alteration{Job: ids[0], Verb: queue.VerbMove, Pool: "elsewhere"})
	if err != nil || !slices.Equal(errs, make([]error, 6)) {
		s.Fatalf("%v, %v", errs, err)
	}
	s.state(ids[0], queue.Waiting)
	s.state(ids[1], queue.Held)
	s.state(ids[2], queue.Cancelled)
	for i, want := range []func(*queue.Job) bool{
		func(j *queue.Job) bool { return j.Pool == "elsewhere" },
		func(j *queue.Job) bool { return j.Priority == "high" },
		func(j *queue.Job) bool { return strings.Contains(j.Cause, "not needed") },
	} {
		if j, err := s.Job(s.Context(), ids[i]); err != nil || !want(j) {
			s.Errorf("%+v, %v", j, err)
		}
	}
	errs, err = s.Alter(s.Context(), queue.Alteration{Job: ids[1], Verb: queue.VerbHold, Waiting: true})
	if err == nil && errs[0] == nil {
		s.Error("a hold was taken that is only about waiting tasks")
	}
	if errs, err := s.Alter(s.Context(), queue.Alteration{Job: ids[2], Verb: queue.VerbUncancel}); err != nil || errs[0] != nil {
		s.Errorf("uncancel: %v, %v", errs, err)
	}
	s.state(ids[2], queue.Waiting)
}

func alterRefuses(s *suite) {
	id := s.add(s.command())[0]
	errs, err := s.Alter(s.Context(), queue.Alteration{Job: id, Verb: queue.VerbRelease}, queue.Alteration{Job: id + 1, Verb: queue.VerbHold}, queue.Alteration{Job: id, Verb: queue.VerbHold})
	if err != nil || len(errs) != 3 || errs[2] != nil {
		s.Fatalf("%v, %v", errs, err)
	}
	s.is(errs[0], queue.ErrState)
	s.is(errs[1], queue.ErrNotFound)
	_, err = s.Alter(s.Context(), queue.Alteration{Job: id, Verb: queue.VerbPrioritise, Priority: "no such priority"})
	s.is(err, queue.ErrInvalid)
}

func cancel(s *suite) {
	id := s.add(s.command())[0]
	if err := s.Cancel(s.Context(), id); err != nil {
		s.Fatal(err)
	}
	s.state(id, queue.Cancelled)
	s.is(s.Cancel(s.Context(), id), queue.ErrState)
	s.is(s.Cancel(s.Context(), id+1), queue.ErrNotFound)
	ended, stop := context.WithCancel(s.Context())
	stop()
	if _, err := s.Job(ended, id); err == nil {
		s.Log("a store that does not wait answers, though the context has ended")
	}
}

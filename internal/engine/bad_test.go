package engine_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
)

// TestBadJobs submits invalid jobs, and expects an error that names the field, and
// nothing in the store.
func TestBadJobs(t *testing.T) {
	ok := fairlead.Job{Kind: "work"}
	with := func(f func(*fairlead.Job)) []fairlead.Job {
		j := ok
		f(&j)
		return []fairlead.Job{j}
	}
	cases := []struct {
		jobs []fairlead.Job
		want string
	}{
		{with(func(j *fairlead.Job) { j.Array = "0-999999999999" }), "array"},
		{with(func(j *fairlead.Job) { j.Array = "1-1000001" }), "array"},
		{with(func(j *fairlead.Job) { j.Array = "0-9%-1" }), "array"},
		{with(func(j *fairlead.Job) { j.Payload = make([]byte, 10<<20) }), "payload: has 10485760 bytes, but the maximum"},
		{with(func(j *fairlead.Job) { j.Name = "\xff\xfe" }), "name: is not valid UTF-8"},
		{with(func(j *fairlead.Job) { j.Name = "\x1b[2J" }), "name: holds a control character"},
		{with(func(j *fairlead.Job) { j.Name = "abc\u202etxt" }), "name: holds a control character"},
		{with(func(j *fairlead.Job) { j.User = strings.Repeat("u", 300) }), "user: is longer"},
		{with(func(j *fairlead.Job) { j.Pool = "../up" }), "pool"},
		{with(func(j *fairlead.Job) { j.Pool = strings.Repeat("a/", 100) + "b" }), "pool"},
		{with(func(j *fairlead.Job) { j.Argv = []string{""} }), "argv: the command is empty"},
		{with(func(j *fairlead.Job) { j.Argv = []string{"a\x00b"} }), "argv"},
		{with(func(j *fairlead.Job) { j.Env = map[string]string{"A=B": "c"} }), "env"},
		{with(func(j *fairlead.Job) { j.Limit = -time.Minute }), "limit"},
		{with(func(j *fairlead.Job) { j.Retries = -1 }), "retries"},
		{with(func(j *fairlead.Job) { j.Priority = "urgent" }), "priority"},
		{with(func(j *fairlead.Job) { j.Request = fairlead.Amounts{"cpu": -4} }), "request"},
		{with(func(j *fairlead.Job) { j.Request = fairlead.Amounts{"cpu": math.MaxInt64} }), "request"},
		{with(func(j *fairlead.Job) { j.After = []fairlead.Dependency{{Job: 7}} }), "job 7"},
		{with(func(j *fairlead.Job) { j.After = []fairlead.Dependency{{Job: -1}} }), "after"},
		{[]fairlead.Job{
			{Kind: "work", After: []fairlead.Dependency{{Job: -2}}}, {Kind: "work", After: []fairlead.Dependency{{Job: -1}}},
		}, "after: the dependencies of jobs [1 2] of this submission are circular"},
	}
	synctest.Test(t, func(t *testing.T) {
		loop, stop := start(t, engine.LoopOptions{}, 1, enginetest.Endless)
		defer stop()
		for _, c := range cases {
			_, err := loop.Client().Submit(t.Context(), c.jobs...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if !errors.Is(err, fairlead.ErrInvalid) && !errors.Is(err, fairlead.ErrNotFound) {
				t.Errorf("%v is neither invalid nor not found", err)
			}
		}
		jobs, err := loop.Client().Jobs(t.Context(), fairlead.Query{})
		if err != nil || len(jobs) != 0 {
			t.Errorf("%d jobs were kept (%v)", len(jobs), err)
		}
	})
}

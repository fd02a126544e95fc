package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

// TestPagesOfJob: tasks and events of an array are listed page by page, and none is left out.
func TestPagesOfJob(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	spec := truth()
	spec.Array = "0-4"
	id := r.submit(t, spec)[0]
	j, err := r.Join(ctx, "n1", api.JoinRequest{Capacity: map[string]int64{"cpu": 5}, Again: true})
	if err != nil {
		t.Fatal(err)
	}
	for begun := 0; begun < 5; {
		p, err := r.Poll(ctx, "n1", api.PollRequest{Session: j.Session, WaitSeconds: 5})
		if err != nil {
			t.Fatal(err)
		}
		begun += len(p.Start)
	}
	for _, x := range []struct {
		after, limit int
		tasks        []int
		more         bool
	}{
		{-1, 0, nil, true}, {-1, 2, []int{0, 1}, true}, {1, 2, []int{2, 3}, true}, {3, 2, []int{4}, false}, {4, 2, nil, false}, {-1, 5, []int{0, 1, 2, 3, 4}, false},
	} {
		got, err := r.Jobs.Tasks(ctx, id, x.after, x.limit)
		if err != nil {
			t.Fatal(err)
		}
		var tasks []int
		for _, task := range got.Tasks {
			tasks = append(tasks, task.Task)
		}
		if !slices.Equal(tasks, x.tasks) || got.More != x.more || got.Job.Tasks != 5 {
			t.Errorf("after %d, at most %d: tasks %v, more %v; want %v, %v", x.after, x.limit, tasks, got.More, x.tasks, x.more)
		}
	}
	all, err := r.Jobs.History(ctx, id, -1)
	if err != nil || len(all.Events) < 6 || all.More {
		t.Fatalf("what happened: %+v, %v", all, err)
	}
	var paged []api.Event
	for page := (api.History{More: true}); page.More; {
		page = api.History{}
		q := url.Values{"after": {strconv.Itoa(len(paged))}, "limit": {"4"}}
		if err := r.Call(ctx, http.MethodGet, fmt.Sprintf("/v1/jobs/%d/history?%s", id, q.Encode()), nil, &page); err != nil {
			t.Fatal(err)
		}
		paged = append(paged, page.Events...)
	}
	if !slices.Equal(paged, all.Events) {
		t.Errorf("page by page: %v\nwhole: %v", paged, all.Events)
	}
	one, err := r.Jobs.History(ctx, id, 3)
	if err != nil || len(one.Events) == 0 || slices.ContainsFunc(one.Events, func(e api.Event) bool { return e.Task != 3 }) {
		t.Errorf("of one task: %+v, %v", one, err)
	}
}

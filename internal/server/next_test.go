package server_test

import (
	"net/url"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

// TestNextJobs: if there are more jobs than fit in a list, "next" returns the running jobs and the jobs that would
// start next, whatever their ids.
func TestNextJobs(t *testing.T) {
	r := newRig(t)
	join, err := r.Join(t.Context(), "n1", api.JoinRequest{Capacity: map[string]int64{"cpu": 1}})
	if err != nil {
		t.Fatal(err)
	}
	runs := r.submit(t, api.Spec{Argv: []string{"true"}, Pool: "a"})
	if p, err := r.Poll(t.Context(), "n1", api.PollRequest{Session: join.Session, WaitSeconds: 5}); err != nil || len(p.Start) != 1 {
		t.Fatalf("poll %+v, %v", p, err)
	}
	var flood []api.Spec
	for range 50 {
		flood = append(flood, api.Spec{Argv: []string{"true"}, Pool: "a"})
	}
	r.submit(t, flood...)
	late := r.submit(t, api.Spec{Argv: []string{"true"}, Pool: "b"})
	if _, err := r.Pools.SetUsage(t.Context(), api.UsageRequest{Pool: "a", UsedSeconds: 1e6}); err != nil {
		t.Fatal(err) // so that b goes first
	}
	for _, c := range []struct {
		name  string
		query url.Values
		want  []int64
	}{
		{"all", url.Values{"limit": {"3"}}, []int64{runs[0], late[0], runs[0] + 1}},
		{"one pool", url.Values{"limit": {"3"}, "pool": {"a"}}, []int64{runs[0], runs[0] + 1, runs[0] + 2}},
		{"the lowest ids", url.Values{"limit": {"3"}, "next": {"false"}}, []int64{runs[0], runs[0] + 1, runs[0] + 2}},
	} {
		if !c.query.Has("next") {
			c.query.Set("next", "true")
		}
		list, err := r.Jobs.List(t.Context(), c.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, j := range list.Jobs {
			got = append(got, j.ID)
		}
		slices.Sort(c.want)
		slices.Sort(got)
		if !slices.Equal(got, c.want) || !list.More {
			t.Errorf("%s: jobs %v, want %v; more %v", c.name, got, c.want, list.More)
		}
	}
}

package server

import (
	"fmt"
	"net/http"
	"net/url"
	"os/user"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// labDesk is a server where each user of two groups gets a pool on demand.
func labDesk(t *testing.T) *desk {
	t.Helper()
	rules, err := share.NewPlacementRules([]share.Rule{
		{Match: map[string]string{"group": "physics"}, Pool: "physics/{user}"}, {Pool: "guests/{user}"},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := allocation.Default()
	c.PlacementRules, c.Closed = rules, true
	c.Sched.Root.Pools = []share.Pool{{Name: "physics", Weight: 60}, {Name: "guests", Weight: 5}}
	d := newDesk(t)
	if err := d.loop.Configure(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestWhoMayNameWhichPool: users may name the pools to which the rules send their own jobs, and an administrator may
// name any pool to which the rules send anybody's jobs. What-if questions and dry runs agree with submissions and
// moves.
func TestWhoMayNameWhichPool(t *testing.T) {
	d := labDesk(t)
	ann, dan := ann, ann
	ann.Groups, dan.Name, dan.Groups = []string{"physics"}, "dan", []string{"users"}
	for _, c := range []struct {
		who  access.Principal
		pool string
		want string // "" means a refusal
	}{
		{ann, "", "physics/ann"}, {ann, "physics", "physics/ann"}, {ann, "physics/ann", "physics/ann"},
		{dan, "", "guests/dan"}, {dan, "physics", ""}, {dan, "physics/ann", ""}, {dan, "guests", "guests/dan"},
		{ann, "guests", "guests/ann"}, {ann, "physics/bob", ""}, {dan, "chemistry/dan", ""},
		{root, "physics/bob", "physics/bob"}, {root, "physics", "physics/root"}, {root, "chemistry/bob", ""},
	} {
		name := fmt.Sprintf("%s names %q", c.who.Name, c.pool)
		spec := api.Spec{Argv: []string{"true"}, Pool: c.pool}
		for _, dry := range []bool{true, false} {
			var r api.SubmitResponse
			q := api.SubmitRequest{Jobs: []api.Spec{spec}, DryRun: dry, Unsatisfiable: true}
			d.send(c.who, http.MethodPost, "/v1/jobs", q, &r)
			if got := r.Jobs[0]; (got.Error == nil) != (c.want != "") || got.Error == nil && got.Pool != c.want {
				t.Errorf("%s (dry run %v): %q, %+v; want %q", name, dry, got.Pool, got.Error, c.want)
			}
		}
		if c.pool == "" {
			continue
		}
		own := d.own(c.who)
		w := d.answerOf(c.who, http.MethodPost, fmt.Sprintf("/v1/jobs/%d/what-if", own), api.Variation{Pool: &c.pool})
		same := strings.Contains(w.Body.String(), "asks for that already")
		if !same && (w.Code == http.StatusOK) != (c.want != "") {
			t.Errorf("%s in a what-if: %d %s", name, w.Code, w.Body)
		}
		var r api.AlterResponse
		d.send(c.who, http.MethodPost, "/v1/jobs/alter", api.AlterRequest{Jobs: []int64{own}, Verb: "move", Pool: c.pool}, &r)
		j, err := d.loop.Client().Job(t.Context(), own)
		if err != nil || (r.Results[0] == nil) != (c.want != "") || c.want != "" && j.Pool != c.want {
			t.Errorf("%s in a move: %s, %+v, %v", name, j.Pool, r.Results[0], err)
		}
	}
}

// own submits a job of a principal and returns its number.
func (d *desk) own(a access.Principal) int64 {
	d.t.Helper()
	j, got, _ := d.submit(a, api.Spec{Argv: []string{"true"}})
	if j == nil {
		d.t.Fatal(got.Error)
	}
	return j.ID
}

// TestGroupOfWhomOneSubmitsFor: a job that somebody submits for a user gets the group that the system knows for that
// user, as if the user submitted it.
func TestGroupOfWhomOneSubmitsFor(t *testing.T) {
	d := labDesk(t)
	asked := 0
	d.identity.names.look = func(uid int) (string, []string, error) { return "ann", []string{"physics"}, nil }
	d.identity.names.uid = func(name string) (int, error) {
		if asked++; name != "ann" {
			return 0, user.UnknownUserError(name)
		}
		return 1000, nil
	}
	for range 3 {
		for _, c := range []struct{ as, want string }{{"ann", "physics/ann"}, {"cust:42", "guests/cust=3A42"}} {
			j, _, _ := d.submit(root, api.Spec{Argv: []string{"true"}}, "X-Fairlead-As", c.as)
			if j.Pool != c.want {
				t.Errorf("a job for %s is in %s", c.as, j.Pool)
			}
		}
	}
	if asked != 2 {
		t.Errorf("the system was asked %d times for two users", asked)
	}
}

// TestPoolsWithoutAJob: questions about a pool that a rule makes are answered before the pool has a job, and do not
// make the pool.
func TestPoolsWithoutAJob(t *testing.T) {
	d := labDesk(t)
	own := d.own(root)
	for _, c := range []struct {
		pool   string
		status int
	}{{"physics/zoe", 200}, {"guests/cust=3A42", 200}, {"chemistry/zoe", 404}, {"physics/zoe/deeper", 404}} {
		for _, path := range []string{
			"/v1/shares?pool=", "/v1/jobs?pool=", "/v1/why/pool?pool=", fmt.Sprintf("/v1/jobs/%d/versus?other=", own),
		} {
			if w := d.answerOf(root, http.MethodGet, path+url.QueryEscape(c.pool), nil); w.Code != c.status {
				t.Errorf("%s%s: %d %s", path, c.pool, w.Code, w.Body)
			}
		}
	}
	var all, one api.Shares
	d.send(root, http.MethodGet, "/v1/shares?pool=physics/zoe", nil, &one)
	if len(one.Pools) != 1 || one.Pools[0].Share != 60./65 {
		t.Errorf("a pool to be has %+v", one.Pools)
	}
	d.send(root, http.MethodGet, "/v1/shares", nil, &all)
	if len(all.Pools) != 4 { // the root, two groups, and guests/root
		t.Errorf("there are %d pools", len(all.Pools))
	}
	for path, q := range map[string]any{
		"/v1/boosts": api.BoostRequest{Pool: "physics/zoe", Factor: 3, ForSeconds: 60},
		"/v1/pauses": api.PauseRequest{Pool: "physics/max"},
	} {
		if w := d.answerOf(root, http.MethodPost, path, q); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	d.send(root, http.MethodGet, "/v1/shares?pool=physics/zoe", nil, &one)
	if len(one.Pools) != 1 || one.Pools[0].Weight != 3 {
		t.Errorf("boosted, it has %+v", one.Pools)
	}
	zoe := ann
	zoe.Name, zoe.Groups = "max", []string{"physics"}
	var w why.Answer
	d.send(root, http.MethodGet, fmt.Sprintf("/v1/jobs/%d/why", d.own(zoe)), nil, &w)
	if w.Reason.Code != why.GatePaused {
		t.Errorf("the first job in a paused pool: %+v", w.Reason)
	}
}

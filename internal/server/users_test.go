package server

import (
	"errors"
	"math"
	"net/http"
	"os/user"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// TestLimitsOfUsers: limits apply to users, also in a dry run and when they alter jobs. They do not apply to
// administrators, whatever user they submit for.
func TestLimitsOfUsers(t *testing.T) {
	d := newDesk(t)
	shares := allocation.Default()
	shares.Users = allocation.UserLimits{Jobs: 10, Pools: 3}
	shares.Access.Pools = everyPool()
	if err := d.loop.Configure(t.Context(), shares); err != nil {
		t.Fatal(err)
	}
	request := func(dry bool, pools ...string) api.SubmitRequest {
		r := api.SubmitRequest{DryRun: dry}
		for _, p := range pools {
			r.Jobs = append(r.Jobs, api.Spec{Argv: []string{"true"}, Pool: p})
		}
		return r
	}
	for _, c := range []struct {
		who    access.Principal
		r      api.SubmitRequest
		status int
	}{
		{ann, request(false, "a", "b", "c", "d"), 429}, {ann, request(true, "a", "b", "c", "d"), 429},
		{ann, request(true, "a", "b", "c"), 200}, {ann, request(false, "a", "b"), 200},
		{ann, request(false, "a", "a", "a", "a", "a", "a", "a", "a", "a"), 429},
		{root, request(false, "e", "f", "g", "h"), 200},
	} {
		if status := d.send(c.who, http.MethodPost, "/v1/jobs", c.r, nil); status != c.status {
			t.Errorf("%s, dry run %v, %d jobs: status %d, want %d", c.who.Name, c.r.DryRun, len(c.r.Jobs), status, c.status)
		}
	}
	move := func(a access.Principal, pool string) int {
		return d.send(a, http.MethodPost, "/v1/jobs/alter", api.AlterRequest{Verb: "move", Jobs: []int64{1}, Pool: pool}, nil)
	}
	if status := move(ann, "x/y"); status != http.StatusTooManyRequests {
		t.Errorf("a move into two pools: status %d", status)
	}
	if status := move(root, "x/y"); status != http.StatusOK {
		t.Errorf("a move by an administrator: status %d", status)
	}
	w := d.answerOf(ann, http.MethodPost, "/v1/jobs", request(false, "m", "n"))
	if w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"code":"limit"`) || !strings.Contains(w.Body.String(), "raise user_limits.pools") {
		t.Errorf("the answer is %v %s", w.Header(), w.Body)
	}
	expect(t, d.services.doctor.examiner.checkUsers(t.Context()), "users", api.ResultWarn, "ann has 4 of 3 pools (user_limits.pools)")
}

// TestDoctorNamesClosedPools: if users cannot submit anywhere unless a pool has their name, doctor says so.
func TestDoctorNamesClosedPools(t *testing.T) {
	for _, c := range []struct {
		pools  []share.Pool
		result string
	}{
		{[]share.Pool{{Name: "physics", Weight: 1}}, api.ResultWarn},
		{[]share.Pool{{Name: "physics", Weight: 1}, {Name: share.DefaultPool, Weight: 1}}, ""},
	} {
		d := newDesk(t)
		shares := allocation.Default()
		shares.Closed, shares.Sched.Root.Pools = true, c.pools
		if err := d.loop.Configure(t.Context(), shares); err != nil {
			t.Fatal(err)
		}
		checks := d.services.doctor.examiner.checkUsers(t.Context())
		expect(t, checks, "rights to submit", c.result, "")
	}
}

// TestBoostDryRun: a dry run reports the shares that the boost then gives, and changes nothing.
func TestBoostDryRun(t *testing.T) {
	d := newDesk(t)
	shares := allocation.Default()
	shares.Closed = true
	shares.Sched.Root.Pools = []share.Pool{{Name: "physics", Weight: 1}, {Name: "biology", Weight: 2},
		{Name: "arts", Weight: 1}}
	if err := d.loop.Configure(t.Context(), shares); err != nil {
		t.Fatal(err)
	}
	var dry, done api.BoostResponse
	ask := api.BoostRequest{Pool: "physics", Factor: 3, ForSeconds: 3600, DryRun: true}
	if status := d.send(root, http.MethodPost, "/v1/boosts", ask, &dry); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	if len(d.loop.Overrides.Boosts()) != 0 {
		t.Error("a dry run boosts")
	}
	ask.DryRun = false
	d.send(root, http.MethodPost, "/v1/boosts", ask, &done)
	if dry.Weight != done.Weight || math.Abs(dry.Share.New-done.Share.New) > 1e-9 || dry.Share.Old != 0.25 {
		t.Errorf("a dry run reports %+v, %+v; the boost %+v, %+v", dry.Weight, dry.Share, done.Weight, done.Share)
	}
	for pool, s := range dry.Siblings {
		if now := d.services.boosts.pool(t.Context(), pool).ShareHere; math.Abs(s.New-now) > 1e-9 {
			t.Errorf("%s: %v, then %v", pool, s.New, now)
		}
	}
	if len(dry.Siblings) != 2 {
		t.Errorf("siblings: %+v", dry.Siblings)
	}
	if status := d.send(root, http.MethodPost, "/v1/boosts", api.BoostRequest{Pool: "nope", Factor: 3, ForSeconds: 1,
		DryRun: true}, nil); status != http.StatusNotFound {
		t.Errorf("an unknown pool: status %d", status)
	}
}

// TestWhyNewcomer: a user of the machine without a pool learns where a job would go, or, if it would go nowhere, who
// can change that. A name without a user is unknown.
func TestWhyNewcomer(t *testing.T) {
	d := newDesk(t)
	known := newNames()
	known.uid = func(name string) (int, error) {
		if name != "zoe" {
			return 0, user.UnknownUserError(name)
		}
		return 4711, nil
	}
	known.look = func(int) (string, []string, error) { return "zoe", []string{"users"}, nil }
	d.services.why.names = known
	explained := func(name string) string {
		_, err := d.services.why.whyPool(t.Context(), &poolInput{Pool: name})
		if !errors.Is(err, queue.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
		return err.Error()
	}
	if text := explained("zoe"); text != "zoe has no jobs yet: nothing waits; a job of zoe would go into zoe" {
		t.Error(text)
	}
	if text := explained("nobodys"); !strings.HasPrefix(text, `there is no pool or user "nobodys"`) {
		t.Error(text)
	}
	shares := allocation.Default()
	shares.Closed, shares.Sched.Root.Pools = true, []share.Pool{{Name: "physics", Weight: 1}}
	if err := d.loop.Configure(t.Context(), shares); err != nil {
		t.Fatal(err)
	}
	if text := explained("zoe"); !strings.Contains(text, "no pool takes jobs of zoe: ask an administrator to add") {
		t.Error(text)
	}
	for range 2 {
		j := queue.Job{User: "zoe", Pool: "physics", Argv: []string{"true"}}
		if _, err := d.loop.Client().Submit(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	if text := explained("zoe"); text != "zoe has no pool; its jobs are in physics: fairlead why physics" {
		t.Error(text)
	}
}

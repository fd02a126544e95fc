package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/share"
)

// TestLimitsOfUsers: users are held to their limits, also by a dry run and when they alter jobs, and
// administrators are not, for whomever they submit.
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

// TestDoctorNamesClosedPools: where users after whom no pool is named can submit nowhere, doctor says so.
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

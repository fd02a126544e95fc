package server

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// joins lets an agent join, and returns its session, "" if it is refused.
func (d *desk) joins(name, instance string, change ...func(*api.JoinRequest)) string {
	d.t.Helper()
	r := api.JoinRequest{Capacity: map[string]int64{"cpu": 1}, Instance: instance}
	for _, f := range change {
		f(&r)
	}
	var out api.JoinResponse
	switch status := d.send(root, http.MethodPost, "/v1/agents/"+name+"/join", r, &out); status {
	case http.StatusOK:
		return out.Session
	case http.StatusConflict:
		return ""
	default:
		d.t.Fatalf("%s joins as %s: status %d", instance, name, status)
		return ""
	}
}

func (d *desk) polls(name, session string) (out api.PollResponse) {
	d.t.Helper()
	d.send(root, http.MethodPost, "/v1/agents/"+name+"/poll", api.PollRequest{Session: session}, &out)
	return out
}

// TestNodeIsItsAgents: while an agent lives, no other agent joins under its name; the agent itself may join at any
// time. When it is lost, the name is free.
func TestNodeIsItsAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		first := d.joins("n1", "secret")
		for _, other := range []string{"guess", ""} {
			if d.joins("n1", other) != "" {
				t.Errorf("an agent with the secret %q throws the first one out", other)
			}
			if d.joins("n1", other, func(r *api.JoinRequest) { r.Ledger, r.TakeOver = "ledger", true }) != "" {
				t.Errorf("a bridge with the secret %q throws the agent out", other)
			}
		}
		if out := d.polls("n1", first); out.Rejoin || out.Displaced {
			t.Fatalf("the first one's session is over: %+v", out)
		}
		second := d.joins("n1", "secret")
		if second == "" || !d.polls("n1", first).Rejoin {
			t.Error("an agent that was killed cannot join again at once")
		}
		time.Sleep(50 * time.Second)
		if d.joins("n1", "other") != "" {
			t.Error("an agent is thrown out before its lease is over")
		}
		time.Sleep(11 * time.Second)
		if d.joins("n1", "other") == "" || !d.polls("n1", second).Displaced {
			t.Error("the name of an agent that is lost is not free")
		}
	})
}

// TestBridgeIsItsLedgers: a bridge that restarts with its ledger gets its node at once; a bridge with another ledger
// gets it only if it is told to take over.
func TestBridgeIsItsLedgers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		ledger := func(id string, take bool) func(*api.JoinRequest) {
			return func(r *api.JoinRequest) { r.Ledger, r.TakeOver = id, take }
		}
		if d.joins("b", "one", ledger("l1", false)) == "" || d.joins("b", "two", ledger("l1", false)) == "" {
			t.Error("a bridge cannot join again")
		}
		if d.joins("b", "three", ledger("l2", false)) != "" || d.joins("b", "three") != "" {
			t.Error("another one throws out a bridge that lives")
		}
		if d.joins("b", "three", ledger("l2", true)) == "" {
			t.Error("a bridge cannot take over")
		}
	})
}

// TestTwoJoinAtOnce: if two agents join at the same moment, one of them gets the name.
func TestTwoJoinAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		sessions := make(chan string)
		for i := range 8 {
			go func() { sessions <- d.joins("n1", fmt.Sprint("secret ", i)) }()
		}
		joined := 0
		for range 8 {
			if <-sessions != "" {
				joined++
			}
		}
		if joined != 1 {
			t.Errorf("%d agents have one name", joined)
		}
	})
}

// TestNotesOfOthers: only a bridge may report where its tasks are, and only for tasks that it holds; its leases cost no
// more than others.
func TestNotesOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		j, _, _ := d.submit(ann, api.Spec{Argv: []string{"x"}})
		agent := d.joins("n1", "one")
		synctest.Wait()
		leases := d.polls("n1", agent).Start
		if len(leases) != 1 {
			t.Fatalf("leases %+v", leases)
		}
		bridge := d.joins("b", "two", func(r *api.JoinRequest) { r.Ledger = "ledger" })
		report := func(node string, r api.ReportRequest) (out api.ReportResponse, status int) {
			status = d.send(root, http.MethodPost, "/v1/agents/"+node+"/report", r, &out)
			return out, status
		}
		note := []api.Note{{Ref: leases[0].Ref, Bridged: why.Bridged{Bridge: "n1", ID: "99"}}}
		if _, status := report("b", api.ReportRequest{Session: bridge, Notes: note}); status != http.StatusOK || len(d.services.jobs.bridged.of(j.ID)) != 0 {
			t.Errorf("a bridge's note of the agent's task: status %d, %+v", status, d.services.jobs.bridged.of(j.ID))
		}
		if _, status := report("n1", api.ReportRequest{Session: agent, Notes: note}); status != http.StatusUnprocessableEntity {
			t.Errorf("a note of one who is no bridge: status %d", status)
		}
		if _, status := report("n1", api.ReportRequest{Session: agent, Renew: []queue.Ref{leases[0].Ref}, LeaseSeconds: 2592000}); status != http.StatusUnprocessableEntity {
			t.Errorf("a lease of 30 days for one who is no bridge: status %d", status)
		}
		out, status := report("b", api.ReportRequest{
			Session: bridge, Renew: []queue.Ref{leases[0].Ref}, LeaseSeconds: 2592000, Release: []queue.Ref{leases[0].Ref},
			Finished: []api.Finished{{Ref: leases[0].Ref, State: "failed", Final: true}},
		})
		if status != http.StatusOK || out.Renew[0] == nil || out.Renew[0].Code != "stale_attempt" || out.Finished[0] == nil || out.Finished[0].Code != "stale_attempt" {
			t.Errorf("status %d, %+v", status, out)
		}
		if out, _ := report("n1", api.ReportRequest{Session: agent, Finished: []api.Finished{{Ref: leases[0].Ref, State: "succeeded"}}}); out.Finished[0] != nil {
			t.Errorf("the holder's own end: %+v", out.Finished[0])
		}
	})
}

// TestNobodyRunsAllJobsAsAdministrator: an agent that would run the jobs of all users as its own user is refused where
// other users can connect, and accepted where none can.
func TestNobodyRunsAllJobsAsAdministrator(t *testing.T) {
	d := newDesk(t)
	path, address := d.serving()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	line(t, c, "/healthz") // now the server serves
	anyUser := func(r *api.JoinRequest) { r.Facts = &api.Facts{Runs: "any", User: "fairlead"} }
	join := func() (int, string) {
		r := api.JoinRequest{Capacity: map[string]int64{"cpu": 1}}
		anyUser(&r)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return d.raw(http.MethodPost, "/v1/agents/n1/join", string(text), "Content-Type", "application/json")
	}
	for dir := path; dir != os.TempDir(); dir = filepath.Dir(dir) { // everybody may enter that directory
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if status, text := join(); status != http.StatusForbidden || !strings.Contains(text, "as fairlead, so every job could do everything") || !strings.Contains(text, "without --any-user") {
		t.Errorf("status %d: %s", status, text)
	}
	if d.joins("n2", "users", func(r *api.JoinRequest) { r.Facts = &api.Facts{Runs: "users", User: "root"} }) == "" {
		t.Error("an agent that runs each job as its user is refused")
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, text := join(); status != http.StatusOK {
		t.Errorf("where nobody else can connect: status %d: %s", status, text)
	}
}

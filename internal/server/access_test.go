package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/internal/permit"
	"github.com/fairlead/fairlead/internal/token"
	"github.com/fairlead/fairlead/share"
)

// accessDesk is a server of a lab with two groups, each with an operator of its pool. Jobs 1 and 2 belong to ann, in
// physics/ann and guests/ann; root pauses these pools, and boosts the first.
func accessDesk(t *testing.T) *desk {
	t.Helper()
	rules, err := share.NewPlacementRules([]share.Rule{
		{Match: map[string]string{"group": "physics"}, Pool: "physics/{user}"}, {Pool: "guests/{user}"},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := allocation.Default()
	c.PlacementRules, c.Closed = rules, true
	for _, name := range []string{"biology", "guests", "physics"} {
		c.Sched.Root.Pools = append(c.Sched.Root.Pools, share.Pool{Name: name, Weight: 1})
	}
	c.Access.Operators = []access.Operator{{Who: "user:lea", Below: "physics"}, {Who: "user:ben", Below: "biology"}}
	d := newDesk(t)
	d.addresses.web = []string{"127.0.0.1:1"}
	token := permit.Token{ID: "t", Hash: "h", Lasts: time.Hour}
	if err := d.loop.Store.(permit.Keeper).Permit(t.Context(), permit.Permit{Node: "n1"}, token); err != nil {
		t.Fatal(err)
	}
	if err := d.loop.Configure(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	physicist := ann
	physicist.Groups = []string{"physics"}
	d.submit(physicist, api.Spec{Argv: []string{"true"}})
	d.submit(physicist, api.Spec{Argv: []string{"true"}, Pool: "guests"})
	forAnHour := engine.Boost{Pool: "physics/ann", Factor: 2, By: "root", Until: time.Now().Add(time.Hour)}
	if _, err := d.loop.Overrides.Boost(t.Context(), forAnHour, ""); err != nil {
		t.Fatal(err)
	}
	for _, pool := range []string{"physics/zoe", "physics/ann", "guests"} {
		if _, err := d.loop.Overrides.Pause(t.Context(), engine.Pause{Pool: pool, By: "root"}, ""); err != nil {
			t.Fatal(err)
		}
	}
	d.send(root, http.MethodPost, "/v1/agents/n0/join", api.JoinRequest{Capacity: map[string]int64{"cpu": 1}}, nil)
	return d
}

// everyPool lets everybody submit to every pool, and lets jobs create any pool.
func everyPool() map[string]access.Pool {
	return map[string]access.Pool{"": {
		Submit: []access.Subject{access.Everybody}, Create: []string{access.Anything}, Priorities: []string{access.Anything},
		QOS: []string{access.Anything},
	}}
}

// asking lists the callers in the columns of the table. The caller in "elsewhere" operates another pool than that of
// the jobs.
var asking = []struct {
	column string
	who    access.Principal
}{
	{"nobody", access.Unknown()}, {"viewer", person("dan", 1003, "users")}, {"user", person("ann", 1000, "physics")},
	{"other", inBrowser(person("bob", 1001, "physics"))}, {"operator", person("lea", 1004, "physics")},
	{"elsewhere", person("ben", 1005, "biology")}, {"agent", machine("n1")}, {"bridge", machine("slurm")}, {"admin", root},
}

func person(name string, uid int, group string) access.Principal {
	return access.Principal{Kind: access.User, Name: name, UID: uid, Groups: []string{group}, Via: access.BySocket}
}

func inBrowser(p access.Principal) access.Principal {
	p.Via = access.BySession
	return p
}

func machine(name string) access.Principal {
	return access.Principal{Kind: access.Node, Name: name, UID: -1, Via: access.ByCertificate}
}

// trial is a request whose answer is one row of the table. An operation of the interface may have several rows.
type trial struct {
	name string // the operation, and special circumstances
	path string // "" means the path of the operation, with its fields filled in
	body any
	as   string // X-Fairlead-As
}

func alteration(verb string, more ...func(*api.AlterRequest)) api.AlterRequest {
	r := api.AlterRequest{Verb: verb, Jobs: []int64{1}}
	for _, f := range more {
		f(&r)
	}
	return r
}

// jobWith is a submission of one job.
func jobWith(change func(*api.Spec)) api.SubmitRequest {
	spec := api.Spec{Argv: []string{"true"}}
	change(&spec)
	return api.SubmitRequest{Jobs: []api.Spec{spec}, Unsatisfiable: true}
}

// special returns the rows of the operations for which a path and an empty body are not enough.
func special() map[string][]trial {
	one := api.SubmitRequest{Jobs: []api.Spec{{Argv: []string{"true"}}}, Unsatisfiable: true}
	nice, less := -5, 5
	lessNice, nicer := jobWith(func(s *api.Spec) { s.Nice = nice }), jobWith(func(s *api.Spec) { s.Nice = less })
	higher := jobWith(func(s *api.Spec) { s.Priority = "high" })
	into := func(pool string) api.SubmitRequest { return jobWith(func(s *api.Spec) { s.Pool = pool }) }
	maintenance := api.ReserveRequest{
		Nodes: []string{"n0"}, Seconds: 60, From: time.Now().Add(time.Hour), Maintenance: true}
	setting := []api.SettingValue{{Path: "policy", Value: "fair"}}
	return map[string][]trial{
		"submit": {
			{name: "own job", body: one}, {name: "own job, less nice", body: lessNice}, {name: "own job, nicer", body: nicer},
			{name: "own job, into physics/ann", body: into("physics/ann")}, {name: "own job, into guests", body: into("guests")},
			{name: "own job, into physics", body: into("physics")}, {name: "own job, into biology", body: into("biology")},
			{name: "own job, priority high", body: higher},
			{name: "for ann", body: one, as: "ann"}, {name: "for zoe", body: one, as: "zoe"},
		},
		"alter-jobs": {
			{name: "hold", body: alteration("hold")}, {name: "cancel", body: alteration("cancel")},
			{name: "cancel waiting", body: alteration("cancel", func(r *api.AlterRequest) { r.Waiting = true })},
			{name: "requeue", body: alteration("requeue")}, {name: "release", body: alteration("release")},
			{name: "uncancel", body: alteration("uncancel")},
			{name: "priority low", body: alteration("prioritise", func(r *api.AlterRequest) { r.Priority = "low" })},
			{name: "less nice", body: alteration("prioritise", func(r *api.AlterRequest) { r.Nice = &nice })},
			{name: "priority high", body: alteration("prioritise", func(r *api.AlterRequest) { r.Priority = "high" })},
			{name: "time limit", body: alteration("limit", func(r *api.AlterRequest) { r.Limit = 60 })},
			{name: "move to biology", body: alteration("move", func(r *api.AlterRequest) { r.Pool = "biology" })},
			{name: "move to guests", body: alteration("move", func(r *api.AlterRequest) { r.Pool = "guests" })},
			{name: "cancel, in guests", body: alteration("cancel", func(r *api.AlterRequest) { r.Jobs = []int64{2} })},
		},
		"boost": {
			{name: "of physics/ann", body: api.BoostRequest{Pool: "physics/ann", Factor: 2, ForSeconds: 60}},
			{name: "of physics", body: api.BoostRequest{Pool: "physics", Factor: 2, ForSeconds: 60}},
			{name: "of biology", body: api.BoostRequest{Pool: "biology", Factor: 2, ForSeconds: 60}},
		},
		"pause": {
			{name: "of physics", body: api.PauseRequest{Pool: "physics"}},
			{name: "of physics/bob", body: api.PauseRequest{Pool: "physics/bob"}},
			{name: "in place of root's", body: api.PauseRequest{Pool: "physics/ann"}},
			{name: "of biology", body: api.PauseRequest{Pool: "biology"}},
		},
		"create-token": tokenTrials,
		"resume":       {{name: "root's pause", path: "/v1/pauses?pool=physics/ann"}},
		"setUsage":     {{body: api.UsageRequest{Pool: "physics/ann"}}},
		"reserve":      {{path: "/v1/reservations/r", body: maintenance}},
		"drain":        {{body: api.DrainRequest{Drain: true}}},
		"agent-join":   {{body: api.JoinRequest{Capacity: map[string]int64{"cpu": 1}}}},
		"agent-log":    {{path: "/v1/agents/n1/log/x", body: api.LogReply{}}},
		"what-if":      {{body: api.Variation{Nice: &less}}, {name: "less nice", body: api.Variation{Nice: &nice}}},
		"why-versus":   {{path: "/v1/jobs/1/versus?other=2"}},
		"why-pool":     {{path: "/v1/why/pool?pool=physics"}},
		"config-value": {{path: "/v1/config/value?path=policy"}},
		"reorder-jobs": {{body: api.ReorderRequest{Jobs: []int64{1}, Priority: "low"}},
			{name: "less nice", body: api.ReorderRequest{Jobs: []int64{1}, Nice: &nice}}},
		"permit":                         {{body: permit.Request{TTLSeconds: 60}}},
		"cluster-join":                   {{body: permit.Join{}}},
		"cluster-renew":                  {{body: permit.Renew{}}},
		"agent-poll":                     {{body: api.PollRequest{}}},
		"agent-report":                   {{body: api.ReportRequest{}}},
		"config-apply":                   {{body: api.ApplyRequest{Plan: "x"}}},
		"config-plan":                    {{body: api.ConfigPlanRequest{}}},
		"config-diff":                    {{body: api.ConfigFile{}}},
		"config-set":                     {{body: api.SettingsRequest{Settings: setting}}},
		"set-class-load-percents":        {{body: api.ClassLoad{Percents: map[string]float64{}}}},
		"set-requestor-map":              {{body: api.RequestorMap{Rules: []api.RequestorRule{}}}},
		"set-rebalance-minimum-duration": {{body: api.RebalanceDuration{}}},
		"set-rebalance-threshold":        {{body: api.RebalanceThreshold{}}},
		"poolHistory":                    {{path: "/v1/history?pool=physics"}},
	}
}

// tokenTrials are requests that make tokens.
var tokenTrials = []trial{
	{name: "own", body: token.TokenRequest{Scopes: []string{"read"}}},
	{name: "own, admin", body: token.TokenRequest{Scopes: []string{"admin"}}},
	{name: "root's", body: token.TokenRequest{Scopes: []string{"read"}, Owner: "root"}},
}

// beside returns requests that the document of the interface does not name: metrics, and the pages that change
// something.
func beside() map[string][]trial {
	form := func(pairs ...string) url.Values {
		v := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			v.Add(pairs[i], pairs[i+1])
		}
		return v
	}
	return map[string][]trial{
		"GET /metrics": {{}}, "GET /healthz": {{}}, "GET /readyz": {{}}, "GET /openapi.json": {{}}, "GET /": {{}},
		"GET /queue": {{}}, "GET /jobs/1": {{}}, "GET /jobs/1/log": {{}}, "GET /machines": {{}}, "GET /policy": {{}},
		"GET /pool?pool=physics": {{}}, "GET /policy/edit": {{}}, "GET /policy/weights": {{}},
		"GET /machines/reserve": {{}},
		"POST /act": {
			{name: "cancel", body: form("verb", "cancel", "job", "1")}, {name: "hold", body: form("verb", "hold", "job", "1")},
			{name: "boost physics/ann", body: form("verb", "boost", "pool", "physics/ann", "factor", "2", "for", "1h")},
			{name: "boost physics", body: form("verb", "boost", "pool", "physics", "factor", "2", "for", "1h")},
			{name: "pause physics", body: form("verb", "pause", "pool", "physics")},
			{name: "resume root's pause", body: form("verb", "resume", "pool", "physics/ann")},
		},
		"POST /machines/drain": {{body: form("node", "n1")}}, "POST /machines/resume": {{body: form("node", "n1")}},
		"POST /machines/reserve": {
			{body: form("name", "r", "node", "n0", "for", "1h", "start", "+1h", "maintenance", "yes")},
		},
		"POST /machines/unreserve": {{body: form("name", "r")}},
		"POST /policy/edit":        {{name: "check", body: form("do", "check", "text", "policy: fair")}},
		"POST /policy/apply":       {{body: form("plan", "x")}},
		"POST /policy/rollback":    {{body: form("to", "1", "plan", "x")}},
	}
}

// TestAccess compares the answers with the table of rights: it makes each request of the interface, and opens each page
// that changes something, as each of the callers. A new operation gets rows with -update, so that a reviewer sees them.
func TestAccess(t *testing.T) {
	if testing.Short() {
		t.Skip("much work, and nothing at once")
	}
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		}
	}
	text, err := newDesk(t).OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	rows := []string{}
	var d *desk
	row := func(name, method, path string, x trial) {
		line := fmt.Sprintf("%-44s", strings.TrimSpace(name+" "+x.name))
		for _, a := range asking {
			if d == nil {
				d = accessDesk(t)
			}
			answer := answerTo(d, a.who, method, path, x)
			if answer == "yes" && method != http.MethodGet {
				d = nil // the request may have changed the server
			}
			line += fmt.Sprintf(" %-*s", len(a.column), answer)
		}
		rows = append(rows, strings.TrimRight(line, " "))
	}
	named := special()
	for path, methods := range doc.Paths {
		filled := strings.NewReplacer("{name}", "n1", "{id}", "1", "{number}", "1").Replace(path)
		for method, op := range methods {
			all := named[op.OperationID]
			delete(named, op.OperationID)
			if all == nil {
				all = []trial{{body: struct{}{}}}
			}
			for _, x := range all {
				row(op.OperationID, strings.ToUpper(method), cmp.Or(x.path, filled), x)
			}
		}
	}
	for name := range named {
		t.Errorf("there is no operation %s", name)
	}
	for name, all := range beside() {
		method, path, _ := strings.Cut(name, " ")
		for _, x := range all {
			row(name, method, path, x)
		}
	}
	slices.Sort(rows)
	head := fmt.Sprintf("%-44s", "request")
	for _, a := range asking {
		head += " " + a.column
	}
	golden.Check(t, "testdata/access.txt", head+"\n"+strings.Join(rows, "\n")+"\n")
}

// answerTo makes a request and returns "yes", "no" if it is refused, or "401" if the caller is unknown.
func answerTo(d *desk, who access.Principal, method, path string, x trial) string {
	t := d.t
	t.Helper()
	body, kind := "", "application/json"
	if form, is := x.body.(url.Values); is {
		body, kind = form.Encode(), "application/x-www-form-urlencoded"
	} else if x.body != nil {
		text, err := json.Marshal(x.body)
		if err != nil {
			t.Fatal(err)
		}
		body = string(text)
	}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), principalKey{}, who))
	defer cancel()
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body)).WithContext(ctx)
	r.Header.Set("Content-Type", kind)
	if x.as != "" {
		r.Header.Set("X-Fairlead-As", x.as)
	}
	w := &untilHeader{ResponseRecorder: httptest.NewRecorder()}
	if path == "/v1/events" {
		w.then = cancel
	}
	d.handler.ServeHTTP(w, r)
	switch {
	case w.Code == http.StatusUnauthorized:
		return "401"
	case w.Code == http.StatusForbidden, strings.Contains(w.Body.String(), `"code":"forbidden"`),
		strings.Contains(w.Body.String(), "the placement rules send this job"):
		return "no"
	case w.Code == http.StatusUnprocessableEntity, w.Code >= 500, strings.Contains(w.Body.String(), "there is no address"):
		t.Errorf("%s %s %s by %s: status %d, %s", method, path, x.name, who.Name, w.Code, w.Body)
	}
	return "yes"
}

// TestPagesOfferWhatOneMayDo: the pages offer an operator to boost and pause pools below the operator's pool, and to
// change the jobs there. They do not offer that to others.
func TestPagesOfferWhatOneMayDo(t *testing.T) {
	d := accessDesk(t)
	pages := []string{"pool?pool=physics", "pool?pool=physics/ann", "pool?pool=biology", "jobs/1", "machines", "policy"}
	offers := []string{"verb=boost", "verb=pause", "verb=resume", "verb=unboost", "verb=cancel", "policy/edit"}
	for _, a := range asking {
		var may []string
		for _, page := range pages {
			_, text := d.look(a.who, "/"+page, nil)
			for _, offer := range offers {
				if strings.Contains(text, offer) {
					may = append(may, page+" "+offer)
				}
			}
		}
		want := map[string]string{
			"user": "jobs/1 verb=cancel", "elsewhere": "pool?pool=biology verb=pause",
			"operator": "pool?pool=physics verb=pause, pool?pool=physics/ann verb=boost, jobs/1 verb=cancel",
			"admin": "pool?pool=physics verb=boost, pool?pool=physics verb=pause, " +
				"pool?pool=physics/ann verb=boost, pool?pool=physics/ann verb=resume, pool?pool=physics/ann verb=unboost, " +
				"pool?pool=biology verb=boost, pool?pool=biology verb=pause, jobs/1 verb=cancel, policy policy/edit",
		}[a.column]
		if got := strings.Join(may, ", "); got != want {
			t.Errorf("%s is offered %s\nwant %s", a.column, got, want)
		}
	}
}

// untilHeader is a client that disconnects when an endless answer begins.
type untilHeader struct {
	*httptest.ResponseRecorder
	then func()
}

func (w *untilHeader) Write(b []byte) (int, error) {
	if w.then != nil {
		w.then()
	}
	return w.ResponseRecorder.Write(b)
}

package web_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/web"
	"github.com/fairlead/fairlead/queue"
)

// post posts a form.
func (l *lab) post(path string, form url.Values, headers ...string) (status int, text string) {
	l.t.Helper()
	headers = append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)
	status, _, text = l.ask(http.MethodPost, path, strings.NewReader(form.Encode()), headers...)
	return status, text
}

// exactly matches the elements that hold the exact values of numbers and times.
var exactly = regexp.MustCompile(`</?(data|time)\b[^>]*>`)

// shows fails if a page lacks one of these words.
func shows(t *testing.T, text string, words ...string) {
	t.Helper()
	_, text, _ = strings.Cut(exactly.ReplaceAllString(text, ""), "<main")
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("it does not show %q:\n%.20000s", w, text)
			return
		}
	}
}

// join adds nodes without agents.
func (l *lab) join(n int) {
	l.t.Helper()
	for i := range n {
		labels := map[string]string{"rack": string(rune('a' + i%4))}
		capacity, err := engine.AgentCapacity(queue.Amounts{"cpu": 16})
		if err != nil {
			l.t.Fatal(err)
		}
		if _, err := l.loop.Join(l.t.Context(), fmt.Sprintf("n%d", i+1), capacity, engine.NodeInfo{Labels: labels}, sleeper{},
			nil); err != nil {
			l.t.Fatal(err)
		}
	}
}

// sleeper takes tasks and never ends them.
type sleeper struct{}

func (sleeper) Start([]*queue.Lease)     {}
func (sleeper) Stop([]queue.Ref, string) {}

// nodeState returns the state of a node.
func (l *lab) nodeState(name string) string {
	nodes := views.Nodes(l.loop)
	return nodes[slices.IndexFunc(nodes, func(n views.NodeView) bool { return n.Name == name })].State
}

// TestMachines checks that running tasks are on the page, that nodes are found and grouped, and that n2 comes
// before n10.
func TestMachines(t *testing.T) {
	l := newLab(t, cluster)
	l.join(30)
	id := l.submit("markov", api.Spec{Name: "sim", Pool: "physics/markov", Request: map[string]int64{"cpu": 12},
		LimitSeconds: 7200})
	l.until(id, "running")
	_, _, text := l.get("/machines?by=label:rack")
	shows(t, text, "30 of 30 machines", ">n2<", "1 to 20 of", "more →",
		fmt.Sprintf("job %d of markov in physics/markov", id), "4 cpu free", ">a</a>", "matlab")
	if n2, n10 := strings.Index(text, ">n2<"), strings.Index(text, ">n10<"); n2 > n10 {
		t.Error("n10 comes before n2")
	}
	if _, _, text = l.get("/machines?from=21"); !strings.Contains(text, ">n30<") || strings.Contains(text, ">n2<") {
		t.Error("the second page is not that of the last ten")
	}
	_, _, text = l.get("/machines?q=rack%3Db+n1")
	shows(t, text, "of 30 machines", ">n10<")
	if strings.Contains(text, ">n11<") || strings.Contains(text, ">n2<") {
		t.Error("nodes are shown that do not match")
	}
	if _, _, text = l.get("/machines?q=state:down"); !strings.Contains(text, "No machine matches") {
		t.Error("nodes are shown although none is down")
	}
}

// TestDrain checks that the page asks first and shows the running tasks. Only a form that an administrator posts from
// this site drains the node.
func TestDrain(t *testing.T) {
	l := newLab(t, cluster)
	l.join(1)
	id := l.submit("markov", api.Spec{Name: "sim", Pool: "physics/markov", Request: map[string]int64{"cpu": 12},
		LimitSeconds: 7200})
	l.until(id, "running")
	l.submit("markov", api.Spec{Name: "next", Pool: "physics/markov", Request: map[string]int64{"cpu": 12}})
	l.wait("a job waits", func() bool { _, waiting := l.loop.Running(); return waiting > 0 })
	status, _, text := l.get("/machines/drain?node=n1")
	shows(t, text, "waiting job</b> can run on no other node that takes tasks, and waits until n1 is resumed")
	if status != http.StatusOK || l.nodeState("n1") != "up" {
		t.Fatalf("to ask gave %d, and the node is %s", status, l.nodeState("n1"))
	}
	shows(t, text, "Drain n1?", "1 task", "markov", "at the latest", fmt.Sprintf(">%d</a>", id))
	form := url.Values{"node": {"n1"}, "reason": {"fan"}}
	for _, h := range [][]string{{"Origin", "http://evil.example"}, {"Sec-Fetch-Site", "cross-site"}} {
		if status, _ := l.post("/machines/drain", form, h...); status != http.StatusForbidden || l.nodeState("n1") != "up" {
			t.Errorf("with %v: status %d, and the node is %s", h, status, l.nodeState("n1"))
		}
	}
	if status, text = l.post("/machines/drain", form); status != http.StatusOK || l.nodeState("n1") != "drain" {
		t.Fatalf("status %d, the node is %s:\n%s", status, l.nodeState("n1"), text)
	}
	shows(t, text, "can run on no other node that takes tasks, and waits until n1 is resumed",
		`machines/resume?node=n1">Resume n1</a>`)
	_, _, text = l.get("/machines/drain?node=n1") // the form keeps the reason, so that it can be changed
	if strings.Contains(text, " checked") {
		t.Errorf("no maintenance was asked for:\n%s", text)
	}
	shows(t, text, "Change the drain of n1?",
		"It takes no new tasks already (drained: fan (by ", `name="reason" value="fan"`)
	_, _, text = l.get("/machines")
	shows(t, text, "machines/resume?node=n1", "fan (by ")
	_, _, text = l.get("/nodes/n1")
	shows(t, text, "machines/resume?node=n1", "machines/drain?node=n1")
	bad := url.Values{"node": {"n1"}, "reason": {"fan\x1b[31m"}, "maintenance": {"yes"}}
	if status, text = l.post("/machines/drain", bad); status != http.StatusUnprocessableEntity {
		t.Errorf("a reason with a control character: status %d", status)
	}
	shows(t, text, `class="problem" role="alert">reason: `, "Change the drain of n1?",
		`name="maintenance" value="yes" checked`)
	l.until(id, "running")
	if status, _ = l.post("/machines/resume", url.Values{"node": {"n1"}}); status != 200 || l.nodeState("n1") != "up" {
		t.Errorf("resume: %d, the node is %s", status, l.nodeState("n1"))
	}
	l.lose("n2")
	l.wait("the first page shows the lost node", func() bool { // its numbers may be a moment old
		_, _, text = l.get("/")
		return strings.Contains(text, ">99</data> cpu down or drained")
	})
	_, _, text = l.get("/machines")
	shows(t, text, "machines/drain?node=n2")
	form = url.Values{"node": {"n2"}, "maintenance": {"yes"}}
	if status, _ := l.post("/machines/drain", form); status != http.StatusOK || l.nodeState("n2") != "down" {
		t.Errorf("drain of a node that is down: %d, it is %s", status, l.nodeState("n2"))
	}
	_, _, text = l.get("/machines/drain?node=n2")
	shows(t, text, "(maintenance (by ", `name="reason" value=""`, `name="maintenance" value="yes" checked`)
	_, _, text = l.get("/policy")
	shows(t, text, "drain node", "resume node")
	_, _, text = l.get("/machines")
	shows(t, text, "machines/resume?node=n2")
	if status, text := l.post("/machines/resume", url.Values{"node": {"n2"}}); status != http.StatusOK ||
		l.nodeState("n2") != "down" || !strings.Contains(text, "when its agent is back") {
		t.Errorf("resume of a node that is down: %d, it is %s:\n%s", status, l.nodeState("n2"), text)
	}
	if status, _, _ := l.get("/machines/drain?node=%3Cb%3E"); status != http.StatusNotFound {
		t.Errorf("an unknown node: %d", status)
	}
}

// TestColoursStay checks that the color of a pool depends on its place in the tree, and not on which other pools run.
func TestColoursStay(t *testing.T) {
	l := newLab(t, cluster)
	l.join(1)
	of := regexp.MustCompile(`class="(fl-c\d+)[^"]*" data-key="biology"`)
	colour := func(user, pool string) string {
		t.Helper()
		l.until(l.submit(user, api.Spec{Pool: pool}), "running")
		_, _, text := l.get("/machines")
		found := of.FindStringSubmatch(text)
		if found == nil {
			t.Fatal("biology has no colour")
		}
		return found[1]
	}
	if before, after := colour("epi", "biology/epi"), colour("markov", "physics/markov"); before != after {
		t.Errorf("biology was %s, and is %s when physics runs as well", before, after)
	}
}

// nobody is a worker that gets no tasks.
type nobody struct{}

func (nobody) Start([]*queue.Lease)     {}
func (nobody) Stop([]queue.Ref, string) {}

// lose adds a node whose worker has left.
func (l *lab) lose(name string) {
	l.t.Helper()
	capacity := queue.Amounts{"cpu": 99, queue.ExecResource: queue.AnyNumber}
	m, err := l.loop.Join(l.ctx, name, capacity, engine.NodeInfo{}, nobody{}, nil)
	if err == nil {
		err = m.Leave(l.ctx)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// stranger is a source for a user who is not an administrator.
type stranger struct{ acted bool }

func (s *stranger) source() web.Source {
	return web.Source{
		Server: strangersServer{}, Pools: strangersPools{}, Nodes: strangersNodes{stranger: s}, Config: strangersConfig{stranger: s},
	}
}

type (
	strangersServer struct{ web.ServerSource }
	strangersPools  struct{ web.PoolSource }
	strangersNodes  struct {
		web.NodeSource
		*stranger
	}
	strangersConfig struct {
		web.ConfigSource
		*stranger
	}
)

func (s strangersServer) You(context.Context) web.You {
	return web.You{Actor: api.Actor{User: "ann", UID: 1000}}
}
func (s strangersNodes) List(context.Context) (*api.Nodes, error) {
	return &api.Nodes{Unit: "cpu", Nodes: []views.NodeView{{Name: "n1", State: "up", Capacity: queue.Amounts{"cpu": 4}}}},
		nil
}
func (s strangersNodes) Tasks(context.Context, []string, time.Duration) (*api.NodeTasks, error) {
	return &api.NodeTasks{Unit: "cpu"}, nil
}
func (s strangersPools) Shares(context.Context, string) (*api.Shares, error) {
	return &api.Shares{Unit: "cpu", Pools: make([]views.PoolView, 1)}, nil
}
func (s strangersServer) Failed(context.Context, error)                  {}
func (s strangersServer) Version() uint64                                { return 1 }
func (s strangersServer) Health(context.Context) *api.Diagnosis          { return &api.Diagnosis{} }
func (s strangersNodes) Limits(context.Context) (*api.Limits, error)     { return &api.Limits{}, nil }
func (s strangersNodes) LimitSeries(time.Duration) []history.LimitSeries { return nil }
func (s strangersNodes) Reservations(context.Context) (*api.Reservations, error) {
	return &api.Reservations{Reservations: []engine.Reservation{{Name: "course", Nodes: []string{"n1"},
		Pools: []string{"teaching"}}}}, nil
}
func (s strangersNodes) Reserve(context.Context, string, api.ReserveRequest) (*api.ReserveResponse, error) {
	s.acted = true
	return &api.ReserveResponse{}, nil
}
func (s strangersNodes) Unreserve(context.Context, string) (*api.ReserveResponse, error) {
	s.acted = true
	return &api.ReserveResponse{}, nil
}
func (s strangersNodes) Drain(context.Context, string, api.DrainRequest) (*api.NodeState, error) {
	s.acted = true
	return nil, nil
}
func (s strangersConfig) Rollback(context.Context, api.RollbackRequest) (*api.ApplyResponse, error) {
	s.acted = true
	return &api.ApplyResponse{}, nil
}

// TestOnlyAdministrators checks that other users get no question and no buttons, and that their forms are refused.
func TestOnlyAdministrators(t *testing.T) {
	s := &stranger{}
	mux := http.NewServeMux()
	web.New(s.source(), "test", slog.New(slog.DiscardHandler)).Register(mux)
	for _, c := range []struct{ method, path, form string }{
		{"GET", "/machines/drain?node=n1", ""}, {"POST", "/machines/drain", "node=n1"}, {"POST", "/machines/resume",
			"node=n1"},
		{"GET", "/machines/reserve?node=n1&name=x&start=now&for=1h&pools=a", ""}, {"POST", "/machines/reserve",
			"nodes=n1&name=x&start=now&for=1h&pools=a"},
		{"GET", "/machines/unreserve?name=course", ""}, {"POST", "/machines/unreserve", "name=course"},
		{"GET", "/policy/rollback?to=1", ""}, {"POST", "/policy/rollback", "to=1"},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		if mux.ServeHTTP(w, r); w.Code != http.StatusForbidden || s.acted {
			t.Errorf("%s %s: status %d, done: %v", c.method, c.path, w.Code, s.acted)
		}
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/machines", nil))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), ">n1<") ||
		strings.Contains(w.Body.String(), "machines/drain") || strings.Contains(w.Body.String(), "machines/unreserve") ||
		strings.Contains(w.Body.String(), "machines/reserve") {
		t.Errorf("the list: status %d, or it has the button", w.Code)
	}
}

// BenchmarkMachines measures how long the server takes for the page of a thousand busy nodes.
func BenchmarkMachines(b *testing.B) {
	l := newLab(b, "policy: fair\nbackfill: easy\n")
	l.join(1000)
	for u := range 20 {
		var jobs []queue.Job
		for range 100 {
			jobs = append(jobs, queue.Job{User: fmt.Sprint("user", u), Argv: []string{"true"}, Request: queue.Amounts{"cpu": 8},
				Limit: 3600e9})
		}
		if _, err := l.loop.Intake.Submit(b.Context(), jobs); err != nil {
			b.Fatal(err)
		}
	}
	l.wait("all nodes are busy", func() bool { r, _ := l.loop.Running(); return r == 2000 })
	for _, path := range []string{"/machines", "/machines?by=label:rack&q=rack=a&from=201", "/policy",
		"/machines/drain?node=n7"} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				if status, _, text := l.get(path); status != http.StatusOK {
					b.Fatalf("%d %s", status, text)
				}
			}
		})
	}
}

package server_test

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/ca"
	"github.com/fairlead/fairlead/internal/joining"
	"github.com/fairlead/fairlead/internal/permit"
	"github.com/fairlead/fairlead/internal/server"
	"github.com/fairlead/fairlead/queue"
)

// site is a server with an authority, and a clock for certificates.
type site struct {
	*rig
	t    *testing.T
	path string // path of the authority

	mu  sync.Mutex
	now time.Time
}

func (s *site) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *site) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func newSite(t *testing.T, lease time.Duration) *site {
	t.Helper()
	s := &site{t: t, path: filepath.Join(t.TempDir(), "ca.pem"), now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	if err := must(ca.New("lab", s.now)).Create(s.path); err != nil {
		t.Fatal(err)
	}
	hosts := func() []string { return []string{"127.0.0.1"} }
	k := must(ca.Open(s.path, "head", hosts, s.clock, slog.New(slog.DiscardHandler)))
	s.rig = newRigFor(t, lease, func(o *server.Options) { o.CA = k })
	return s
}

// permit makes a join token.
func (s *site) permit(node string, b permit.Bounds) string {
	s.t.Helper()
	var out permit.Invitation
	in := permit.Request{Bounds: b, TTLSeconds: 3600}
	if err := s.Call(s.t.Context(), http.MethodPost, "/v1/permits/"+node, in, &out); err != nil {
		s.t.Fatal(err)
	}
	return out.Token
}

func (s *site) open(node, dir, token string) (*joining.Identity, error) {
	return joining.Open(s.t.Context(), joining.Options{
		Address: s.nodes, Name: node, Dir: dir, Token: token, Now: s.clock, Logger: slog.New(slog.DiscardHandler),
	})
}

// machine lets a node join, and returns its identity and its client.
func (s *site) machine(node string, b permit.Bounds) (*joining.Identity, *api.Client) {
	s.t.Helper()
	i, err := s.open(node, s.t.TempDir(), s.permit(node, b))
	if err != nil {
		s.t.Fatal(err)
	}
	return i, s.client(i)
}

func (s *site) client(i *joining.Identity) *api.Client {
	s.t.Helper()
	c := must(api.DialTLS(s.nodes, i.Config))
	s.t.Cleanup(c.Close)
	return c
}

// refusals returns the refused actions in the audit record.
func (s *site) refusals() (found []queue.AuditEntry) {
	s.t.Helper()
	for _, e := range must(s.loop.Store.(queue.Auditor).Audited(s.t.Context(), queue.AuditQuery{})) {
		if e.Refused {
			found = append(found, e)
		}
	}
	return found
}

// status returns the HTTP status that corresponds to an error of a client; 200 if there is none.
func status(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return api.Status(err)
}

// TestJoinTokens: if two machines show a token at once, one of them joins. No machine joins after the token has
// expired, or under another name.
func TestJoinTokens(t *testing.T) {
	s := newSite(t, time.Minute)
	token := s.permit("n1", permit.Bounds{})
	var all sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		dir := t.TempDir()
		all.Go(func() { _, errs[i] = s.open("n1", dir, token) })
	}
	all.Wait()
	got := []int{status(errs[0]), status(errs[1])}
	slices.Sort(got)
	if !slices.Equal(got, []int{200, 401}) {
		t.Errorf("two at once: %v", errs)
	}
	if _, err := s.open("n2", t.TempDir(), s.permit("n3", permit.Bounds{})); status(err) != http.StatusForbidden {
		t.Errorf("under another name: %v", err)
	}
	if n := len(s.refusals()); n != 2 {
		t.Errorf("%d refusals are recorded, want 2", n)
	}
	if _, err := s.open("n4", t.TempDir(), ""); status(err) != http.StatusUnauthorized {
		t.Errorf("without a token: %v", err)
	}
}

// TestNothingIsSaidToAnotherServer: a machine whose token is from another authority sends nothing except the request
// for the authority's certificate.
func TestNothingIsSaidToAnotherServer(t *testing.T) {
	ours, theirs := newSite(t, time.Minute), newSite(t, time.Minute)
	token := ours.permit("n1", permit.Bounds{})
	_, err := theirs.open("n1", t.TempDir(), token)
	if err == nil || !strings.Contains(err.Error(), "certificate authority is not the one") {
		t.Errorf("joined a server of another authority: %v", err)
	}
	if n := len(theirs.refusals()); n != 0 {
		t.Errorf("%d requests to join came to the other server", n)
	}
	if _, err := ours.open("n1", t.TempDir(), token); err != nil {
		t.Errorf("the token does not count any more at its own server: %v", err)
	}
}

// TestNodesSpeakForThemselves: a node's certificate authenticates its own agent, and nothing else.
func TestNodesSpeakForThemselves(t *testing.T) {
	s := newSite(t, time.Minute)
	_, a := s.machine("a", permit.Bounds{Capacity: map[string]int64{"cpu": 2}, Labels: map[string]string{"rack": "1"}})
	_, b := s.machine("b", permit.Bounds{})
	id := must(s.Jobs.Submit(t.Context(), api.SubmitRequest{Jobs: []api.Spec{{Argv: []string{"true"}}}})).Jobs[0].ID
	good := api.JoinRequest{Capacity: map[string]int64{"cpu": 2}, Labels: map[string]string{"rack": "1", "os": "linux"}}
	tries := map[string]func(c *api.Client) error{
		"submit": func(c *api.Client) error {
			_, err := c.Jobs.Submit(t.Context(), api.SubmitRequest{Jobs: []api.Spec{{Argv: []string{"true"}}}})
			return err
		},
		"cancel": func(c *api.Client) error {
			_, err := c.Jobs.Alter(t.Context(), api.AlterRequest{Jobs: []int64{id}, Verb: "cancel"})
			return err
		},
		"config":  func(c *api.Client) error { return c.Call(t.Context(), http.MethodGet, "/v1/config", nil, nil) },
		"jobs":    func(c *api.Client) error { return c.Call(t.Context(), http.MethodGet, "/v1/jobs", nil, nil) },
		"metrics": func(c *api.Client) error { return c.Call(t.Context(), http.MethodGet, "/metrics", nil, nil) },
		"permits": func(c *api.Client) error {
			return c.Call(t.Context(), http.MethodPost, "/v1/permits/a", permit.Request{TTLSeconds: 60}, nil)
		},
		"another": func(c *api.Client) error { _, err := c.Join(t.Context(), "b", good); return err },
		"path": func(c *api.Client) error {
			return c.Call(t.Context(), http.MethodGet, "/v1/agents/a/../../config", nil, nil)
		},
		"escaped": func(c *api.Client) error {
			return c.Call(t.Context(), http.MethodPost, "/v1/agents/a%2Fx/join", good, nil)
		},
		"more": func(c *api.Client) error {
			_, err := c.Join(t.Context(), "a", api.JoinRequest{Capacity: map[string]int64{"cpu": 3}})
			return err
		},
		"label": func(c *api.Client) error {
			more := api.JoinRequest{Capacity: map[string]int64{"cpu": 2}, Labels: map[string]string{"rack": "2"}}
			_, err := c.Join(t.Context(), "a", more)
			return err
		},
	}
	for what, try := range tries {
		if err := try(a); !errors.Is(err, queue.ErrForbidden) {
			t.Errorf("%s: %v", what, err)
		}
	}
	recorded := map[string]int{}
	for _, e := range s.refusals() {
		recorded[e.Who+" "+e.Subject]++
	}
	want := map[string]int{
		"node/a POST v1/jobs": 1, "node/a GET v1/jobs": 1, "node/a GET v1/config": 1, "node/a GET metrics": 1,
		"node/a POST v1/permits": 1, "node/a POST v1/agents": 1, "node/a GET v1/agents": 1, "node/a a": 2,
	}
	if !maps.Equal(recorded, want) {
		t.Errorf("of the refusals are recorded %v, want %v", recorded, want)
	}
	if _, err := a.Join(t.Context(), "a", good); err != nil {
		t.Errorf("within its bounds: %v", err)
	}
	// Another node cannot even use the session of the first.
	mine := must(b.Join(t.Context(), "b", api.JoinRequest{Capacity: map[string]int64{"cpu": 9}}))
	if _, err := a.Poll(t.Context(), "b", api.PollRequest{Session: mine.Session}); !errors.Is(err, queue.ErrForbidden) {
		t.Errorf("poll as another node: %v", err)
	}
	if err := a.ReplyLog(t.Context(), "b", "x", api.LogReply{}); !errors.Is(err, queue.ErrForbidden) {
		t.Errorf("output of another node: %v", err)
	}
}

// TestNobodyFromOutside: without a certificate, the listener for other machines only answers requests to join.
func TestNobodyFromOutside(t *testing.T) {
	s := newSite(t, time.Minute)
	i, _ := s.machine("n1", permit.Bounds{})
	var roots permit.Roots
	anybody := must(api.DialTLS(s.nodes, i.Config))
	defer anybody.Close()
	if err := anybody.Call(t.Context(), http.MethodGet, "/v1/cluster/roots", nil, &roots); err != nil {
		t.Fatal(err)
	}
	c := must(api.DialTLS(s.nodes, without(roots.Roots, s.clock)))
	defer c.Close()
	for path, want := range map[string]int{
		"/v1/cluster/roots": 200, "/v1/jobs": 401, "/metrics": 401, "/": 401, "/login": 401, "/v1/agents/n1/join": 401,
	} {
		if err := c.Call(t.Context(), http.MethodGet, path, nil, nil); status(err) != want {
			t.Errorf("%s: %v, want %d", path, err, want)
		}
	}
	resp := must(http.Post(s.tcp+"/v1/cluster/join", "application/json", strings.NewReader("{}")))
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("joining without encryption: %s", resp.Status)
	}
}

// TestRevokedNode: the connections of a revoked node end at once, it cannot renew anything, and its tasks run elsewhere
// after their leases.
func TestRevokedNode(t *testing.T) {
	const tasks = 100
	s := newSite(t, 3*time.Second)
	i, a := s.machine("a", permit.Bounds{})
	session := must(a.Join(t.Context(), "a", api.JoinRequest{Capacity: map[string]int64{"cpu": tasks}})).Session
	must(s.Jobs.Submit(t.Context(), api.SubmitRequest{Jobs: []api.Spec{{Argv: []string{"sleep"}, Array: "0-99"}}}))
	var held []queue.Ref
	for len(held) < tasks {
		got := must(a.Poll(t.Context(), "a", api.PollRequest{Session: session, Ack: held, WaitSeconds: 1}))
		for _, l := range got.Start {
			held = append(held, l.Ref)
		}
	}
	if _, err := a.Report(t.Context(), "a", api.ReportRequest{Session: session, Renew: held}); err != nil {
		t.Fatal(err)
	}
	waits := make(chan error, 1)
	go func() {
		more := api.PollRequest{Session: session, Ack: held, WaitSeconds: 60}
		_, err := a.Poll(context.WithoutCancel(t.Context()), "a", more)
		waits <- err
	}()
	if err := s.Call(t.Context(), http.MethodPost, "/v1/permits/a/revoke", nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; err == nil {
		t.Error("the poll of a revoked node ends well")
	}
	a.Close() // closes connections that the server has closed
	late := api.ReportRequest{Session: session, Renew: held, Finished: []api.Finished{{Ref: held[0], State: "succeeded"}}}
	if _, err := a.Report(t.Context(), "a", late); !errors.Is(err, permit.ErrUnauthenticated) {
		t.Errorf("a revoked node reports: %v", err)
	}
	if err := i.Renew(t.Context()); !errors.Is(err, permit.ErrUnauthenticated) {
		t.Errorf("a revoked node renews: %v", err)
	}
	_, b := s.machine("b", permit.Bounds{})
	other := must(b.Join(t.Context(), "b", api.JoinRequest{Capacity: map[string]int64{"cpu": tasks}})).Session
	var again []queue.Ref
	for len(again) < tasks {
		got := must(b.Poll(t.Context(), "b", api.PollRequest{Session: other, Ack: again, WaitSeconds: 1}))
		for _, l := range got.Start {
			if l.Attempt != 2 {
				t.Fatalf("attempt %+v elsewhere", l.Ref)
			}
			again = append(again, l.Ref)
		}
	}
	// A stale attempt cannot be ended, over any connection.
	stale := must(b.Report(t.Context(), "b", api.ReportRequest{
		Session: other, Finished: []api.Finished{{Ref: held[0], State: "succeeded"}},
	}))
	if e := stale.Finished[0]; e == nil || e.Code != "stale_attempt" {
		t.Errorf("the end of an old attempt: %+v", e)
	}
	token := s.permit("a", permit.Bounds{})
	if _, err := s.open("a", t.TempDir(), token); err != nil {
		t.Errorf("a new token after the node was revoked: %v", err)
	}
}

// TestRevokedElsewhere: when a server learns that another server has revoked a node, it ends the polls and connections
// of that node, and leaves other nodes alone.
func TestRevokedElsewhere(t *testing.T) {
	type end struct {
		api.PollResponse
		err error
	}
	s := newSite(t, time.Minute)
	ended := map[string]chan end{}
	clients := map[string]*api.Client{}
	for _, node := range []string{"a", "b"} {
		_, c := s.machine(node, permit.Bounds{})
		session := must(c.Join(t.Context(), node, api.JoinRequest{Capacity: map[string]int64{"cpu": 1}})).Session
		joined, _ := s.loop.Present(node)
		ended[node], clients[node] = make(chan end, 1), c
		go func() {
			got, err := c.Poll(context.WithoutCancel(t.Context()), node, api.PollRequest{Session: session, WaitSeconds: 60})
			if err != nil {
				got = &api.PollResponse{}
			}
			ended[node] <- end{*got, err}
		}()
		await.True(t, "the server hears the poll", func() bool {
			heard, _ := s.loop.Present(node)
			return heard.After(joined)
		})
	}
	if err := s.loop.Store.(permit.Keeper).Revoke(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := s.server.DropRevoked(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Otherwise the poll would end after a third of the lease, with nothing. If the server has received a poll but not
	// yet looked up its session, the answer is that the session is over; a later poll loses its connection.
	if e := <-ended["a"]; !e.Rejoin && !errors.Is(e.err, api.ErrUnreachable) {
		t.Errorf("the poll of a ends with %+v", e)
	}
	clients["a"].Close() // closes a connection that the server has closed
	if _, err := clients["a"].Poll(t.Context(), "a", api.PollRequest{}); !errors.Is(err, permit.ErrUnauthenticated) {
		t.Errorf("a polls again: %v", err)
	}
	select {
	case e := <-ended["b"]:
		t.Errorf("the poll of b ends with %+v", e)
	default:
	}
}

// TestAddressesOfMachines: the listener for other machines is not an address for browsers.
func TestAddressesOfMachines(t *testing.T) {
	s := newSite(t, time.Minute)
	var st api.ServerStatus
	if err := s.Call(t.Context(), http.MethodGet, "/v1/status", nil, &st); err != nil {
		t.Fatal(err)
	}
	if len(st.Listen) != 3 {
		t.Errorf("it listens on %v", st.Listen)
	}
	if link := s.server.Invite(0, time.Minute); !strings.HasPrefix(link, s.tcp) {
		t.Errorf("the dashboard is at %s, want %s", link, s.tcp)
	}
}

// TestRenewalsAndExchange: certificates are renewed while they are valid, and for a week after. The authority can be
// exchanged. Neither ends a session.
func TestRenewalsAndExchange(t *testing.T) {
	s := newSite(t, time.Minute)
	dir := t.TempDir()
	first, err := s.open("n1", dir, s.permit("n1", permit.Bounds{}))
	if err != nil {
		t.Fatal(err)
	}
	c := s.client(first)
	session := must(c.Join(t.Context(), "n1", api.JoinRequest{Capacity: map[string]int64{"cpu": 1}})).Session
	poll := func(when string) {
		t.Helper()
		if got, err := c.Poll(t.Context(), "n1", api.PollRequest{Session: session}); err != nil || got.Rejoin {
			t.Errorf("%s: %+v, %v", when, got, err)
		}
	}
	for _, away := range []time.Duration{ca.Lasts + time.Minute, ca.Lasts + 6*24*time.Hour} {
		s.pass(away)
		if _, err := s.open("n1", dir, ""); err != nil {
			t.Fatalf("renew %v after it was made: %v", away, err)
		}
		if err := first.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.Close() // closes idle connections, so that the next one shows the new certificate
		poll("after a renewal")
	}
	exchanged := must(must(ca.Load(s.path)).Exchange(s.clock()))
	if err := exchanged.Save(s.path); err != nil {
		t.Fatal(err)
	}
	c.Close()
	poll("with the old certificate after an exchange")
	for range 50 {
		if err := first.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
	poll("after renewals by the new authority")
	s.pass(ca.Lasts + ca.Late + time.Hour)
	if _, err := s.open("n1", dir, ""); status(err) != http.StatusUnauthorized {
		t.Errorf("a certificate that ended eight days ago: %v", err)
	}
	if _, err := s.open("n1", dir, s.permit("n1", permit.Bounds{})); err != nil {
		t.Errorf("with a new token: %v", err)
	}
}

// TestNodesAreForAdministrators: only administrators can permit nodes, and only with an authority.
func TestNodesAreForAdministrators(t *testing.T) {
	r := newRig(t)
	err := r.Call(t.Context(), http.MethodPost, "/v1/permits/n1", permit.Request{TTLSeconds: 60}, nil)
	if !errors.Is(err, queue.ErrState) || !strings.Contains(err.Error(), "cluster init") {
		t.Errorf("without an authority: %v", err)
	}
	s := newSite(t, time.Minute)
	before := len(must(s.list()))
	resp := must(http.Post(s.tcp+"/v1/permits/n1", "application/json", strings.NewReader(`{"ttl_seconds": 60}`)))
	resp.Body.Close()
	if after := len(must(s.list())); resp.StatusCode != http.StatusUnauthorized || after != before {
		t.Errorf("nobody permits a node: %s, %d permits", resp.Status, after)
	}
	s.permit("n1", permit.Bounds{})
	if after := len(must(s.list())); after != before+1 {
		t.Errorf("%d permits, want %d", after, before+1)
	}
}

func (s *site) list() ([]permit.Permit, error) {
	var out permit.List
	err := s.Call(s.t.Context(), http.MethodGet, "/v1/permits", nil, &out)
	return out.Permits, err
}

// without returns a configuration that shows no certificate.
func without(roots string, clock func() time.Time) func(string) (*tls.Config, error) {
	return func(host string) (*tls.Config, error) { return ca.Config(roots, host, clock) }
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

package server_test

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/server"
	"github.com/fairlead/fairlead/internal/token"
	"github.com/fairlead/fairlead/queue"
)

// as returns a client of the same server with a token.
func (r *rig) as(t *testing.T, text string) *api.Client {
	t.Helper()
	c, err := api.Dial(r.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.Token = text
	return c
}

func (r *rig) token(t *testing.T, in token.TokenRequest) *token.TokenCreated {
	t.Helper()
	made := new(token.TokenCreated)
	if err := r.Call(t.Context(), http.MethodPost, "/v1/tokens", in, made); err != nil {
		t.Fatal(err)
	}
	return made
}

// revoke revokes a token on behalf of the client's user.
func revoke(t *testing.T, c *api.Client, id string) error {
	t.Helper()
	return c.Call(t.Context(), http.MethodDelete, "/v1/tokens/"+id, nil, nil)
}

var trueJob = api.SubmitRequest{Jobs: []api.Spec{{Argv: []string{"true"}}}, Unsatisfiable: true}

// TestTokens: a token is valid for its scopes and in its pools, cannot make another token, and works on the socket.
func TestTokens(t *testing.T) {
	r := newRig(t)
	made := r.token(t, token.TokenRequest{Scopes: []string{"submit"}, Pools: []string{"web"}, Note: "the shop"})
	shop := r.as(t, made.Text)
	inWeb := trueJob
	inWeb.Jobs = []api.Spec{{Argv: []string{"true"}, Pool: "web/a"}}
	out, err := shop.Jobs.Submit(t.Context(), inWeb)
	if err != nil || out.Jobs[0].Error != nil {
		t.Fatalf("submit into web/a: %v %+v", err, out)
	}
	elsewhere := trueJob
	elsewhere.Jobs = []api.Spec{{Argv: []string{"true"}, Pool: "other"}}
	refused := map[string]func() error{
		"submit into other": func() error {
			out, err := shop.Jobs.Submit(t.Context(), elsewhere)
			return firstError(out, err)
		},
		"cancel": func() error {
			out, err := shop.Jobs.Alter(t.Context(), api.AlterRequest{Verb: "cancel", Jobs: []int64{1}})
			if err == nil {
				err = out.Results[0].Err()
			}
			return err
		},
		"look": func() error { _, err := shop.Status(t.Context()); return err },
		"make one": func() error {
			return shop.Call(t.Context(), http.MethodPost, "/v1/tokens", token.TokenRequest{Scopes: []string{"submit"}}, nil)
		},
		"list them":   func() error { return shop.Call(t.Context(), http.MethodGet, "/v1/tokens", nil, nil) },
		"revoke":      func() error { return revoke(t, shop, made.Token.ID) },
		"a dashboard": func() error { _, err := shop.SignIn(t.Context(), api.SignInRequest{}); return err },
	}
	for what, do := range refused {
		if err := do(); !errors.Is(err, queue.ErrForbidden) {
			t.Errorf("%s: %v", what, err)
		}
	}
	full := r.as(t, r.token(t, token.TokenRequest{Scopes: []string{"admin"}}).Text)
	if err := full.Call(t.Context(), http.MethodGet, "/v1/tokens", nil, nil); err != nil {
		t.Errorf("a token for everything lists tokens: %v", err)
	}
	more := token.TokenRequest{Scopes: []string{"read"}}
	if err := full.Call(t.Context(), http.MethodPost, "/v1/tokens", more, nil); !errors.Is(err, queue.ErrForbidden) {
		t.Errorf("a token for everything makes another: %v", err)
	}
	if got := overTCP(t, r.tcp, full.Token); got != http.StatusUnauthorized {
		t.Errorf("over plain TCP a token gets status %d", got)
	}
}

// TestTokensOfPools: an administrator's token for a pool can change nothing outside the pool, and nothing of the whole
// cluster.
func TestTokensOfPools(t *testing.T) {
	r := newRig(t)
	r.submit(t, api.Spec{Argv: []string{"true"}, Pool: "web", Env: map[string]string{"SECRET": "w"}},
		api.Spec{Argv: []string{"true"}, Pool: "other", Env: map[string]string{"SECRET": "o"}})
	c := r.as(t, r.token(t, token.TokenRequest{Scopes: []string{"admin"}, Pools: []string{"web"}}).Text)
	for id, shown := range map[int64]bool{1: true, 2: false} {
		job, err := c.Jobs.Get(t.Context(), id)
		if err != nil || (len(job.Job.Env) > 0) != shown {
			t.Errorf("job %d: %v, shows its variables: %v", id, err, !shown)
		}
	}
	for what, err := range map[string]error{
		"set weights": c.Call(t.Context(), http.MethodPost, "/v1/config/set", api.SettingsRequest{
			Settings: []api.SettingValue{{Path: "policy", Value: "fifo"}}}, nil),
		"drain":  c.Call(t.Context(), http.MethodPost, "/v1/nodes/n/drain", api.DrainRequest{Drain: true}, nil),
		"tokens": c.Call(t.Context(), http.MethodGet, "/v1/tokens", nil, nil),
		"join": func() error {
			_, err := c.Join(t.Context(), "n", api.JoinRequest{Capacity: map[string]int64{"cpu": 1}})
			return err
		}(),
	} {
		if !errors.Is(err, queue.ErrForbidden) {
			t.Errorf("%s: %v", what, err)
		}
	}
	bad := token.TokenRequest{Scopes: []string{"run:mail"}, Pools: []string{"web"}}
	if err := r.Call(t.Context(), http.MethodPost, "/v1/tokens", bad, nil); !errors.Is(err, queue.ErrInvalid) {
		t.Errorf("a token to run the jobs of a pool: %v", err)
	}
	alters := r.as(t, r.token(t, token.TokenRequest{Scopes: []string{"alter"}}).Text)
	out, err := alters.Jobs.Alter(t.Context(), api.AlterRequest{Verb: "requeue", Jobs: []int64{1}})
	if err != nil || !errors.Is(out.Results[0].Err(), queue.ErrForbidden) {
		t.Errorf("requeue without the scope submit: %v, %+v", err, out)
	}
}

func firstError(out *api.SubmitResponse, err error) error {
	if err == nil && out.Jobs[0].Error != nil {
		return out.Jobs[0].Error.Err()
	}
	return err
}

func overTCP(t *testing.T, address, text string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/v1/status", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+text)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	resp.Body.Close()
	return resp.StatusCode
}

// TestTokensEnd: a revoked token, an expired token and a token with a changed letter show nothing. With such a token,
// the identity that the system knows for the client does not count either.
func TestTokensEnd(t *testing.T) {
	r := newRig(t)
	made := r.token(t, token.TokenRequest{Scopes: []string{"read"}})
	c := r.as(t, made.Text)
	if _, err := c.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := byte('A')
	if made.Text[len(made.Text)-1] == last {
		last = 'E'
	}
	short := r.token(t, token.TokenRequest{Scopes: []string{"read"}, LastSeconds: 1e-9})
	for what, text := range map[string]string{
		"another secret": made.Text[:len(made.Text)-1] + string(last), "another id": "fl_0000000000" + made.Text[13:],
		"over": short.Text, "nonsense": "hello",
	} {
		if _, err := r.as(t, text).Status(t.Context()); err == nil || !strings.Contains(err.Error(), "token") {
			t.Errorf("%s: %v", what, err)
		}
	}
	stream, err := c.Open(t.Context(), "/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if err := revoke(t, r.Client, made.Token.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Status(t.Context()); err == nil {
		t.Error("a revoked token counts")
	}
	buf := make([]byte, 1<<10)
	for err = nil; err == nil; { // otherwise the stream would never end
		_, err = stream.Read(buf)
	}
	if err := revoke(t, r.Client, "none"); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("revoke an unknown one: %v", err)
	}
}

// TestTokensOfKinds: a worker with a token for one kind can run jobs of that kind, but an agent cannot use the token.
func TestTokensOfKinds(t *testing.T) {
	r := newRig(t)
	c := r.as(t, r.token(t, token.TokenRequest{Scopes: []string{"run:mail"}}).Text)
	join := func(kinds ...string) (*api.JoinResponse, error) {
		return c.Join(t.Context(), "w", api.JoinRequest{Capacity: map[string]int64{"cpu": 1}, Kinds: kinds, Instance: "i"})
	}
	for _, kinds := range [][]string{nil, {"print"}, {"mail", "print"}} {
		if _, err := join(kinds...); !errors.Is(err, queue.ErrForbidden) {
			t.Errorf("join for %v: %v", kinds, err)
		}
	}
	joined, err := join("mail")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Poll(t.Context(), "w", api.PollRequest{Session: joined.Session}); err != nil {
		t.Errorf("poll: %v", err)
	}
	if out, err := c.Poll(t.Context(), "w", api.PollRequest{Session: "over"}); err != nil || out == nil {
		t.Errorf("poll in a session that is over: %v, %v", out, err)
	}
	agent, err := r.Join(t.Context(), "n", api.JoinRequest{Capacity: map[string]int64{"cpu": 1}, Instance: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Poll(t.Context(), "n", api.PollRequest{Session: agent.Session}); !errors.Is(err, queue.ErrForbidden) {
		t.Errorf("poll as an agent: %v", err)
	}
}

// TestTokensOfOtherServers: a token that another server of the same store has revoked stays valid for some seconds at
// most.
func TestTokensOfOtherServers(t *testing.T) {
	var keeper token.Keeper
	r := newRig(t, func(o *server.Options) { keeper = o.Store.(token.Keeper) })
	made := r.token(t, token.TokenRequest{Scopes: []string{"read"}})
	c := r.as(t, made.Text)
	if _, err := c.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	stream, err := c.Open(t.Context(), "/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if err := keeper.RevokeToken(t.Context(), made.Token.ID); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1<<10)
	for err = nil; err == nil; { // the server checks every few seconds
		_, err = stream.Read(buf)
	}
	if netErr := net.Error(nil); errors.As(err, &netErr) && netErr.Timeout() {
		t.Error(err)
	}
	if _, err := c.Status(t.Context()); err == nil {
		t.Error("a token that another server revoked counts")
	}
}

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/access"
)

// vouched is an authenticator that believes a header: for tests only.
type vouched struct{}

func (vouched) Authenticate(_ net.Conn, r *http.Request) (*access.Proof, error) {
	switch name := r.Header.Get("X-Test"); name {
	case "":
		return nil, nil
	case "liar":
		return nil, errors.New("the certificate is revoked")
	default:
		p := access.Principal{Kind: access.Node, Name: name, UID: -1, Via: access.ByCertificate, Admin: true}
		return &access.Proof{Principal: p}, nil
	}
}

// TestListenerHasItsAuthenticator: if a listener has its own authenticator, only that identifies its requests; rights
// that the authenticator claims do not count. Other listeners do not ask it.
func TestListenerHasItsAuthenticator(t *testing.T) {
	d := newDesk(t)
	own, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Serve(ctx, Authenticated{own, vouched{}}, plain) }()
	t.Cleanup(func() { cancel(); <-ended })
	for _, c := range []struct {
		at     net.Listener
		shows  string
		path   string
		status int
	}{
		{own, "n17", "agents/n17/poll", 200}, {own, "n17", "agents/n18/poll", 403}, {own, "n17", "config/unset", 403},
		{own, "", "agents/n17/poll", 401}, {own, "liar", "agents/n17/poll", 401}, {plain, "n17", "agents/n17/poll", 401},
	} {
		body := strings.NewReader(`{"session": "x"}`)
		r, err := http.NewRequest(http.MethodPost, "http://"+c.at.Addr().String()+"/v1/"+c.path, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Test", c.shows)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.status {
			t.Errorf("%q, %s: status %d, want %d", c.shows, c.path, answer.StatusCode, c.status)
		}
	}
}

// TestAllGroupsOfAUser: the system lists all groups of a user, the primary one first.
func TestAllGroupsOfAUser(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.Atoi(me.Uid)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := me.GroupIds()
	if err != nil {
		t.Fatal(err)
	}
	p, err := newNames().principal(uid, access.BySocket)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		g, err := user.LookupGroupId(id)
		if err != nil {
			continue
		}
		if !p.In(g.Name) || id == me.Gid && p.Group() != g.Name {
			t.Errorf("%s is missing, or not the first: %s", g.Name, p.Groups)
		}
	}
	if !p.Known() || !p.Owns(me.Username) || p.Owns("") || slices.Contains(p.Groups[1:], p.Group()) {
		t.Errorf("%+v", p)
	}
}

// TestQuotasTellPrincipalsApart: quotas count each principal without a user number separately, and as no user.
func TestQuotasTellPrincipalsApart(t *testing.T) {
	seen := map[int]string{}
	for _, p := range []access.Principal{
		{Kind: access.User, Name: "ann", UID: 1000}, {Kind: access.User, Name: "root"}, access.Unknown(),
		{Kind: access.Node, Name: "n1", UID: -1}, {Kind: access.Node, Name: "n2", UID: -1},
		{Kind: access.Service, Name: "n1", UID: -1},
	} {
		holder := holderOf(&p)
		if other, twice := seen[holder]; twice {
			t.Errorf("%+v counts as %s", p, other)
		}
		if (holder >= 0) != (p.Kind == access.User) {
			t.Errorf("%+v counts as the user %d", p, holder)
		}
		seen[holder] = fmt.Sprint(p)
	}
}

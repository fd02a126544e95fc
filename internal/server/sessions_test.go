package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
)

// TestLinks: a code works once, for a limited time, and a user has only a few.
func TestLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBrowsers()
		code, _ := x.invite(1000, linkLasts, false)
		if _, uid, ok := x.begin(code); !ok || uid != 1000 {
			t.Errorf("the code is of %d, %v", uid, ok)
		}
		for _, wrong := range []string{code, "", "x"} {
			if _, _, ok := x.begin(wrong); ok {
				t.Errorf("%q begins a session", wrong)
			}
		}
		late, _ := x.invite(1000, linkLasts, false)
		time.Sleep(linkLasts)
		if _, _, ok := x.begin(late); ok {
			t.Error("a code works after its time")
		}
		other, _ := x.invite(1001, linkLasts, false)
		first, _ := x.invite(1000, linkLasts, false)
		for range linksEach {
			time.Sleep(time.Millisecond)
			x.invite(1000, linkLasts, false)
		}
		if _, _, ok := x.begin(first); ok || len(x.links) != linksEach+1 {
			t.Errorf("the first of too many codes works: %v; there are %d", ok, len(x.links))
		}
		if _, uid, ok := x.begin(other); !ok || uid != 1001 {
			t.Error("the code of another user does not work")
		}
	})
}

// begun begins a session of a user.
func (x *browsers) begun(t *testing.T, uid int) string {
	t.Helper()
	code, _ := x.invite(uid, linkLasts, false)
	shown, _, ok := x.begin(code)
	if !ok {
		t.Fatal("a code does not work")
	}
	return shown
}

// TestSessionsEnd: sessions end after twelve hours, after two hours without a request, or on request.
func TestSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBrowsers()
		use := func(shown string) bool {
			b, done := x.use(shown)
			if b == nil {
				return false
			}
			done()
			return true
		}
		began := time.Now()
		busy, idle := x.begun(t, 1000), x.begun(t, 1000)
		for range 7 {
			time.Sleep(sessionIdle - time.Minute)
			if used, inTime := use(busy), time.Since(began) < sessionLasts; used != inTime {
				t.Errorf("after %v the session can be used: %v", time.Since(began), used)
			}
			if late := time.Since(began) >= sessionIdle; late && use(idle) {
				t.Error("a session that nobody used is there")
			}
		}
		open := x.begun(t, 1000)
		b, done := x.use(open) // an open page keeps its session
		time.Sleep(sessionIdle + time.Minute)
		if !use(open) || b.ctx.Err() != nil {
			t.Error("the session of an open page ended because nothing else was asked")
		}
		time.Sleep(sessionLasts)
		if use(open) || b.ctx.Err() == nil {
			t.Error("a session goes on after its time")
		}
		done()
		a, c, other := x.begun(t, 1000), x.begun(t, 1000), x.begun(t, 1001)
		x.end(a)
		if use(a) || !use(c) {
			t.Error("the wrong session was ended")
		}
		x.invite(1000, linkLasts, false)
		if n := x.endAll(1000); n != 1 || use(c) || !use(other) || len(x.links) != 0 {
			t.Errorf("%d sessions were ended, %d codes are left", n, len(x.links))
		}
		oldest := x.begun(t, 1000)
		for range sessionsEach {
			time.Sleep(time.Millisecond)
			x.begun(t, 1000)
		}
		if use(oldest) || !use(other) || len(x.sessions) != sessionsEach+1 {
			t.Errorf("there are %d sessions", len(x.sessions))
		}
		x.endAll(1000)
		x.endAll(1001)
	})
}

// TestSignInNeedsTheSocket: codes are given out only on the socket, and a server without an address names the next
// step.
func TestSignInNeedsTheSocket(t *testing.T) {
	d := newDesk(t)
	d.addresses.web = []string{"127.0.0.1:1"}
	for _, c := range []struct {
		who    access.Principal
		status int
	}{
		{access.Principal{Kind: access.User, Name: "ann", UID: 1000, Via: access.BySocket}, http.StatusOK},
		{access.Principal{Kind: access.User, Name: "ann", UID: 1000, Via: access.BySession}, http.StatusForbidden},
		{unknown, http.StatusUnauthorized},
	} {
		var r api.SignInResponse
		if status := d.send(c.who, http.MethodPost, "/v1/sign-in", api.SignInRequest{}, &r); status != c.status || (status == 200) != (r.Address != "") {
			t.Errorf("%+v: status %d, %+v", c.who, status, r)
		}
	}
	d.addresses.web = nil
	owner := access.Principal{Kind: access.User, UID: 0, Via: access.BySocket}
	if status := d.send(owner, http.MethodPost, "/v1/sign-in", api.SignInRequest{}, nil); status != http.StatusConflict {
		t.Errorf("without an address: status %d", status)
	}
}

// TestAdministratorsForMinutes: a session with administrator's rights can change things for a quarter of an hour; after
// that it can only read.
func TestAdministratorsForMinutes(t *testing.T) {
	d := newDesk(t)
	synctest.Test(t, func(t *testing.T) {
		x := newBrowsers()
		a := sessions{d.identity.names, x, func(p *access.Principal) bool { return p.UID == 0 }}
		scopes := func(shown string) []string {
			t.Helper()
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.AddCookie(&http.Cookie{Name: cookieName(r), Value: shown})
			proof, err := a.Authenticate(nil, r)
			if err != nil || proof == nil {
				t.Fatalf("%+v, %v", proof, err)
			}
			proof.Done()
			return proof.Principal.Scopes
		}
		code, _ := x.invite(0, linkLasts, true)
		asked, _, _ := x.begin(code)
		looks, user := x.begun(t, 0), x.begun(t, 1000)
		if scopes(asked) != nil || scopes(looks) == nil || scopes(user) != nil {
			t.Errorf("%v, %v, %v", scopes(asked), scopes(looks), scopes(user))
		}
		time.Sleep(adminLasts)
		if scopes(asked) == nil || scopes(user) != nil {
			t.Errorf("after a quarter of an hour: %v, %v", scopes(asked), scopes(user))
		}
		x.endAll(0)
		x.endAll(1000)
	})
}

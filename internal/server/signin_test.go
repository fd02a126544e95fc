package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/server"
)

// answerOf sends a request and returns the status and the text.
func answerOf(t *testing.T, c *http.Client, method, address, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// everyRoute returns the operations of the interface with paths that may exist, and the pages.
func everyRoute(t *testing.T, r *rig) (all [][2]string) {
	t.Helper()
	text, err := r.server.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range doc.Paths {
		for method := range methods {
			all = append(all, [2]string{strings.ToUpper(method), regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "1")})
		}
	}
	for _, path := range []string{"/", "/queue", "/machines", "/policy", "/jobs/1", "/pool?pool=a", "/nothing"} {
		all = append(all, [2]string{"GET", path}, [2]string{"POST", path})
	}
	return append(all, [2]string{"POST", "/act"}, [2]string{"GET", "/metrics"})
}

// TestAddressWithoutSessionShowsNothing: a client that connects over TCP without a session gets only what the
// configuration shows to everybody, and changes nothing.
func TestAddressWithoutSessionShowsNothing(t *testing.T) {
	for _, c := range []struct {
		shown         string
		metrics, view bool
	}{{"", false, false}, {config.SeeNothing, false, false}, {config.SeeMetrics, true, false}, {config.SeeAll, true, true}} {
		r := newRig(t, func(o *server.Options) { o.Anonymous = c.shown })
		ids := r.submit(t, api.Spec{Argv: []string{"true"}, Env: map[string]string{"TOKEN": "sesame"}, Held: true})
		for _, route := range everyRoute(t, r) {
			if route[1] == "/v1/events" {
				continue // this answer has no end
			}
			status, text := answerOf(t, http.DefaultClient, route[0], r.tcp+route[1], "{}", "Content-Type", "application/json", "Cookie", "fairlead-session-1=x")
			open := c.view && route[0] == "GET" || c.metrics && route[1] == "/metrics"
			if open == (status == http.StatusUnauthorized) {
				t.Errorf("%q: %v: status %d", c.shown, route, status)
			}
			if strings.Contains(text, "sesame") {
				t.Errorf("%q: %v shows the environment of a job", c.shown, route)
			}
		}
		for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/openapi.yaml", "/assets/style.css"} {
			if status, _ := answerOf(t, http.DefaultClient, "GET", r.tcp+path, ""); status == http.StatusUnauthorized {
				t.Errorf("%q: %s: status %d", c.shown, path, status)
			}
		}
		if job, err := r.Jobs.Get(t.Context(), ids[0]); err != nil || job.Job.State != "held" {
			t.Errorf("the job is %+v, %v", job, err)
		}
	}
	r := newRig(t)
	resp, err := http.Get(r.tcp + "/v1/jobs")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.Header.Get("WWW-Authenticate") == "" || resp.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("the answer to a program has the headers %v", resp.Header)
	}
	if _, text := answerOf(t, http.DefaultClient, "GET", r.tcp+"/queue", "", "Accept", "text/html"); !strings.Contains(text, "<html") || !strings.Contains(text, "fairlead dashboard") {
		t.Errorf("a browser is told: %s", text)
	}
}

// TestSession: a code from the socket begins one session, of the user who got the code. It ends when the user signs
// out.
func TestSession(t *testing.T) {
	r := newRig(t)
	link, err := r.SignIn(t.Context(), api.SignInRequest{Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(link.Address, r.tcp+"/login?code=") || time.Until(link.Until) > time.Minute {
		t.Errorf("the address %s works until %v", link.Address, link.Until)
	}
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, h := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Purpose", "prefetch;prerender"}} {
		if status, _ := answerOf(t, stay, "GET", link.Address, "", h...); status != http.StatusForbidden {
			t.Errorf("with %v: status %d", h, status)
		}
	}
	if status, _ := answerOf(t, stay, "HEAD", link.Address, ""); status != http.StatusForbidden {
		t.Errorf("HEAD: status %d", status)
	}
	resp, err := stay.Get(link.Address)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	cookies := resp.Cookies()
	if resp.StatusCode != http.StatusSeeOther || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode || cookies[0].MaxAge <= 0 || resp.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("status %d, %v, %v", resp.StatusCode, cookies, resp.Header)
	}
	if status, _ := answerOf(t, stay, "GET", link.Address, ""); status != http.StatusUnauthorized {
		t.Errorf("the code works again: status %d", status)
	}
	cookie := []string{"Cookie", cookies[0].Name + "=" + cookies[0].Value}
	status, text := answerOf(t, stay, "GET", r.tcp+"/v1/status", "", cookie...)
	var st api.ServerStatus
	if err := json.Unmarshal([]byte(text), &st); err != nil || status != 200 || st.You.UID != os.Getuid() || st.You.By != "session" || !st.You.Admin {
		t.Errorf("status %d, %+v, %v", status, st.You, err)
	}
	wrong := []string{"Cookie", cookies[0].Name + "=" + cookies[0].Value[1:] + "x"}
	if status, _ := answerOf(t, stay, "GET", r.tcp+"/v1/status", "", wrong...); status != http.StatusUnauthorized {
		t.Errorf("another secret: status %d", status)
	}
	if status, text := answerOf(t, stay, "POST", r.tcp+"/v1/sign-in", "{}", append(cookie, "Content-Type", "application/json")...); status != http.StatusForbidden {
		t.Errorf("a session begins another one: status %d: %s", status, text)
	}
	if status, _ := answerOf(t, stay, "POST", r.tcp+"/logout", "", append(cookie, "Sec-Fetch-Site", "cross-site")...); status != http.StatusForbidden {
		t.Errorf("another site signs the user out: status %d", status)
	}
	if _, text := answerOf(t, stay, "POST", r.tcp+"/logout", "", append(cookie, "Accept", "text/html")...); !strings.Contains(text, "you have signed out") {
		t.Errorf("signing out: %s", text)
	}
	if status, _ := answerOf(t, stay, "GET", r.tcp+"/v1/status", "", cookie...); status != http.StatusUnauthorized {
		t.Errorf("after signing out: status %d", status)
	}
	// A form that is sent after the end of the session is refused, but the typed script is not lost.
	typed := url.Values{"text": {"#!/bin/sh\necho <b>mine</b>\n"}, "name": {"a"}}.Encode()
	form := append(cookie, "Accept", "text/html", "Content-Type", "application/x-www-form-urlencoded")
	status, text = answerOf(t, stay, "POST", r.tcp+"/submit", typed, form...)
	if status != http.StatusUnauthorized || !strings.Contains(text, "\necho &lt;b&gt;mine&lt;/b&gt;\n</textarea>") {
		t.Errorf("a form after signing out: status %d\n%s", status, text)
	}
}

// TestSessionEndsItsStreams: after a user signs out everywhere, open pages receive nothing more.
func TestSessionEndsItsStreams(t *testing.T) {
	r := newRig(t)
	browser := r.browser(t)
	if j, ok := browser.Jar.(*cookiejar.Jar); !ok || j == nil {
		t.Fatal("there are no cookies")
	}
	resp, err := browser.Get(r.tcp + "/v1/events")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() {
		t.Fatal("there are no events")
	}
	if out, err := r.SignOut(t.Context()); err != nil || out.Ended != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	ended := make(chan bool)
	go func() {
		for lines.Scan() {
		}
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the stream goes on")
	}
}

// TestSocketIsIdentity: on the socket the system identifies the user, and a session has no effect.
func TestSocketIsIdentity(t *testing.T) {
	r := newRig(t)
	st, err := r.Status(t.Context())
	if err != nil || st.You.UID != os.Getuid() || st.You.By != "socket" {
		t.Errorf("status %+v, %v", st, err)
	}
}

// sessionCookie begins a session and returns its cookie.
func (r *rig) sessionCookie(t *testing.T, in api.SignInRequest) *http.Cookie {
	t.Helper()
	link, err := r.SignIn(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := stay.Get(link.Address)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if len(resp.Cookies()) != 1 {
		t.Fatalf("status %d, %v", resp.StatusCode, resp.Cookies())
	}
	return resp.Cookies()[0]
}

// TestAdministratorsOnlyLook: the browser shows the cookie of an administrator to all ports. Somebody who gets that
// cookie can change nothing with it, act for nobody, and read nobody's secrets, unless the administrator asked for more
// rights.
func TestAdministratorsOnlyLook(t *testing.T) {
	r := newRig(t)
	ids := r.submit(t, api.Spec{Argv: []string{"true"}, Env: map[string]string{"TOKEN": "sesame"}, Held: true})
	job := fmt.Sprint(ids[0])
	for _, admin := range []bool{false, true} {
		c := r.sessionCookie(t, api.SignInRequest{Admin: admin})
		with := func(more ...string) []string {
			return append(more, "Cookie", c.Name+"="+c.Value, "Content-Type", "application/json")
		}
		page := "/jobs/" + job
		if _, text := answerOf(t, http.DefaultClient, "GET", r.tcp+page, "", with("Accept", "text/html")...); admin ==
			strings.Contains(text, ">read-only<") || admin != strings.Contains(text, "verb=release") {
			t.Errorf("admin %v: the page has a session that only looks: %v, a button to release: %v", admin,
				strings.Contains(text, ">read-only<"), strings.Contains(text, "verb=release"))
		}
		_, text := answerOf(t, http.DefaultClient, "GET", r.tcp+"/v1/jobs/"+job, "", with()...)
		if admin != strings.Contains(text, "sesame") {
			t.Errorf("admin %v: the job is %s", admin, text)
		}
		for _, x := range [][]string{
			{"POST", "/v1/jobs", `{"jobs":[{"argv":["true"]}]}`},
			{"POST", "/v1/jobs", `{"jobs":[{"argv":["true"]}]}`, "X-Fairlead-As", "vic"},
			{"POST", "/v1/config/set", `{"settings":{"policy":"fair"}}`},
			{"POST", "/v1/nodes/n1/drain", `{}`},
			{"POST", "/v1/agents/n1/join", `{}`},
		} {
			status, text := answerOf(t, http.DefaultClient, x[0], r.tcp+x[1], x[2], with(x[3:]...)...)
			if !admin && (status < 400 || strings.Contains(x[1], "/v1/jobs") && status != http.StatusForbidden) ||
				admin && strings.Contains(x[1], "/v1/jobs") && status != http.StatusOK {
				t.Errorf("admin %v: %v: status %d: %s", admin, x, status, text)
			}
		}
		body := `{"verb":"release","jobs":[` + job + `]}`
		_, text = answerOf(t, http.DefaultClient, "POST", r.tcp+"/v1/jobs/alter", body, with()...)
		if !admin != strings.Contains(text, "fairlead dashboard --admin") {
			t.Errorf("admin %v: a release is answered by %s", admin, text)
		}
	}
}

// TestForeignCookies: a page on another port of the machine can give the browser cookies with the name of the session
// cookie for some paths, and these cookies come first. Neither an invalid cookie nor the cookie of another session
// replaces the user's own.
func TestForeignCookies(t *testing.T) {
	r := newRig(t)
	mine, other := r.sessionCookie(t, api.SignInRequest{Admin: true}), r.sessionCookie(t, api.SignInRequest{})
	for _, before := range []string{"worthless", other.Value} {
		shown := mine.Name + "=" + before + "; " + mine.Name + "=" + mine.Value
		status, text := answerOf(t, http.DefaultClient, "GET", r.tcp+"/v1/status", "", "Cookie", shown)
		var st api.ServerStatus
		if err := json.Unmarshal([]byte(text), &st); err != nil || status != http.StatusOK || st.You.OnlyLooks ||
			st.You.AdminUntil == nil || time.Until(*st.You.AdminUntil) > 15*time.Minute {
			t.Errorf("%s: status %d, %+v, %v", shown, status, st.You, err)
		}
	}
	shown := mine.Name + "=" + mine.Value
	answerOf(t, http.DefaultClient, "POST", r.tcp+"/logout", "", "Cookie", mine.Name+"=worthless; "+shown)
	if status, _ := answerOf(t, http.DefaultClient, "GET", r.tcp+"/v1/status", "", "Cookie", shown); status != 401 {
		t.Errorf("after signing out: status %d", status)
	}
}

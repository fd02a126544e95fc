package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// writes returns all operations of the interface that change something, with paths that exist, and the forms of the
// dashboard.
func writes(t *testing.T, d *desk) (all [][2]string) {
	t.Helper()
	text, err := d.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for path, operations := range doc.Paths {
		for method := range operations {
			if method = strings.ToUpper(method); method != http.MethodGet {
				all = append(all, [2]string{method, regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "1")})
			}
		}
	}
	if len(all) < 20 {
		t.Fatalf("there are only %d operations that change something", len(all))
	}
	for _, path := range []string{"/act", "/machines/drain", "/machines/resume", "/policy/edit", "/policy/apply", "/policy/rollback"} {
		all = append(all, [2]string{http.MethodPost, path})
	}
	return all
}

// raw sends a request of root with an unchanged body and headers.
func (d *desk) raw(method, target, body string, headers ...string) (int, string) {
	d.t.Helper()
	r := httptest.NewRequest(method, "http://localhost"+target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r.WithContext(context.WithValue(d.t.Context(), principalKey{}, root)))
	return w.Code, w.Body.String()
}

// TestNoWriteFromElsewhere: a page of another site cannot change anything, whatever the operation and the form of the
// request. A page under another name for this machine cannot even read anything.
func TestNoWriteFromElsewhere(t *testing.T) {
	d := newDesk(t)
	j, _, _ := d.submit(root, api.Spec{Argv: []string{"true"}})
	bodies := map[string]string{"application/json": `{"verb":"cancel","jobs":[1]}`, "application/x-www-form-urlencoded": "verb=cancel&job=1", "text/plain": `{"verb":"cancel","jobs":[1]}`}
	for _, w := range writes(t, d) {
		for _, h := range [][]string{
			{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"},
			{"Origin", "http://localhost:1"}, {"Origin", "http://localhost.evil.example"}, {"Sec-Fetch-Site", "cross-site", "Origin", "http://localhost"},
		} {
			for kind, body := range bodies {
				if status, _ := d.raw(w[0], w[1], body, append(h, "Content-Type", kind)...); status != http.StatusForbidden {
					t.Errorf("%s %s as %s with %v: status %d", w[0], w[1], kind, h, status)
				}
			}
		}
		// An old browser may send such a form without its origin.
		if strings.HasPrefix(w[1], "/v1/") {
			for _, kind := range []string{"application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"} {
				if status, text := d.raw(w[0], w[1], bodies["application/json"], "Content-Type", kind); status < 400 && w[0] != http.MethodDelete {
					t.Errorf("%s %s as %s: status %d: %.100s", w[0], w[1], kind, status, text)
				}
			}
		}
	}
	if d.state(j.ID) != queue.Waiting {
		t.Errorf("the job is %s", d.state(j.ID))
	}
	for _, path := range []string{"/", "/queue", "/v1/jobs", "/metrics", "/assets/live.js"} {
		r := httptest.NewRequest(http.MethodGet, "http://evil.example"+path, nil)
		w := httptest.NewRecorder()
		d.handler.ServeHTTP(w, r)
		if w.Code != http.StatusMisdirectedRequest {
			t.Errorf("%s under another name: status %d", path, w.Code)
		}
	}
}

// TestNothingIsShared: no answer allows another site to read it.
func TestNothingIsShared(t *testing.T) {
	d := newDesk(t)
	for _, path := range []string{"/", "/queue", "/v1/jobs", "/v1/status", "/openapi.json", "/metrics"} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
		r.Header.Set("Origin", "https://evil.example")
		w := httptest.NewRecorder()
		d.handler.ServeHTTP(w, r.WithContext(context.WithValue(t.Context(), principalKey{}, root)))
		for name := range w.Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: %s", path, name)
			}
		}
	}
}

// TestOversized: absurdly large parameters, forms, documents and addresses are refused or do nothing, at once.
func TestOversized(t *testing.T) {
	if testing.Short() {
		t.Skip("much work, and nothing at once")
	}
	d := newDesk(t)
	d.submit(root, api.Spec{Argv: []string{"true"}})
	mega := strings.Repeat("a", 1<<20)
	for _, path := range []string{
		"/queue?q=" + mega, "/?sort=" + mega, "/v1/jobs?user=" + mega, "/v1/shares?pool=" + mega, "/v1/history?pool=" + mega, "/v1/report?by=" + mega,
		"/" + mega, "/jobs/" + strings.Repeat("1/", 2000), "/jobs/99999999999999999999", "/jobs/-1", "/queue?after=-9223372036854775808", "/queue?from=" + strings.Repeat("9", 400),
		"/v1/jobs?limit=-1", "/v1/jobs?limit=99999999999999999999", "/v1/jobs?after=-5", "/v1/jobs/0", "/v1/jobs/1e9", "/v1/history?step_seconds=-1", "/v1/history?step_seconds=NaN",
		"/v1/history?since=0001-01-01T00:00:00Z&step_seconds=1", "/machines?hours=1e308", "/machines?hours=-7", "/policy?from=-100", "/v1/config/history?limit=-1",
	} {
		status, text := d.raw(http.MethodGet, path, "")
		if status >= 500 && status != http.StatusNotImplemented || len(text) > 200<<10 {
			t.Errorf("%.60s: status %d, %d bytes", path, status, len(text))
		}
	}
	fields := url.Values{"verb": {"cancel"}}
	for range 5000 {
		fields.Add(mega[:20], "1")
	}
	deep := strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)
	for _, w := range writes(t, d) {
		for kind, body := range map[string]string{
			"application/json": deep, "application/x-www-form-urlencoded": fields.Encode(), "application/json; charset=utf-8": `{"jobs":[` + strings.Repeat(`"`+mega+`",`, 20) + `1]}`,
		} {
			if status, text := d.raw(w[0], w[1], body, "Content-Type", kind); status >= 500 || status < 400 && strings.HasPrefix(w[1], "/v1/") && w[0] != http.MethodDelete || len(text) > 200<<10 {
				t.Errorf("%s %s with %d bytes of %s: status %d, %d bytes", w[0], w[1], len(body), kind, status, len(text))
			}
		}
	}
	if d.state(1) != queue.Waiting {
		t.Errorf("the job is %s", d.state(1))
	}
}

package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/access"
)

// TestAnswersAreNotKept: browsers may neither cache answers nor guess their type, whatever they contain, and whether
// the request is refused or not.
func TestAnswersAreNotKept(t *testing.T) {
	d := newDesk(t)
	for _, path := range []string{"/v1/status", "/v1/jobs", "/v1/jobs/99", "/v1/nothing", "/v1/jobs?limit=x", "/metrics", "/healthz", "/readyz", "/openapi.json", "/", "/assets/nothing"} {
		for _, a := range []access.Principal{ann, access.Unknown()} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
			d.handler.ServeHTTP(w, r.WithContext(context.WithValue(t.Context(), principalKey{}, a)))
			if got := w.Header().Get("X-Content-Type-Options"); got != "nosniff" {
				t.Errorf("%s, status %d: X-Content-Type-Options %q", path, w.Code, got)
			}
			if got := w.Header().Get("Cache-Control"); (strings.HasPrefix(path, "/v1/") || path == "/metrics") && got != "no-store" {
				t.Errorf("%s, status %d: Cache-Control %q", path, w.Code, got)
			}
		}
	}
}

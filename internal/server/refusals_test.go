package server

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// TestRefusedRequestsAreSummedUp: repeated refusals of one caller do not fill the log. A request that failed is logged
// each time.
func TestRefusedRequestsAreSummedUp(t *testing.T) {
	d := newDesk(t)
	var log bytes.Buffer
	d.log = slog.New(slog.NewTextHandler(&log, nil))
	d.handler = d.protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/status" {
			panic("broken")
		}
		api.WriteBusy(w, "2000 programs follow the events")
	}))
	synctest.Test(t, func(t *testing.T) {
		for range 1000 {
			d.answerOf(ann, http.MethodGet, "/v1/events", nil)
		}
		time.Sleep(refusedEvery)
		d.answerOf(ann, http.MethodGet, "/v1/events", nil)
	})
	lines := strings.Count(log.String(), "\n")
	if lines != 2 || !strings.Contains(log.String(), "refused=1000 ") || strings.Contains(log.String(), "ERROR") {
		t.Errorf("%d lines: %.1000s", lines, log.String())
	}
	d.answerOf(ann, http.MethodGet, "/v1/status", nil)
	if !strings.Contains(log.String(), "level=ERROR msg=request") {
		t.Errorf("a failure is not in the log: %.1000s", log.String())
	}
}

package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
)

// FuzzSubmission: the server answers any text that is sent as a submission, either with an error, or for each job with
// the number of a stored job or with the job's own error. None is an internal error.
func FuzzSubmission(f *testing.F) {
	for _, text := range []string{
		`{"jobs": [{"argv": ["true"]}]}`,
		`{"jobs": [{"argv": ["sh", "-c", "x"], "name": "n", "kind": "k", "pool": "a/b", "priority": "high", "request": {"cpu": 2, "gpu:a100": 1, "mem": 1024}, "constraint": "arch=amd64 & !old"}]}`,
		`{"jobs": [{"kind": "k", "array": "0-99:3%4", "limit_seconds": 1.5, "retries": 2, "backoff_seconds": 0.1, "key": "x", "held": true, "max_running": 3}], "dry_run": true}`,
		`{"jobs": [{"argv": ["a"], "key": "1"}, {"argv": ["b"], "after": [{"job": -1, "on": "any"}]}, {"argv": ["c"], "after": [{"job": 1}]}]}`,
		`{"jobs": [{"argv": ["a"], "after": [{"job": -2}]}, {"argv": ["b"], "after": [{"job": -1}]}]}`,
		`{"jobs": [{"script": true, "argv": ["s.sh"], "payload": "IyEvYmluL3NoCg==", "env": {"A": "b"}, "dir": "/tmp", "output": "%j", "begin": "2026-01-05T08:00:00Z"}], "allow_unsatisfiable": true}`,
		`{"jobs": [{"argv": ["x"], "licenses": {"matlab": 1}, "rates": ["r"], "nice": 5, "qos": "q", "requestor": "r", "limit_seconds": -1}]}`,
		`{"jobs": []}`, `{"jobs": [{}]}`, `{"jobs": [null]}`, `[]`, `{"jobs": [{"limit_seconds": 1e300}]}`, `{"jobs": [{"argv": ["\u0000"]}]}`,
	} {
		f.Add(text)
	}
	s, loop := newServer(f)
	f.Fuzz(func(t *testing.T, text string) {
		r := httptest.NewRequest(http.MethodPost, "http://fairlead/v1/jobs", strings.NewReader(text))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r.WithContext(context.WithValue(t.Context(), principalKey{}, ann)))
		if w.Code >= 500 || w.Code < 200 || w.Body.Len() == 0 {
			t.Fatalf("%q is answered with %d: %s", text, w.Code, w.Body)
		}
		if w.Code != http.StatusOK {
			return
		}
		var answer api.SubmitResponse
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		checkSubmitted(t, loop, text, &answer)
	})
}

// checkSubmitted looks for the accepted jobs, and cancels them: the server serves many tests.
func checkSubmitted(t *testing.T, loop *engine.Loop, text string, answer *api.SubmitResponse) {
	for _, sub := range answer.Jobs {
		if sub.Error != nil {
			if sub.Error.Detail == "" || sub.ID != 0 {
				t.Fatalf("%q: refused as %+v", text, sub)
			}
			continue
		}
		if sub.ID == 0 {
			continue // a dry run
		}
		j, err := loop.Client().Job(t.Context(), sub.ID)
		if err != nil || j.User != ann.Name || j.Tasks < 1 || j.Tasks > queue.MaxTasks {
			t.Fatalf("%q: job %d: %+v, %v", text, sub.ID, j, err)
		}
		if j.State.Ended() {
			continue // it has the key of an earlier job
		}
		if err := loop.Client().Cancel(t.Context(), sub.ID); err != nil {
			t.Fatalf("%q: job %d: %v", text, sub.ID, err)
		}
	}
}

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// awayStore is a store whose database can be unreachable.
type awayStore struct {
	*memory.Store
	away   atomic.Bool
	broken atomic.Bool // its calls return an error that no caller knows
}

func (s *awayStore) there() error {
	if s.away.Load() {
		return fmt.Errorf("%w: connection refused", queue.ErrUnavailable)
	}
	if s.broken.Load() {
		return errors.New("database disk image is malformed")
	}
	return nil
}

func (s *awayStore) Jobs(ctx context.Context, q queue.Query) ([]*queue.Job, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	return s.Store.Jobs(ctx, q)
}

func (s *awayStore) Tasks(ctx context.Context, id int64) ([]queue.Task, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	return s.Store.Tasks(ctx, id)
}

func (s *awayStore) Submit(ctx context.Context, jobs []*queue.Job) ([]queue.Submission, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	return s.Store.Submit(ctx, jobs)
}

func (s *awayStore) Alter(ctx context.Context, changes []queue.Alteration) ([]error, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	return s.Store.Alter(ctx, changes)
}

func (s *awayStore) Changes(ctx context.Context, cursor int64, most int) ([]queue.Change, int64, error) {
	if err := s.there(); err != nil {
		return nil, 0, err
	}
	return s.Store.Changes(ctx, cursor, most)
}

func (s *awayStore) Usage(ctx context.Context) (queue.Accounts, error) {
	if err := s.there(); err != nil {
		return queue.Accounts{}, err
	}
	return s.Store.Usage(ctx)
}

func (s *awayStore) Expire(ctx context.Context, holder string) ([]queue.Ref, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	return s.Store.Expire(ctx, holder)
}

func (s *awayStore) Stops(ctx context.Context, q queue.StopQuery) ([]queue.Stopped, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	return s.Store.Stops(ctx, q)
}

func (s *awayStore) Events(ctx context.Context, id int64) ([]queue.Event, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	return s.Store.Events(ctx, id)
}

func (s *awayStore) Audit(ctx context.Context, entries []queue.AuditEntry, settings map[string]string) error {
	if err := s.there(); err != nil {
		return err
	}
	return s.Store.Audit(ctx, entries, settings)
}

func (s *awayStore) Audited(ctx context.Context, q queue.AuditQuery) ([]queue.AuditEntry, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	return s.Store.Audited(ctx, q)
}

func (s *awayStore) PoolHistory(ctx context.Context, q queue.HistoryQuery) ([]queue.PoolHistory, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	return s.Store.PoolHistory(ctx, q)
}

// newAway returns a server on such a store, with one job.
func newAway(t *testing.T, changes ...func(*Options)) (*desk, *awayStore) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	store := &awayStore{Store: memory.New("cpu")}
	loop, err := engine.NewLoop(ctx, store, engine.LoopOptions{LeaseTTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- loop.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended; store.Close() })
	o := Options{Loop: loop, Store: store}
	for _, change := range changes {
		change(&o)
	}
	d := &desk{New(o), loop, t}
	if _, _, status := d.submit(root, api.Spec{Argv: []string{"true"}}); status != http.StatusOK {
		t.Fatal(status)
	}
	return d, store
}

// ask sends a request as root and returns the answer.
func (d *desk) ask(method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://fairlead"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r.WithContext(context.WithValue(d.t.Context(), principalKey{}, root)))
	return w
}

// TestErrorsAreLogged: the log has the error of a request that the server could not carry out, once; the client only
// gets the status 500.
func TestErrorsAreLogged(t *testing.T) {
	var log strings.Builder
	d, store := newAway(t, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	store.broken.Store(true)
	for _, path := range []string{"/v1/jobs", "/jobs/1"} {
		log.Reset()
		if w := d.ask("GET", path, ""); w.Code != http.StatusInternalServerError {
			t.Fatalf("%s is answered with %d", path, w.Code)
		}
		if strings.Count(log.String(), "disk image is malformed") != 1 || strings.Count(log.String(), "level=ERROR") != 1 {
			t.Errorf("%s: the log does not have the error once: %s", path, log.String())
		}
	}
	store.broken.Store(false)
}

// TestDatabaseIsAway: while the database is away, clients are told to try again later. The answer does not blame the
// request or the server.
func TestDatabaseIsAway(t *testing.T) {
	d, store := newAway(t)
	store.away.Store(true)
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v1/jobs", ""},
		{"GET", "/v1/jobs/1", ""},
		{"GET", "/v1/jobs/1/why", ""},
		{"GET", "/v1/jobs/1/history", ""},
		{"POST", "/v1/jobs", `{"jobs": [{"argv": ["true"]}]}`},
		{"POST", "/v1/jobs/alter", `{"verb": "cancel", "jobs": [1]}`},
		{"GET", "/v1/stops", ""},
		{"GET", "/readyz", ""},
		{"GET", "/jobs/1", ""},
	} {
		w := d.ask(c.method, c.path, c.body)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s %s is answered with %d, Retry-After %q: %.300s", c.method, c.path, w.Code, w.Header().Get("Retry-After"), w.Body)
		}
		if strings.HasPrefix(c.path, "/v1/") && !strings.Contains(w.Body.String(), `"code":"unavailable"`) {
			t.Errorf("%s %s is answered with %.300s", c.method, c.path, w.Body)
		}
	}
	store.away.Store(false)
	if w := d.ask("GET", "/v1/jobs/1", ""); w.Code != http.StatusOK {
		t.Errorf("when it is back: %d %s", w.Code, w.Body)
	}
}

// TestDoctorAfterRecovery: as soon as the database is back, doctor finds that the scheduler works, and reports the
// outage.
func TestDoctorAfterRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, store := newAway(t)
		checks := func() map[string]api.HealthCheck {
			time.Sleep(2 * doctorFresh)
			var found api.Diagnosis
			if err := json.Unmarshal(d.ask("GET", "/v1/doctor", "").Body.Bytes(), &found); err != nil {
				t.Fatal(err)
			}
			all := map[string]api.HealthCheck{}
			for _, c := range found.Checks {
				all[c.Name] = c
			}
			return all
		}
		store.away.Store(true)
		time.Sleep(time.Minute) // meanwhile the server looks for expired leases
		if found := checks(); found["database"].Result != api.ResultFail || found["scheduling"].Result != api.ResultFail {
			t.Errorf("while the database is away: %+v", found)
		}
		store.away.Store(false)
		found := checks()
		if found["database"].Result != api.ResultOK || found["scheduling"].Result != api.ResultOK {
			t.Errorf("when it is back: %+v", found)
		}
		if text := found["scheduling"].Text; !strings.Contains(text, "it failed ") || !strings.Contains(text, "connection refused") {
			t.Errorf("scheduling: %s", text)
		}
	})
}

// TestNoRouteFailsWithoutDatabase: no operation answers with an internal error of the server when only its database is
// away.
func TestNoRouteFailsWithoutDatabase(t *testing.T) {
	d, store := newAway(t)
	text, err := d.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &doc); err != nil || len(doc.Paths) < 20 {
		t.Fatal(len(doc.Paths), err)
	}
	store.away.Store(true)
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		if strings.HasSuffix(path, "/events") {
			continue // it continues until the reader ends it
		}
		for method := range doc.Paths[path] {
			d.noInternalError(strings.ToUpper(method), parameter.ReplaceAllString(path, "1"))
		}
	}
	for _, page := range []string{"/", "/queue", "/machines", "/policy", "/pool?pool=root", "/jobs/1", "/jobs/1/log", "/metrics", "/readyz", "/healthz"} {
		d.noInternalError("GET", page)
	}
}

func (d *desk) noInternalError(method, path string) {
	d.t.Helper()
	w := d.ask(method, path, `{}`)
	if w.Code == http.StatusInternalServerError {
		d.t.Errorf("%s %s is answered with %d: %.300s", method, path, w.Code, w.Body)
	}
	if w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
		d.t.Errorf("%s %s does not say when to come again", method, path)
	}
}

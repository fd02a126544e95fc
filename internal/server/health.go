package server

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
)

// healthService keeps the findings that every page shows first. It looks again only while somebody reads them.
type healthService struct {
	doctor *doctorService

	mu      sync.Mutex // held during the checks
	busy    atomic.Bool
	shown   atomic.Pointer[api.Diagnosis]
	changes atomic.Uint64 // of the findings
}

// The maximum ages of findings: of the quick checks, and of the other checks of doctor while only pages show them.
const (
	healthFresh = 2 * time.Second
	healthSlow  = 5 * time.Minute
)

func (s *healthService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/health", "health",
		"What does not work at present, the worst first; nothing if all is well", 0, alone(s.health))
}

func (s *healthService) health(ctx context.Context) (*api.Diagnosis, error) {
	h := s.lookAgain(ctx, doctorFresh)
	return h, ctx.Err()
}

// Health returns the latest findings for a page. If they are old, it returns them while new checks run.
func (s *healthService) Health(ctx context.Context) *api.Diagnosis {
	s.lookBehind(ctx)
	if h := s.shown.Load(); h != nil {
		return h
	}
	return &api.Diagnosis{Version: api.Version, At: time.Now(), Result: api.ResultOK, Checks: []api.HealthCheck{}}
}

// HealthVersion changes with the findings. Whoever shows them calls it again and again: if they are old, new checks
// run in the background.
func (s *healthService) HealthVersion() uint64 {
	s.lookBehind(context.Background())
	return s.changes.Load()
}

// lookBehind runs the checks in the background if the findings are old, and waits for a moment.
func (s *healthService) lookBehind(ctx context.Context) {
	last := s.shown.Load()
	if last != nil && time.Since(last.At) < healthFresh || !s.busy.CompareAndSwap(false, true) {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer s.busy.Store(false)
		s.lookAgain(context.WithoutCancel(ctx), healthFresh)
	}()
	if last == nil {
		select {
		case <-done:
		case <-time.After(doctorWait):
		}
	}
}

// lookAgain returns findings that are no older than age.
func (s *healthService) lookAgain(ctx context.Context, age time.Duration) *api.Diagnosis {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.shown.Load()
	if last != nil && time.Since(last.At) < age {
		return last
	}
	found := troubles(s.doctor.examiner.quick(ctx), s.slow(ctx))
	h := &api.Diagnosis{Version: api.Version, At: time.Now(), Result: api.Worst(found), Checks: found}
	if ctx.Err() != nil { // cancelled checks say nothing about the server
		return h
	}
	s.shown.Store(h)
	if last == nil || !reflect.DeepEqual(texts(last.Checks), texts(found)) {
		s.changes.Add(1)
	}
	return h
}

// texts returns what a page shows of the checks.
func texts(checks []api.HealthCheck) (out []string) {
	for _, c := range checks {
		out = append(out, c.Name, c.Result, c.Text, c.Next)
	}
	return out
}

// slow returns the latest findings of all checks of doctor. If they are old, it returns them while new checks run.
func (s *healthService) slow(ctx context.Context) []api.HealthCheck {
	last := s.doctor.shown.Load()
	if last == nil || time.Since(last.At) >= healthSlow {
		go func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()
			s.doctor.diagnosis(ctx, healthSlow)
		}()
	}
	if last == nil {
		return nil
	}
	return last.Checks
}

// troubles returns the findings of the quick checks that are not ok, the worst first, and the first failure among the
// other findings of doctor. Their warnings may be about something that somebody chose.
func troubles(quick, slow []api.HealthCheck) []api.HealthCheck {
	out := []api.HealthCheck{}
	seen := map[string]bool{}
	for _, c := range quick {
		if seen[c.Name] = true; c.Result != api.ResultOK && c.Name != drainedNodes {
			out = append(out, c)
		}
	}
	fails := func(c api.HealthCheck) bool { return !seen[c.Name] && c.Result == api.ResultFail }
	if i := slices.IndexFunc(slow, fails); i >= 0 {
		out = append(out, slow[i])
	}
	slices.SortStableFunc(out, func(a, b api.HealthCheck) int { return cmp.Compare(badness(b), badness(a)) })
	return out
}

// badness orders checks by their results.
func badness(c api.HealthCheck) int {
	return slices.Index([]string{api.ResultOK, api.ResultWarn, api.ResultFail}, c.Result)
}

package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
)

// healthService keeps the findings that every page shows first. It looks again only while somebody reads them.
type healthService struct {
	found  findings
	quick  atomic.Pointer[[]api.HealthCheck] // the latest results, good ones included
	doctor *doctorService
}

func newHealthService(doctor *doctorService) *healthService {
	s := &healthService{doctor: doctor}
	s.found.look = s.look
	return s
}

// The maximum ages of findings: of the quick checks, and of the other checks of doctor while only pages show them.
const (
	healthFresh = 2 * time.Second
	healthSlow  = 5 * time.Minute
)

func (s *healthService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/health", "health",
		"Current problems, the worst first; empty if all is well", 0, alone(s.health))
}

func (s *healthService) health(ctx context.Context) (*api.Diagnosis, error) {
	h := s.found.within(ctx, doctorFresh)
	return h, ctx.Err()
}

// Health returns the latest findings for a page. If they are old, it returns them while new checks run.
func (s *healthService) Health(ctx context.Context) *api.Diagnosis {
	if h := s.found.latest(ctx, healthFresh, findingsWait); h != nil {
		return h
	}
	return &api.Diagnosis{Version: api.Version, At: time.Now(), Result: api.ResultOK, Checks: []api.HealthCheck{}}
}

// HealthVersion changes with the findings. Pages that show them call it again and again. If the findings are old, new
// checks run in the background.
func (s *healthService) HealthVersion() uint64 {
	s.found.latest(context.Background(), healthFresh, 0)
	return s.found.changes.Load()
}

// look runs the quick checks. Of the other checks of doctor it takes the latest findings.
func (s *healthService) look(ctx context.Context) []api.HealthCheck {
	var slow []api.HealthCheck
	if last := s.doctor.found.latest(ctx, healthSlow, 0); last != nil {
		slow = last.Checks
	}
	quick := s.doctor.examiner.quick(ctx)
	s.quick.Store(&quick)
	return troubles(quick, slow)
}

// troubles returns the findings of the quick checks that are not ok, the worst first, and the first failure among the
// other findings of doctor. Warnings among the latter are left out, because they may be about something that somebody
// chose.
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

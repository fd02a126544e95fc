package server

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
)

// doctorService reports problems.
type doctorService struct {
	examiner *examiner
	found    findings
}

func newDoctorService(x *examiner) *doctorService {
	return &doctorService{examiner: x, found: findings{look: x.examine}}
}

func (s *doctorService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/doctor", "doctor", "Problems of the server and its agents, if any", 0,
		alone(s.doctor))
}

// The maximum age of an answer: for a user who asks for it, and for a page that also shows other things.
const (
	doctorFresh = 200 * time.Millisecond
	doctorShown = 30 * time.Second
)

func (s *doctorService) doctor(ctx context.Context) (*api.Diagnosis, error) {
	d := s.found.within(ctx, doctorFresh)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

// Doctor returns the latest findings for a page. If they are old, it returns them while new checks run. The checks
// of nodes are always new: they cost little, and people look here to see whether a node is back.
func (s *doctorService) Doctor(ctx context.Context) *api.Diagnosis {
	if last := s.found.latest(ctx, doctorShown, findingsWait); last != nil {
		return withNodes(last, s.examiner.checkNodes(s.examiner.patients()))
	}
	return &api.Diagnosis{Version: api.Version, At: time.Now(), Result: api.ResultOK,
		Checks: []api.HealthCheck{good("checks", "the first checks are running")}}
}

// withNodes returns findings in which other checks of nodes replace the old ones.
func withNodes(found *api.Diagnosis, nodes []api.HealthCheck) *api.Diagnosis {
	now := *found
	now.Checks = nil
	for _, c := range found.Checks {
		switch {
		case c.Name == allNodes:
			now.Checks = append(now.Checks, nodes...)
		case !slices.Contains(nodeChecks, c.Name):
			now.Checks = append(now.Checks, c)
		}
	}
	now.Result = api.Worst(now.Checks)
	return &now
}

// Bounds of the checks. The database may not answer.
const (
	healthTime = time.Second // of the quick checks
	otherTime  = 10 * time.Second
)

// examine runs all checks. If the database does not answer, it runs only the quick ones: the others would wait for the
// database.
func (s *examiner) examine(ctx context.Context) []api.HealthCheck {
	pulse, seen := s.pulseSoon(ctx), s.patients()
	if pulse[0].Result == api.ResultFail {
		return s.withoutDatabase(pulse, seen)
	}
	ctx, cancel := context.WithTimeout(ctx, otherTime)
	defer cancel()
	return slices.Concat(
		pulse, s.checkStore(ctx), one(s.checkCounters(ctx)), one(judgeSums(s.loop.LastRecount())),
		s.checkDisk(), s.checkSync(), s.checkHistory(ctx),
		one(s.checkConfig()), s.checkFiles(), one(s.checkAccess()),
		s.checkNodes(seen), checkAgents(seen, s.program, s.waitingUsers(ctx)),
		s.checkBridges(ctx, seen), one(s.checkFailures()),
		s.checkPools(ctx), s.checkWaiting(ctx), one(s.checkBackfill(ctx)), s.checkUsers(ctx),
	)
}

// pulseSoon checks the pulse in the time of a quick check.
func (s *examiner) pulseSoon(ctx context.Context) []api.HealthCheck {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	return s.checkPulse(ctx)
}

// quick runs the checks that cost little and whose findings may delay work at once.
func (s *examiner) quick(ctx context.Context) []api.HealthCheck {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	pulse, seen := s.checkPulse(ctx), s.patients()
	checks := s.withoutDatabase(pulse, seen)
	if pulse[0].Result != api.ResultFail { // the database answers
		checks = append(checks, s.checkBridges(ctx, seen)...)
	}
	return checks
}

// withoutDatabase adds to the pulse the quick checks that do not ask the database.
func (s *examiner) withoutDatabase(pulse []api.HealthCheck, seen []patient) []api.HealthCheck {
	return slices.Concat(pulse, s.checkDisk(), one(s.checkConfig()), s.checkNodes(seen), one(s.checkFailures()))
}

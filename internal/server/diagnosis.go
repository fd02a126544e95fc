package server

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
)

// doctorService reports problems. It caches its findings, because some checks load the disk or the database, and
// anybody may ask.
type doctorService struct {
	examiner *examiner

	mu    sync.Mutex // held during the checks
	last  *api.Diagnosis
	shown atomic.Pointer[api.Diagnosis] // the same, for those who do not wait
}

func (s *doctorService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/doctor", "doctor", "Problems of the server and its agents, if any", 0,
		alone(s.doctor))
}

// The maximum age of an answer: for somebody who asks, and for a page that also shows other things.
const (
	doctorFresh = 200 * time.Millisecond
	doctorShown = 30 * time.Second
)

func (s *doctorService) doctor(ctx context.Context) (*api.Diagnosis, error) {
	d := s.diagnosis(ctx, doctorFresh)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

// diagnosis returns findings that are no older than age.
func (s *doctorService) diagnosis(ctx context.Context, age time.Duration) *api.Diagnosis {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil && time.Since(s.last.At) < age {
		return s.last
	}
	checks := s.examiner.examine(ctx)
	found := &api.Diagnosis{Version: api.Version, At: time.Now(), Result: api.Worst(checks), Checks: checks}
	if ctx.Err() == nil { // cancelled checks say nothing about the server
		s.last = found
		s.shown.Store(found)
	}
	return found
}

// doctorWait is how long a page waits for new findings. With a hundred thousand jobs, counting takes longer than a page
// may.
const doctorWait = 20 * time.Millisecond

// Doctor returns the cached findings for a page. If they are old, it returns them while new checks run.
func (s *doctorService) Doctor(ctx context.Context) *api.Diagnosis {
	made := make(chan *api.Diagnosis, 1)
	if last := s.shown.Load(); last == nil || time.Since(last.At) >= doctorShown {
		go func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()
			made <- s.diagnosis(ctx, doctorShown)
		}()
		select {
		case found := <-made:
			return found
		case <-time.After(doctorWait):
		}
	}
	if last := s.shown.Load(); last != nil {
		return last
	}
	return &api.Diagnosis{Version: api.Version, At: time.Now(), Result: api.ResultOK, Checks: []api.HealthCheck{good("checks", "it is being looked")}}
}

// examine runs all checks.
func (s *examiner) examine(ctx context.Context) []api.HealthCheck {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	seen := s.patients()
	return slices.Concat(
		s.checkPulse(ctx), s.checkStore(ctx), one(s.checkCounters(ctx)), one(judgeSums(s.loop.LastRecount())),
		s.checkDisk(), s.checkSync(), s.checkHistory(ctx),
		one(s.checkConfig()), s.checkFiles(), one(s.checkAccess()),
		s.checkNodes(seen), checkAgents(seen, s.program, s.waitingUsers(ctx)),
		s.checkBridges(ctx, seen), one(s.checkFailures()),
		s.checkPools(ctx), s.checkWaiting(ctx), one(s.checkBackfill(ctx)), s.checkUsers(ctx),
	)
}

// healthTime bounds the quick checks: the database may not answer.
const healthTime = time.Second

// quick runs the checks that cost little and whose findings hold up work at once.
func (s *examiner) quick(ctx context.Context) []api.HealthCheck {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	seen := s.patients()
	checks := slices.Concat(s.checkPulse(ctx), s.checkDisk(), one(s.checkConfig()), s.checkNodes(seen),
		one(s.checkFailures()))
	if checks[0].Result != api.ResultFail { // the database answers
		checks = append(checks, s.checkBridges(ctx, seen)...)
	}
	return checks
}

package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
)

func (s *Server) doctorRoutes(a huma.API) {
	handle(a, http.MethodGet, "/v1/doctor", "doctor", "What is wrong with the server and its agents, if anything", 0, s.doctor)
}

// doctors keep what was found lately: some of what is looked at costs the disk or the database
// something, and anybody may ask.
type doctors struct {
	mu    sync.Mutex // held while it is looked
	last  *api.Diagnosis
	shown atomic.Pointer[api.Diagnosis] // the same, for those who do not wait
}

// How old an answer may be: of somebody who asks, and of a page that shows it by the way.
const (
	doctorFresh = 200 * time.Millisecond
	doctorShown = 30 * time.Second
)

func (s *Server) doctor(ctx context.Context, _ *struct{}) (*body[api.Diagnosis], error) {
	d := s.diagnosis(ctx, doctorFresh)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return answer(*d), nil
}

// diagnosis is what was found, at most so long ago.
func (s *Server) diagnosis(ctx context.Context, age time.Duration) *api.Diagnosis {
	d := &s.doctors
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last != nil && time.Since(d.last.At) < age {
		return d.last
	}
	checks := s.examine(ctx)
	found := &api.Diagnosis{Version: api.Version, At: time.Now(), Result: api.Worst(checks), Checks: checks}
	if ctx.Err() == nil { // what was broken off says nothing about the server
		d.last = found
		d.shown.Store(found)
	}
	return found
}

// doctorWait is how long a page waits for a new answer. With a hundred thousand jobs it takes longer to
// count them than a page may.
const doctorWait = 20 * time.Millisecond

// shownDiagnosis is what was found lately, for a page. What is older is shown while it is looked anew.
func (s *Server) shownDiagnosis(ctx context.Context) *api.Diagnosis {
	d := &s.doctors
	made := make(chan *api.Diagnosis, 1)
	if last := d.shown.Load(); last == nil || time.Since(last.At) >= doctorShown {
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
	if last := d.shown.Load(); last != nil {
		return last
	}
	return &api.Diagnosis{Version: api.Version, At: time.Now(), Result: api.ResultOK, Checks: []api.HealthCheck{good("checks", "it is being looked")}}
}

// examine looks at everything.
func (s *Server) examine(ctx context.Context) []api.HealthCheck {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	seen := s.patients()
	return slices.Concat(
		s.checkPulse(ctx), s.checkStore(ctx), []api.HealthCheck{s.checkCounters(ctx)}, s.checkDisk(), s.checkHistory(ctx),
		[]api.HealthCheck{s.checkConfig()}, s.checkFiles(), []api.HealthCheck{s.checkAccess()},
		checkNodes(seen), checkAgents(seen, s.options.Program, s.waitingUsers(ctx)), s.checkBridges(ctx, seen),
		s.checkPools(ctx), s.checkWaiting(ctx),
	)
}

// good is a check that found nothing.
func good(name, text string) api.HealthCheck {
	return api.HealthCheck{Name: name, Result: api.ResultOK, Text: text}
}

// bad is one that found something to warn of, or that something does not work.
func bad(name, result, text, next string) api.HealthCheck {
	return api.HealthCheck{Name: name, Result: result, Text: text, Next: next}
}

// grade judges a number: from warn on it is a warning, from fail on it has failed. What to do
// is said only then. Where less is worse, warn is above fail.
func grade(c api.HealthCheck, value float64, unit string, warn, fail float64, next string) api.HealthCheck {
	reaches := func(bound float64) bool {
		if warn > fail {
			return value <= bound
		}
		return value >= bound
	}
	c.Value, c.Unit, c.WarnAt, c.FailAt, c.Result = &value, unit, &warn, &fail, api.ResultOK
	switch {
	case reaches(fail):
		c.Result, c.Next = api.ResultFail, next
	case reaches(warn):
		c.Result, c.Next = api.ResultWarn, next
	}
	return c
}

// several counts things: 1 job, 2 jobs.
func several(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// counted adds the number of what a check found.
func counted(c api.HealthCheck, n int, unit string) api.HealthCheck {
	v := float64(n)
	c.Value, c.Unit = &v, unit
	return c
}

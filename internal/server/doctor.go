package server

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/queue"
)

// examiner checks the parts of a server.
type examiner struct {
	loop      *engine.Loop
	explainer *explain.Explainer
	recorder  *history.Recorder
	store     queue.Store
	config    Configuration
	agents    *agents
	addresses *addresses
	limits    connectionLimits
	program   string
	database  string // path of the file; empty if there is none
	started   time.Time
}

// good returns a check that found no problem.
func good(name, text string) api.HealthCheck {
	return api.HealthCheck{Name: name, Result: api.ResultOK, Text: text}
}

// bad returns a check that found a warning or a failure.
func bad(name, result, text, next string) api.HealthCheck {
	return api.HealthCheck{Name: name, Result: result, Text: text, Next: next}
}

// grade sets the result of a check from a number: a warning from the number "warn" on, a failure from the number "fail"
// on. It adds what to do only to warnings and failures. If "warn" is above "fail", smaller numbers are worse.
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

func one(c api.HealthCheck) []api.HealthCheck { return []api.HealthCheck{c} }

// several formats a count of things: 1 job, 2 jobs.
func several(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// counted adds the number of things that a check found.
func counted(c api.HealthCheck, n int, unit string) api.HealthCheck {
	v := float64(n)
	c.Value, c.Unit = &v, unit
	return c
}

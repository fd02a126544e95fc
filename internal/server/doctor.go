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

// examiner looks at the parts of a server.
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
	database  string // a file; empty if there is none
	started   time.Time
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

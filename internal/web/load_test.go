package web

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// failing is a server with a check that fails.
type failing struct {
	ServerSource
	check string
}

func (f failing) Health(context.Context) *api.Diagnosis {
	return &api.Diagnosis{Result: api.ResultFail, Checks: []api.HealthCheck{{Name: f.check, Result: api.ResultFail}}}
}

// TestSlowPagesFailWithTheDatabaseOnly: a page that takes long is given up if the database does not answer, but not if
// another check fails, such as the check of the configuration.
func TestSlowPagesFailWithTheDatabaseOnly(t *testing.T) {
	slow := &Page{Load: func(ctx context.Context, _ Source, _ *Request) (any, error) {
		if !wait.For(ctx, 5*time.Second) {
			return nil, ctx.Err()
		}
		return "data", nil
	}}
	for check, want := range map[string]error{"configuration": nil, "nodes": nil, "database": queue.ErrUnavailable} {
		synctest.Test(t, func(t *testing.T) {
			d := &Dashboard{source: Source{Server: failing{check: check}}}
			if _, err := d.load(t.Context(), slow, nil); !errors.Is(err, want) {
				t.Errorf("while the check %q fails, a slow page ends with %v, want %v", check, err, want)
			}
		})
	}
}

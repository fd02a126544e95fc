package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// join offers the machine until the server takes it.
func (a *Agent) join(ctx context.Context) error {
	again := wait.Backoff{First: 100 * time.Millisecond, Max: 5 * time.Second}
	for {
		asked := time.Now()
		r, err := a.options.Client.Join(ctx, a.options.Name, a.offer())
		switch {
		case err == nil:
			a.joined(r)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, queue.ErrForbidden), errors.Is(err, queue.ErrInvalid):
			return fmt.Errorf("join the server: %w", err)
		}
		if errors.Is(err, queue.ErrUnavailable) || nobodyListens(err) {
			a.outlast(asked)
		}
		pause := again.Next()
		if a.count() > 0 {
			pause = a.patience(&again)
		}
		if errors.Is(err, api.ErrUnreachable) {
			a.server.Fail(err)
		} else {
			a.log.Warn("the server does not let us in; trying again", "error", err, "in", pause)
		}
		if !wait.For(ctx, pause) {
			return ctx.Err()
		}
	}
}

// offer is what it says when it joins. The attempts whose end has not been reported yet
// are still its own, or else they would be run again by someone else.
func (a *Agent) offer() api.JoinRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	running := slices.Collect(maps.Keys(a.tasks))
	for _, f := range a.finished {
		running = append(running, f.Ref)
	}
	return api.JoinRequest{
		Capacity: a.options.Capacity, Labels: a.options.Labels, Version: a.options.Version, Host: a.options.Host,
		Instance: a.instance, Running: append(running, a.release...), Again: a.session != "", Facts: a.facts(),
	}
}

func (a *Agent) joined(r *api.JoinResponse) {
	a.mu.Lock()
	a.session, a.ttl = r.Session, time.Duration(r.TTLSeconds*float64(time.Second))
	a.renewNow, a.drainReported, a.sole = true, false, r.Sole
	a.mu.Unlock()
	wait.Wake(a.due)
	a.wakeReporter()
	a.server.Answer()
	a.log.Info("joined", "node", a.options.Name, "lease", a.ttl)
	if a.options.Joined != nil {
		a.options.Joined()
	}
}

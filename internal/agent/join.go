package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// join offers the machine to the server until the server accepts it.
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
		if endsNoLease(err) {
			a.outlast(asked)
		}
		pause := again.Next()
		if a.count() > 0 {
			pause = a.patience(&again)
		}
		if errors.Is(err, api.ErrUnreachable) {
			a.server.Fail(err)
		} else {
			a.log.Warn("the server refuses the agent; trying again", "error", err, "in", pause)
		}
		if !wait.For(ctx, pause) {
			return ctx.Err()
		}
	}
}

// offer returns the request to join. It also lists attempts whose end or release the agent has not reported
// yet, because otherwise the server would let another agent run them again.
func (a *Agent) offer() api.JoinRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	var running []given
	for _, t := range a.tasks {
		running = append(running, t.given())
	}
	for _, f := range a.finished {
		running = append(running, given{f.Ref, f.Since})
	}
	running = append(running, a.release...)
	since := make([]time.Time, len(running))
	for i, g := range running {
		since[i] = g.since
	}
	return api.JoinRequest{
		Capacity: a.options.Capacity, Labels: a.options.Labels, Version: a.options.Version, Host: a.options.Host,
		Instance: a.instance, Running: refsOf(running), Since: since, Again: a.session != "", Facts: a.facts(),
	}
}

// disown ends an attempt that the server does not know, and forgets it, because the server may give its
// numbers to another attempt. The caller holds the lock.
func (a *Agent) disown(ref queue.Ref) {
	a.log.Warn("the server does not know an earlier attempt, because its database was restored; ending it", "task", ref)
	if t := a.tasks[ref]; t != nil {
		t.foreign = true
		t.kill("the server does not know it any more, because its database was restored")
		delete(a.tasks, ref)
	}
	a.finished = slices.DeleteFunc(a.finished, func(f api.Finished) bool { return f.Ref == ref })
	a.release = slices.DeleteFunc(a.release, func(g given) bool { return g.Ref == ref })
}

func (a *Agent) joined(r *api.JoinResponse) {
	a.mu.Lock()
	a.session, a.ttl = r.Session, time.Duration(r.TTLSeconds*float64(time.Second))
	a.renewNow, a.drainReported, a.sole = true, false, r.Sole
	for _, ref := range r.Foreign {
		a.disown(ref)
	}
	a.mu.Unlock()
	wait.Wake(a.due)
	a.wakeReporter()
	a.server.Answer()
	a.log.Info("joined", "node", a.options.Name, "lease", a.ttl)
	if a.options.Joined != nil {
		a.options.Joined()
	}
}

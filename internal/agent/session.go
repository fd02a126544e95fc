package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
)

// pollWait is how long a poll may wait; the server shortens it to a third of a lease if that is less.
const pollWait = 30 * time.Second

// poll asks for work and carries out the answers.
func (a *Agent) poll(ctx context.Context) {
	again := wait.Backoff{First: 100 * time.Millisecond, Max: 2 * time.Second}
	reported := time.Now() // when the server last received the facts: it received them when the agent joined
	for ctx.Err() == nil {
		var facts *api.Facts
		if now := time.Now(); now.Sub(reported) >= factsEvery {
			facts, reported = a.facts(), now
		}
		a.mu.Lock()
		ack := a.ack
		req := api.PollRequest{Session: a.session, Ack: ack, WaitSeconds: pollWait.Seconds(), Facts: facts}
		a.mu.Unlock()
		asked := time.Now()
		r, err := a.options.Client.Poll(ctx, a.options.Name, req)
		if err != nil {
			if ctx.Err() == nil {
				if nobodyListens(err) {
					a.outlast(asked)
				}
				a.notReported(fmt.Errorf("ask for work: %w", err))
				wait.For(ctx, a.patience(&again))
			}
			continue
		}
		again.Reset()
		a.server.Answer()
		if r.Displaced {
			a.displace()
			return
		}
		if r.Rejoin {
			if a.join(ctx) != nil {
				return
			}
			continue
		}
		a.mu.Lock()
		a.ack, a.sole = a.ack[len(ack):], r.Sole
		a.mu.Unlock()
		a.carryOut(ctx, r)
	}
}

// displace ends the agent: another agent has its name and runs its tasks again.
func (a *Agent) displace() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.tasks {
		t.kill("another agent took over the node")
	}
	close(a.displaced)
}

func (a *Agent) carryOut(ctx context.Context, r *api.PollResponse) {
	for _, l := range r.Start {
		a.start(l)
	}
	for _, s := range r.Stop {
		a.stop(s)
	}
	for _, l := range r.Logs {
		a.begun.Go(func() { a.answerLog(ctx, l) })
	}
}

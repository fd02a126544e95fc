package agent

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

// pollWait is for how long a poll may wait; the server shortens it.
const pollWait = 30 * time.Second

// poll asks for work and carries out what comes.
func (a *Agent) poll(ctx context.Context) {
	pause := 100 * time.Millisecond
	told := time.Now() // when the server was told the facts, at first as it joined
	for ctx.Err() == nil {
		var facts *api.Facts
		if now := time.Now(); now.Sub(told) >= factsEvery {
			facts, told = a.facts(), now
		}
		a.mu.Lock()
		ack := a.ack
		req := api.PollRequest{Session: a.session, Ack: ack, WaitSeconds: pollWait.Seconds(), Facts: facts}
		a.mu.Unlock()
		r, err := a.options.Client.Poll(ctx, a.options.Name, req)
		if err != nil {
			if ctx.Err() == nil {
				a.log.Warn("the server does not answer; trying again", "error", err, "in", pause)
				sleep(ctx, pause)
				pause = min(2*pause, 2*time.Second)
			}
			continue
		}
		pause = 100 * time.Millisecond
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
		a.ack = a.ack[len(ack):]
		a.mu.Unlock()
		a.carryOut(ctx, r)
	}
}

// displace ends the agent: another one has its name, and its tasks run again there.
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
		go a.answerLog(ctx, l)
	}
}

// kill ends a task at once. The caller holds the lock.
func (t *task) kill(cause string) {
	t.until = time.Time{}
	if t.process != nil {
		t.process.Kill(cause, fairlead.Cancelled)
	} else {
		t.halt(api.Stop{Ref: t.lease.Ref, Cause: cause})
	}
}

// drain takes nothing new, waits for what runs, and gives back what does not end in
// time.
func (a *Agent) drain(ctx context.Context) {
	a.log.Info("draining", "tasks", a.count())
	a.mu.Lock()
	a.draining = true
	a.mu.Unlock()
	a.tell()
	timeout := time.NewTimer(a.options.Drain)
	defer timeout.Stop()
	for a.count() > 0 {
		select {
		case <-a.idle:
			continue
		case <-timeout.C:
			a.interrupt()
			continue
		}
	}
	// What has ended is reported before we leave.
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		a.tell()
		a.mu.Lock()
		left := len(a.finished) + len(a.release)
		a.mu.Unlock()
		if left == 0 || !sleep(ctx, 10*time.Millisecond) {
			break
		}
	}
	leave, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	a.mu.Lock()
	bye := api.ReportRequest{Session: a.session, Leave: true}
	a.mu.Unlock()
	if _, err := a.options.Client.Report(leave, a.options.Name, bye); err != nil {
		a.log.Warn("the server was not told that we leave", "error", err)
	}
}

// interrupt ends what still runs when the time to drain is over; it will run again
// elsewhere.
func (a *Agent) interrupt() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.tasks {
		t.back = true
		if t.process != nil {
			t.process.Stop("the agent stops", fairlead.Cancelled)
		} else {
			t.halt(api.Stop{Ref: t.lease.Ref, Cause: "the agent stops"})
		}
	}
}

func (a *Agent) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.tasks)
}

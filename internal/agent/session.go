package agent

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

// pollWait is for how long a poll may wait; the server shortens it.
const pollWait = 30 * time.Second

// poll asks for work and carries out what comes.
func (a *Agent) poll(ctx context.Context) {
	pause := 100 * time.Millisecond
	for ctx.Err() == nil {
		a.mu.Lock()
		ack := a.ack
		req := api.PollRequest{Session: a.session, Ack: ack, WaitSeconds: pollWait.Seconds()}
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

// report tells the server what has ended, together with what else there is to tell.
func (a *Agent) report(ctx context.Context) {
	pause := 50 * time.Millisecond
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.news:
		}
		for !a.reportOnce(ctx) {
			if !sleep(ctx, pause) {
				return
			}
			pause = min(2*pause, 2*time.Second)
		}
		pause = 50 * time.Millisecond
	}
}

// reportOnce sends what there is. It returns false if it has to be sent again: what
// the server has not acknowledged is kept.
func (a *Agent) reportOnce(ctx context.Context) bool {
	a.mu.Lock()
	req := api.ReportRequest{Session: a.session, Finished: a.finished, Release: a.release, Drain: a.draining}
	if a.renewNow {
		for ref := range a.tasks {
			req.Renew = append(req.Renew, ref)
		}
		a.renewNow = false
	}
	sent := time.Now()
	a.mu.Unlock()
	if len(req.Finished)+len(req.Release)+len(req.Renew) == 0 && !req.Drain {
		return true
	}
	r, err := a.options.Client.Report(ctx, a.options.Name, req)
	if err != nil {
		if ctx.Err() == nil {
			a.log.Warn("a report did not arrive; trying again", "error", err)
		}
		a.again(len(req.Renew) > 0)
		return false
	}
	if r.Rejoin { // the poll will join again
		a.again(len(req.Renew) > 0)
		return false
	}
	a.mu.Lock()
	a.finished = a.finished[len(req.Finished):]
	a.release = a.release[len(req.Release):]
	a.mu.Unlock()
	for i, e := range r.Finished {
		if e != nil {
			a.log.Warn("the server refused the end of a task", "task", req.Finished[i].Ref, "error", e.Detail)
		}
	}
	a.renewed(req.Renew, r.Renew, sent)
	return true
}

func (a *Agent) again(renew bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.renewNow = a.renewNow || renew
}

// renewed notes which leases last longer now, and ends what is not ours any more.
// A lease counts from when we asked, not from when the answer came.
func (a *Agent) renewed(refs []fairlead.Ref, errs []*api.Error, asked time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, ref := range refs {
		t := a.tasks[ref]
		if t == nil || i >= len(errs) {
			continue
		}
		if errs[i] == nil {
			t.until = asked.Add(a.ttl)
		} else if errors.Is(errs[i].Err(), fairlead.ErrStaleAttempt) || errors.Is(errs[i].Err(), fairlead.ErrNotFound) {
			t.kill("the lease was lost")
		}
	}
}

// renew renews the leases in time, and kills what could not be renewed before it may
// be run by someone else.
func (a *Agent) renew(ctx context.Context) {
	last := time.Now()
	for {
		a.mu.Lock()
		ttl := a.ttl
		a.mu.Unlock()
		if !sleep(ctx, max(ttl/30, 10*time.Millisecond)) {
			return
		}
		a.mu.Lock()
		if time.Since(last) >= ttl/3 {
			a.renewNow, last = true, time.Now()
			a.tell()
		}
		margin := min(ttl/10, 2*time.Second)
		for ref, t := range a.tasks {
			if !t.until.IsZero() && time.Until(t.until) < margin && t.process != nil {
				a.log.Error("the lease could not be renewed in time; killing the task", "task", ref)
				t.kill("the lease could not be renewed in time")
			}
		}
		a.mu.Unlock()
	}
}

// kill ends a task at once. The caller holds the lock.
func (t *task) kill(cause string) {
	t.until = time.Time{}
	if t.process != nil {
		t.process.Kill(cause, fairlead.Cancelled)
	} else {
		t.stop = &api.Stop{Ref: t.lease.Ref, Cause: cause}
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
		t.drained = true
		if t.process != nil {
			t.process.Stop("the agent stops", fairlead.Cancelled)
		}
	}
}

func (a *Agent) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.tasks)
}

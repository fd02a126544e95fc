package bridge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

// join joins the server as a node until that lets us in. All that the ledger has is ours
// still, or it would be given to somebody else.
func (b *Bridge) join(ctx context.Context) error {
	return b.persist(ctx, func() error {
		b.mu.Lock()
		req := api.JoinRequest{
			Capacity: b.o.capacity(b.unit), Labels: b.o.Labels, Version: b.o.Version, Host: b.o.Host, Instance: b.name,
			Running: []fairlead.Ref{}, Again: true, Ledger: b.ledger.id, TakeOver: b.o.TakeOver, LeaseSeconds: b.o.Lease.Seconds(),
		}
		for _, it := range b.items {
			req.Running = append(req.Running, it.lease.Ref)
			it.untold = true
		}
		b.mu.Unlock()
		r, err := b.o.Client.Join(ctx, b.o.Name, req)
		if err != nil {
			return fmt.Errorf("join the server as %s: %w", b.o.Name, err)
		}
		b.mu.Lock()
		b.session, b.ttl, b.renewed = r.Session, time.Duration(r.TTLSeconds*float64(time.Second)), time.Time{}
		b.mu.Unlock()
		poke(b.news)
		b.log.Info("joined", "node", b.o.Name, "tasks", len(req.Running))
		if b.o.Joined != nil {
			b.o.Joined()
		}
		return nil
	})
}

// polls asks the server for work and takes what comes, until ctx ends.
func (b *Bridge) polls(ctx context.Context) {
	again := serverBackoff
	for ctx.Err() == nil {
		b.mu.Lock()
		ack, held := b.ack, b.held
		b.held = false
		req := api.PollRequest{Session: b.session, Ack: ack, WaitSeconds: 30}
		b.mu.Unlock()
		if held && !sleep(ctx, 100*time.Millisecond) {
			return
		}
		r, err := b.o.Client.Poll(ctx, b.o.Name, req)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			b.server.Fail(err)
			sleep(ctx, again.Next())
			continue
		case r.Displaced:
			b.fail(fmt.Errorf("another bridge has joined the server as node %q; run this one under a name of its own with --name", b.o.Name))
			return
		case r.Rejoin:
			if err := b.join(ctx); err != nil {
				if ctx.Err() == nil {
					b.fail(err)
				}
				return
			}
		}
		again.Reset()
		b.server.Answer()
		b.mu.Lock()
		b.ack = b.ack[len(ack):]
		b.mu.Unlock()
		if b.accept(r.Start) != nil {
			return
		}
		b.stops(r.Stop)
		for _, l := range r.Logs {
			go b.answerLog(ctx, l)
		}
	}
}

func (b *Bridge) fail(err error) {
	select {
	case b.failed <- err:
	default:
	}
}

// accept takes leases. A task that was ours already is followed as before, under its new
// attempt. The others are written down, and only then acknowledged and submitted.
func (b *Bridge) accept(leases []api.Lease) error {
	if len(leases) == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	var changed, fresh []*item
	for _, l := range leases {
		it := b.items[task{l.JobID, l.Task}]
		switch {
		case b.draining && (it == nil || it.lease.Ref != l.Ref):
			b.release = append(b.release, l.Ref)
		case b.isLeaving(l.Ref):
			b.held = true
			continue
		case it == nil && b.ring(&l) != "":
			b.refuse(l, b.ring(&l))
		case it == nil && l.Job.Gang > 1:
			b.refuse(l, "a gang does not go through a bridge: its tasks need one another, and the queueing system would start them one by one")
		case it == nil:
			if it = b.begin(l, now); it != nil {
				fresh = append(fresh, it)
			}
		case it.lease.Ref == l.Ref:
			it.live = true
		case !b.adopt(it, l):
			b.held = true
			continue
		default:
			changed = append(changed, it)
		}
		b.ack = append(b.ack, l.Ref)
	}
	if err := b.change(append(changed, fresh...), nil); err != nil {
		return err
	}
	for _, it := range fresh {
		b.items[it.task()] = it
	}
	b.send = append(b.send, fresh...)
	poke(b.work)
	poke(b.news)
	return nil
}

// isLeaving reports whether an earlier entry of the task is still being taken out.
func (b *Bridge) isLeaving(ref fairlead.Ref) bool {
	for _, it := range b.leaving {
		if it.task() == (task{ref.JobID, ref.Task}) {
			return true
		}
	}
	return false
}

// adopt goes on with an entry under a new attempt, or returns false if it is not known yet
// whether that may be: the server may have taken note of the end that it had under the one
// before, or of attempts in between, which somebody else made under our name.
func (b *Bridge) adopt(it *item, l api.Lease) bool {
	if it.stop != "" || !it.adoptable && (it.stage == ended || l.Attempt != it.lease.Attempt+1) {
		it.live = false
		poke(b.settle)
		return false
	}
	b.log.Info("going on with an entry under a new attempt", "task", l.Ref, "id", it.id)
	it.lease.Ref, it.live, it.untold, it.stale, it.adoptable = l.Ref, true, true, false, false
	if it.end != nil {
		it.end.Ref = l.Ref
	}
	return true
}

// refuse ends a task that can never be submitted.
func (b *Bridge) refuse(l api.Lease, cause string) {
	b.refused = append(b.refused, api.Finished{Ref: l.Ref, State: string(fairlead.Failed), Final: true, ExitCode: -1, Cause: bounded(cause)})
	poke(b.news)
}

// stops takes tasks out of the QS that the server does not want any more.
func (b *Bridge) stops(stops []api.Stop) {
	if len(stops) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range stops {
		if it := b.items[task{s.JobID, s.Task}]; it != nil && it.lease.Ref == s.Ref && it.stop == "" {
			it.stop = s.Cause
		}
	}
	b.dropUnsent()
	poke(b.follow)
}

// dropUnsent ends what is to be stopped and was never sent.
func (b *Bridge) dropUnsent() {
	var changed, keep []*item
	for _, it := range b.send {
		if it.stop == "" || it.unsure || it.sending {
			keep = append(keep, it)
			continue
		}
		b.finish(it, Status{Phase: Cancelled, Error: it.stop})
		changed = append(changed, it)
	}
	b.send = keep
	if len(changed) > 0 {
		_ = b.change(changed, nil)
		poke(b.news)
	}
	b.part()
}

// noOutput says why there is no output of an attempt.
func (b *Bridge) noOutput(ref fairlead.Ref) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if it := b.items[task{ref.JobID, ref.Task}]; it != nil && it.lease.Attempt == ref.Attempt && it.stage != ended {
		return "the bridge has no output of it yet: it comes when the task has ended, if " + b.o.System + " tells it"
	}
	return "the bridge has no output of it: it printed nothing, never began, or " + b.o.System + " keeps what it printed where the job says"
}

// answerLog sends the server a part of what a task printed, as far as the QS told.
func (b *Bridge) answerLog(ctx context.Context, r api.LogRequest) {
	reply := api.LogReply{}
	offset := max(0, r.Offset)
	data, size, err := b.logs.ReadAt(r.JobID, r.Task, r.Attempt, offset, r.Limit)
	if err == nil && r.Offset < 0 {
		offset = max(0, size+r.Offset)
		data, size, err = b.logs.ReadAt(r.JobID, r.Task, r.Attempt, offset, r.Limit)
	}
	reply.Chunk = api.LogChunk{Data: data, Offset: offset, Size: size}
	if errors.Is(err, fs.ErrNotExist) {
		reply.Error = b.noOutput(r.Ref)
	} else if err != nil {
		reply.Error = err.Error()
	}
	if err := b.o.Client.ReplyLog(ctx, b.o.Name, r.ID, reply); err != nil && ctx.Err() == nil {
		b.log.Warn("output could not be sent", "task", r.Ref, "error", err)
	}
}

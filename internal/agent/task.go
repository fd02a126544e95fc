package agent

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/gpu"
)

// start begins a task, unless it is known already: a lease is sent again until the
// server knows that it arrived.
func (a *Agent) start(l api.Lease) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ack = append(a.ack, l.Ref)
	if a.tasks[l.Ref] != nil || a.reported(l.Ref) {
		return
	}
	if a.draining {
		a.release = append(a.release, l.Ref)
		a.tell()
		return
	}
	t := &task{lease: l, until: time.Now().Add(a.ttl), halted: make(chan struct{})}
	a.tasks[l.Ref] = t
	go a.run(t)
}

// reported tells whether the end of an attempt waits to be reported.
func (a *Agent) reported(ref fairlead.Ref) bool {
	for _, f := range a.finished {
		if f.Ref == ref {
			return true
		}
	}
	return false
}

// run runs a task to its end.
func (a *Agent) run(t *task) {
	var o fairlead.Outcome
	if gpus, ok := a.takeGPUs(t); ok {
		o = a.perform(t, gpus)
		a.gpus.Give(gpus)
	} else {
		o = fairlead.Outcome{State: fairlead.Cancelled, ExitCode: -1, Cause: t.stop.Cause}
	}
	a.mu.Lock()
	delete(a.tasks, t.lease.Ref)
	o.Cause = bounded(o.Cause)
	if t.back && o.State == fairlead.Cancelled {
		a.release = append(a.release, t.lease.Ref)
	} else {
		a.finished = append(a.finished, api.FromResult(t.lease.Ref, o))
	}
	a.mu.Unlock()
	a.tell()
	select {
	case a.idle <- struct{}{}:
	default:
	}
}

// perform starts the process of a task and waits for its end.
func (a *Agent) perform(t *task, gpus []gpu.Device) fairlead.Outcome {
	p, err := a.launch(&t.lease, gpus)
	defer a.removeScript(&t.lease)
	if err != nil {
		a.log.Warn("a task could not be started", "task", t.lease.Ref, "error", err)
		return unstarted(err)
	}
	a.mu.Lock()
	t.process = p
	if t.stop != nil {
		p.Stop(t.stop.Cause, fairlead.Cancelled)
	}
	a.mu.Unlock()
	return p.Wait()
}

// stop ends a task for the server.
func (a *Agent) stop(s api.Stop) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.tasks[s.Ref]
	if t == nil {
		return
	}
	if t.process == nil {
		t.halt(s)
		return
	}
	t.process.Stop(s.Cause, fairlead.Cancelled)
}

// answerLog sends a part of a task's output to the server.
func (a *Agent) answerLog(ctx context.Context, r api.LogRequest) {
	reply := a.readLog(r)
	if err := a.options.Client.ReplyLog(ctx, a.options.Name, r.ID, reply); err != nil && ctx.Err() == nil {
		a.log.Warn("output could not be sent", "task", r.Ref, "error", err)
	}
}

func (a *Agent) readLog(r api.LogRequest) api.LogReply {
	offset := r.Offset
	if offset < 0 {
		_, size, err := a.logs.ReadAt(r.JobID, r.Task, r.Attempt, 0, 0)
		if err != nil {
			return logError(err)
		}
		offset = max(0, size+offset)
	}
	data, size, err := a.logs.ReadAt(r.JobID, r.Task, r.Attempt, offset, r.Limit)
	if err != nil {
		return logError(err)
	}
	return api.LogReply{Chunk: api.LogChunk{Data: data, Offset: offset, Size: size}}
}

func logError(err error) api.LogReply {
	if errors.Is(err, fs.ErrNotExist) {
		return api.LogReply{Error: "there is no such output any more"}
	}
	return api.LogReply{Error: err.Error()}
}

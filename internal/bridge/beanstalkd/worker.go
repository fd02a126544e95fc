package beanstalkd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/internal/wait"
)

// WorkerOptions describes a worker: the queue that it serves, and how it runs tasks.
type WorkerOptions struct {
	Options
	Slots  int // tasks at a time
	Worker *mq.Worker
	// Drain is how long tasks may continue when the worker ends.
	Drain time.Duration
}

// Work takes tasks and runs them, until ctx ends.
func Work(ctx context.Context, o WorkerOptions) {
	o.defaults()
	var wg sync.WaitGroup
	for range o.Slots {
		wg.Go(func() {
			try := bridge.NewRetry(o.Away, time.Second/2, 5*time.Second)
			for again := false; ctx.Err() == nil; {
				again = try.Again(ctx, o.serve(ctx, again, try))
			}
		})
	}
	wg.Wait()
}

// serve takes tasks over one connection, until it breaks or ctx ends. After a failure it waits a second
// first, so that slots with a running task can take the task back.
func (o *WorkerOptions) serve(ctx context.Context, again bool, try *bridge.Retry) error {
	l, err := dial(ctx, o.Address)
	if err != nil {
		return err
	}
	defer func() { l.close() }()
	if again && !wait.For(ctx, time.Second) {
		return nil
	}
	work := beanstalk.NewTubeSet(l.Conn, o.Tube)
	for ctx.Err() == nil {
		id, body, err := work.Reserve(time.Second)
		switch {
		case errors.Is(err, beanstalk.ErrTimeout), errors.Is(err, beanstalk.ErrDeadline):
			try.Answered()
			continue
		case l.check(err) != nil:
			return fmt.Errorf("take tasks: %w", strange(o.Address, err))
		}
		try.Answered()
		task, err := mq.ReadTask(body)
		if err != nil {
			o.Logger.Warn("buried a job that no bridge has put here", "job", id, "error", err)
			l.check(l.Bury(id, 0))
			continue
		}
		h := &held{o: o, link: l, id: id, task: task}
		h.perform(ctx)
		if l != h.link {
			l.close()
			l, work = h.link, beanstalk.NewTubeSet(h.Conn, o.Tube)
		}
		if l.broken.Load() {
			return nil
		}
	}
	return nil
}

// held is a task that this worker has reserved.
type held struct {
	o *WorkerOptions
	*link
	id   uint64
	task *mq.Task
}

// perform runs a task, reports its end, and deletes it, in this order.
func (h *held) perform(ctx context.Context) {
	w := h.o.Worker
	r, known := w.End(h.task.Marker)
	if !known {
		started := w.Start(h.task, text(h.id))
		err := h.report(started)
		if err == nil {
			r, err = h.run(ctx, started)
		}
		if err != nil {
			h.o.Logger.Warn("left a task to other workers", "marker", h.task.Marker, "error", err)
			h.release()
			return
		}
		w.Ended(r)
	}
	err := h.report(r)
	if err == nil {
		err = h.check(h.Delete(h.id))
	}
	if err != nil {
		h.o.Logger.Warn("the end of a task could not be reported", "marker", h.task.Marker, "error", err)
		h.link.close() // the task comes again
	}
}

// report puts a report.
func (h *held) report(r mq.Report) error {
	_, err := beanstalk.NewTube(h.Conn, h.o.tube("reports")).Put(r.Encode(reportLimit), 0, 0, time.Minute)
	return h.check(err)
}

// release returns the task to its place in the queue, for other workers.
func (h *held) release() {
	stats, err := h.StatsJob(h.id)
	if h.check(err) != nil {
		return
	}
	priority, err := strconv.ParseUint(stats["pri"], 10, 32)
	if err == nil {
		h.check(h.Release(h.id, uint32(priority), 0))
	}
}

// run runs the task, and keeps it reserved meanwhile.
func (h *held) run(ctx context.Context, started mq.Report) (mq.Report, error) {
	stats, err := h.StatsJob(h.id)
	if h.check(err) != nil {
		return started, err
	}
	ttr, err := strconv.Atoi(stats["ttr"])
	if err != nil {
		return started, fmt.Errorf("time to run of job %d: %w", h.id, err)
	}
	running, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	type end struct {
		mq.Report
		error
	}
	ended := make(chan end, 1)
	go func() {
		r, err := h.o.Worker.Run(running, h.task, started)
		ended <- end{r, err}
	}()
	heard, deaf := context.WithCancel(running)
	var ears sync.WaitGroup
	shaken := make(chan struct{}, 1) // signals that the connection may be lost
	ears.Go(func() { h.hear(heard, stop, shaken) })
	defer ears.Wait() // until the end is reported, the message is not deleted: it goes back when we stop listening
	defer deaf()
	leaving := ctx.Done()
	var late <-chan time.Time
	touch := time.NewTicker(max(time.Duration(ttr)*time.Second/4, 200*time.Millisecond))
	defer touch.Stop()
	for {
		select {
		case e := <-ended:
			if e.error == nil && h.broken.Load() {
				e.error = h.regain(running, stop)
			}
			return e.Report, e.error
		case <-touch.C:
			h.keep(running, stop)
		case <-shaken:
			h.keep(running, stop)
		case <-leaving:
			leaving, late = nil, time.After(h.o.Drain)
		case <-late:
			stop(mq.ErrLeaving)
		}
	}
}

// keep extends the reservation of the task, and takes the task back after a failure of the connection.
func (h *held) keep(ctx context.Context, stop context.CancelCauseFunc) {
	err := h.check(h.Touch(h.id))
	if err != nil && !h.broken.Load() {
		stop(mq.ErrLost)
	} else if err != nil {
		h.regain(ctx, stop)
	}
}

// regain takes the task back over a new connection, unless another worker got it meanwhile.
func (h *held) regain(ctx context.Context, stop context.CancelCauseFunc) error {
	for {
		l, err := dial(context.WithoutCancel(ctx), h.o.Address)
		if err == nil {
			body, err := l.ReserveJob(h.id)
			if task, bad := mq.ReadTask(body); err == nil && bad == nil && task.Marker == h.task.Marker {
				h.link = l
				return nil
			}
			l.close()
			if err == nil || answered(err) {
				stop(mq.ErrLost)
				return mq.ErrLost
			}
		}
		if !wait.For(ctx, 100*time.Millisecond) {
			return mq.ErrLost
		}
	}
}

// hear waits for the message that the task is canceled. It also notices at once when the server goes away.
func (h *held) hear(ctx context.Context, stop context.CancelCauseFunc, shaken chan<- struct{}) {
	for {
		if l, err := dial(ctx, h.o.Address); err == nil {
			h.hearOver(ctx, l, stop)
		}
		wait.Wake(shaken)
		if !wait.For(ctx, time.Second) {
			return
		}
	}
}

// hearOver waits for the message over one connection.
func (h *held) hearOver(ctx context.Context, l *link, stop context.CancelCauseFunc) {
	defer l.close()
	defer l.within(ctx)()
	notices := beanstalk.NewTubeSet(l.Conn, h.o.cancelTube(h.task.Marker))
	for {
		_, _, err := notices.Reserve(time.Hour)
		if err == nil {
			stop(mq.ErrCancelled)
			<-ctx.Done()
			return
		}
		if !errors.Is(err, beanstalk.ErrTimeout) && !errors.Is(err, beanstalk.ErrDeadline) {
			return
		}
	}
}

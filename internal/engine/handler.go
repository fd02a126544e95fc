package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/tries"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// Causes for which the context of a handler ended; see context.Cause.
var (
	ErrStopped   = errors.New("fairlead: the job was canceled or requeued, or has to make room for others")
	ErrTimeLimit = errors.New("fairlead: the time limit is over")
	ErrLeaseLost = errors.New("fairlead: the lease was lost")
)

// errShutdown ends handlers that outlive the grace period. To a handler it is a lost lease; the task is released.
var errShutdown = fmt.Errorf("%w: the worker is shutting down", ErrLeaseLost)

// WorkOptions describe a worker of this process.
type WorkOptions struct {
	Name     string             // of the node; default: "local"
	Slots    int                // tasks at once; default 1
	Handlers map[string]Handler // by kind
	// Middleware wraps every handler, the first outermost.
	Middleware []Middleware
	// Grace is how long running tasks may continue after the context of Work ended.
	// Default: 10 s.
	Grace time.Duration
	// Joined is called when the worker takes tasks; it may be nil.
	Joined func()
	// Ended is called with the outcome of each attempt, before the store gets it. It must be quick, and may be nil.
	Ended func(*queue.Lease, queue.Outcome)
}

// Work runs handlers in this process until ctx ends. Then it takes no more tasks, gives the running ones the grace
// period, and ends the rest, which will run again.
func (a *workers) Work(ctx context.Context, o WorkOptions) error {
	if len(o.Handlers) == 0 {
		return queue.Invalidf("handlers", "there are none")
	}
	o.Name, o.Slots = cmp.Or(o.Name, "local"), cmp.Or(o.Slots, 1)
	o.Grace = cmp.Or(o.Grace, 10*time.Second)
	unit := read(a.base, func(s *State) string { return s.Core.Cluster().Unit() })
	capacity := queue.Amounts{unit: int64(o.Slots)}
	for kind := range o.Handlers {
		capacity[queue.HandlerPrefix+kind] = queue.AnyNumber
	}
	w := &handlerWorker{
		log: a.Log, ended: o.Ended, handlers: wrap(o.Handlers, o.Middleware), over: make(chan struct{}),
		running: map[queue.Ref]context.CancelCauseFunc{}, starts: make(chan []*queue.Lease, 1024),
	}
	defer close(w.over)
	m, err := a.joinFree(ctx, o.Name, capacity, w)
	if err != nil {
		return err
	}
	reporting, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	w.member, w.ends = m, newEndings(func(results []queue.Result) ([]queue.Verdict, error) {
		return a.finisher.finish(reporting, results)
	})
	if o.Joined != nil {
		o.Joined()
	}
	w.run(ctx, o.Grace)
	leave, cancel := context.WithTimeout(reporting, lastWords)
	defer cancel()
	if err := m.Leave(leave); err != nil {
		return fmt.Errorf(
			"the server could not record that %s leaves; its tasks wait again when their leases end: %w", o.Name, err)
	}
	return nil
}

// joinFree joins as soon as the name is free: a killed process counts as present under its name for a while.
func (a *workers) joinFree(ctx context.Context, name string, capacity queue.Amounts, w Worker) (*Member, error) {
	for began := time.Now(); ; {
		m, err := a.Join(ctx, name, capacity, NodeInfo{}, w, nil)
		if !errors.Is(err, queue.ErrTaken) || time.Since(began) > announceHolds+announceEvery {
			return m, err
		}
		if !wait.For(ctx, announceEvery/4) {
			return nil, err
		}
	}
}

// handlerWorker runs handlers, each task in a goroutine. A goroutine that has finished a task takes another one,
// because its stack has already grown, and growing a stack takes longer than running a small task.
type handlerWorker struct {
	log      *slog.Logger
	ended    func(*queue.Lease, queue.Outcome) // called for each attempt, if not nil
	member   *Member
	ends     *endings
	handlers map[string]Handler
	starts   chan []*queue.Lease
	tasks    sync.WaitGroup
	over     chan struct{} // closed when all tasks have ended and no more come

	mu      sync.Mutex
	running map[queue.Ref]context.CancelCauseFunc
	idle    []chan<- func() // goroutines that have run a task, and may run another
}

// Start implements Worker.
func (w *handlerWorker) Start(leases []*queue.Lease) {
	select {
	case w.starts <- leases:
	default: // cannot happen while slots bound the leases
		go func() {
			select {
			case w.starts <- leases:
			case <-w.over:
			}
		}()
	}
}

// Stop implements Worker.
func (w *handlerWorker) Stop(refs []queue.Ref, _ string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range refs {
		if cancel := w.running[r]; cancel != nil {
			cancel(ErrStopped)
		}
	}
}

// run takes leases until ctx ends, renews them, and waits for running handlers.
func (w *handlerWorker) run(ctx context.Context, grace time.Duration) {
	work, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	renew := time.NewTicker(w.member.TTL() / 3)
	defer renew.Stop()
	for ctx.Err() == nil {
		select {
		case leases := <-w.starts:
			for _, l := range leases {
				w.begin(work, l)
			}
		case <-renew.C:
			w.renew(ctx)
		case <-ctx.Done():
		}
	}
	w.drain(work, end, grace, renew.C)
}

// drain takes no more tasks, releases leases whose handlers have not begun, and waits for the rest.
func (w *handlerWorker) drain(work context.Context, end context.CancelCauseFunc, grace time.Duration, renew <-chan time.Time) {
	done := make(chan struct{})
	go func() {
		w.takeNoMore(work)
		w.tasks.Wait()
		close(done)
	}()
	timeout := time.AfterFunc(grace, func() { end(errShutdown) })
	defer timeout.Stop()
	for {
		select {
		case leases := <-w.starts:
			w.giveBack(work, leases)
		case <-renew:
			w.renew(work)
		case <-done:
			w.giveBack(work, w.left())
			return
		}
	}
}

// takeNoMore drains the node. Afterwards w.starts has the last leases.
func (w *handlerWorker) takeNoMore(ctx context.Context) {
	ctx, end := context.WithTimeout(ctx, lastWords)
	defer end()
	if err := w.member.Drain(ctx); err != nil {
		w.log.Warn("the store does not answer; tasks that it may still lease to this worker count as lost", "error", err)
	}
}

// left returns the leases that the worker has not taken up.
func (w *handlerWorker) left() (all []*queue.Lease) {
	for {
		select {
		case leases := <-w.starts:
			all = append(all, leases...)
		default:
			return all
		}
	}
}

// giveBack releases leases that have not begun.
func (w *handlerWorker) giveBack(ctx context.Context, leases []*queue.Lease) {
	if len(leases) == 0 {
		return
	}
	refs := make([]queue.Ref, len(leases))
	for i, l := range leases {
		refs[i] = l.Ref
	}
	ctx, end := outlasting(ctx, lastWords)
	defer end()
	if err := w.member.finisher.releaser.release(ctx, refs); err != nil {
		w.log.Warn("tasks could not be returned; they wait until their leases end", "error", err)
	}
}

func (w *handlerWorker) begin(work context.Context, l *queue.Lease) {
	ctx, cancel := context.WithCancelCause(work)
	w.mu.Lock()
	w.running[l.Ref] = cancel
	w.mu.Unlock()
	w.tasks.Add(1)
	w.start(func() {
		defer w.tasks.Done()
		defer cancel(nil)
		o, left := queue.Outcome{State: queue.Failed, Cause: leftCause}, true
		// A handler may end its goroutine, as t.FailNow does. Then only deferred calls still run.
		defer func() {
			if left {
				w.logOf(l).Error("a handler ended its goroutine")
			}
			w.report(ctx, work, l, o)
		}()
		o, left = w.handle(ctx, l), false
	})
}

// leftCause is the cause of a task whose handler did not return.
const leftCause = "the handler ended its goroutine (runtime.Goexit) and did not return"

// report reports the outcome of an attempt to the store.
func (w *handlerWorker) report(ctx, work context.Context, l *queue.Lease, o queue.Outcome) {
	ended := time.Now()
	if w.ended != nil {
		w.ended(l, o)
	}
	w.mu.Lock()
	delete(w.running, l.Ref)
	w.mu.Unlock()
	if o.State == queue.Cancelled && errors.Is(context.Cause(ctx), errShutdown) {
		w.insist(work, l, func(ctx context.Context) error {
			return w.member.finisher.releaser.release(ctx, []queue.Ref{l.Ref})
		})
		return
	}
	w.insist(work, l, func(ctx context.Context) error {
		_, err := w.ends.Do(ctx, queue.Result{Ref: l.Ref, Outcome: o, Ended: ended})
		return err
	})
}

// start runs f in an idle goroutine, or in a new one.
func (w *handlerWorker) start(f func()) {
	w.mu.Lock()
	n := len(w.idle) - 1
	if n < 0 {
		w.mu.Unlock()
		go w.goOn(f)
		return
	}
	next := w.idle[n]
	w.idle = w.idle[:n]
	w.mu.Unlock()
	next <- f
}

// idleFor is how long a goroutine waits for another task before it ends.
const idleFor = time.Second

// goOn runs f, and then further functions.
func (w *handlerWorker) goOn(f func()) {
	next := make(chan func(), 1)
	timer := time.NewTimer(idleFor)
	defer timer.Stop()
	for {
		f()
		w.mu.Lock()
		w.idle = append(w.idle, next)
		w.mu.Unlock()
		timer.Reset(idleFor)
		select {
		case f = <-next:
			continue
		case <-w.over:
			return
		case <-timer.C:
		}
		w.mu.Lock()
		at := slices.Index(w.idle, next)
		if at >= 0 {
			w.idle = slices.Delete(w.idle, at, at+1)
		}
		w.mu.Unlock()
		if at >= 0 {
			return
		}
		f = <-next // one was sent at the last moment
	}
}

// insist calls the function tell until the store takes the outcome of an attempt. After the grace period it keeps
// trying only for a short time, because the program is ending.
func (w *handlerWorker) insist(work context.Context, l *queue.Lease, tell func(context.Context) error) {
	ctx, end := outlasting(work, lastWords)
	defer end()
	log := w.logOf(l)
	for again := 50 * time.Millisecond; ; again = min(2*again, 5*time.Second) {
		err := tell(ctx)
		switch {
		case err == nil:
			return
		case ctx.Err() != nil, errors.Is(err, queue.ErrClosed):
			log.Error("the end of a task could not be recorded; the task may run again", "error", err)
			return
		}
		log.Warn("the end of a task could not be recorded; trying again", "error", err, "in", again)
		wait.For(ctx, again)
	}
}

// logOf returns the logger for an attempt.
func (w *handlerWorker) logOf(l *queue.Lease) *slog.Logger {
	return w.log.With("job", l.JobID, "task", l.Task, "kind", l.Job.Kind, "attempt", l.Attempt)
}

// handle runs the handler, converts its error to an outcome, and logs failures.
func (w *handlerWorker) handle(ctx context.Context, l *queue.Lease) (o queue.Outcome) {
	h := w.handlers[l.Job.Kind]
	if h == nil {
		w.logOf(l).Error("a task has no handler")
		return queue.Outcome{State: queue.Failed, Cause: fmt.Sprintf("there is no handler of kind %q", l.Job.Kind)}
	}
	if l.Job.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.Job.Limit, ErrTimeLimit)
		defer cancel()
	}
	defer func() {
		if p := recover(); p != nil {
			stack := string(debug.Stack())
			o = queue.Outcome{State: queue.Failed, Cause: fmt.Sprintf("panic: %v\n%s", p, stack)}
			w.logOf(l).Error("the handler of a task panicked", "panic", p, "stack", stack)
		}
	}()
	err := h.Handle(ctx, l)
	switch cause := context.Cause(ctx); {
	case err == nil:
		return queue.Outcome{State: queue.Succeeded}
	case errors.Is(cause, ErrStopped), errors.Is(cause, ErrLeaseLost):
		w.logOf(l).Debug("a task was ended early", "cause", cause, "error", err)
		return queue.Outcome{State: queue.Cancelled, Cause: cause.Error()}
	case errors.Is(cause, ErrTimeLimit):
		w.logOf(l).Warn("a task has reached its time limit", "limit", l.Job.Limit, "error", err)
		if o = tries.Outcome(err); o.State != queue.Failed {
			o = queue.Outcome{State: queue.Failed} // too late to snooze
		}
		o.Cause = fmt.Sprintf("time limit of %v", l.Job.Limit)
		return o
	}
	if o = tries.Outcome(err); o.State == queue.Failed {
		w.logOf(l).Warn("a task failed", "error", err, "final", o.Final)
	}
	return o
}

// renew renews the leases of running handlers and ends handlers whose leases are lost.
func (w *handlerWorker) renew(ctx context.Context) {
	w.mu.Lock()
	refs := make([]queue.Ref, 0, len(w.running))
	for r := range w.running {
		refs = append(refs, r)
	}
	w.mu.Unlock()
	errs, err := w.member.Renew(ctx, refs)
	if err != nil {
		if ctx.Err() == nil {
			w.log.Warn("the leases of the running tasks could not be renewed", "tasks", len(refs), "error", err)
		}
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, err := range errs {
		if errors.Is(err, queue.ErrStaleAttempt) {
			if cancel := w.running[refs[i]]; cancel != nil {
				cancel(ErrLeaseLost)
			}
		}
	}
}

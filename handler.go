package fairlead

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// Handler does the work of one kind of job.
type Handler interface {
	// Handle runs one task. The context ends when the job is cancelled, its time limit
	// is over, or the lease was lost; its cause says which. A nil error is success; a
	// task that returns an error is tried again as often as its job allows.
	Handle(ctx context.Context, l *Lease) error
}

// HandlerFunc is a function as a [Handler].
type HandlerFunc func(ctx context.Context, l *Lease) error

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, l *Lease) error { return f(ctx, l) }

// Middleware makes a handler of another, to do something before and after all of them: logs,
// traces, metrics, transactions.
type Middleware func(next Handler) Handler

// wrap puts middleware around handlers.
func wrap(handlers map[string]Handler, all []Middleware) map[string]Handler {
	out := make(map[string]Handler, len(handlers))
	for kind, h := range handlers {
		for _, m := range slices.Backward(all) {
			h = m(h)
		}
		out[kind] = h
	}
	return out
}

// Why the context of a handler ended, to be found with context.Cause.
var (
	ErrStopped   = errors.New("fairlead: the job was cancelled or requeued, or has to make room for others")
	ErrTimeLimit = errors.New("fairlead: the time limit is over")
	ErrLeaseLost = errors.New("fairlead: the lease was lost")
)

// errShutdown ends what outlives the grace period. For handlers it is a lost lease; the
// task is given back.
var errShutdown = fmt.Errorf("%w: the worker ends", ErrLeaseLost)

// WorkOptions describe a worker of this process.
type WorkOptions struct {
	Name     string             // of the node; default: "local"
	Slots    int                // tasks at once; default 1
	Handlers map[string]Handler // by kind
	// Middleware goes around every handler, the first outermost.
	Middleware []Middleware
	// Grace is how long running tasks may go on after the context of Work ended.
	// Default: 10 s.
	Grace time.Duration
}

// Work runs handlers in this process until ctx ends. It then takes nothing new, waits
// for the running tasks for the grace period, and ends the rest, which will run again.
func (l *Loop) Work(ctx context.Context, o WorkOptions) error {
	if len(o.Handlers) == 0 {
		return invalid("handlers", "there are none")
	}
	o.Name, o.Slots = cmp.Or(o.Name, "local"), cmp.Or(o.Slots, 1)
	o.Grace = cmp.Or(o.Grace, 10*time.Second)
	_, _, unit := l.Capacity()
	capacity := Amounts{unit: int64(o.Slots)}
	for kind := range o.Handlers {
		capacity[handlerPrefix+kind] = anyNumber
	}
	w := &handlerWorker{handlers: wrap(o.Handlers, o.Middleware), running: map[Ref]context.CancelCauseFunc{}, starts: make(chan []*Lease, 1024), over: make(chan struct{})}
	defer close(w.over)
	m, err := l.joinFree(ctx, o.Name, capacity, w)
	if err != nil {
		return err
	}
	w.member, w.ends = m, together{finish: m.Finish}
	w.run(ctx, o.Grace)
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.Grace)
	defer cancel()
	return m.Leave(leave)
}

// handlerWorker runs handlers, each task in a goroutine of its own. Those that end go on with
// another task: their stacks have grown already, which small tasks take longer for than to run.
type handlerWorker struct {
	member   *Member
	ends     together
	handlers map[string]Handler
	starts   chan []*Lease
	tasks    sync.WaitGroup
	over     chan struct{} // closed when all tasks have ended and no more come

	mu      sync.Mutex
	running map[Ref]context.CancelCauseFunc
	idle    []chan<- func() // goroutines that have run a task, and may run another
}

// Start implements Worker.
func (w *handlerWorker) Start(leases []*Lease) {
	select {
	case w.starts <- leases:
	default: // cannot happen while slots bound what is leased
		go func() { w.starts <- leases }()
	}
}

// Stop implements Worker.
func (w *handlerWorker) Stop(refs []Ref, _ string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range refs {
		if cancel := w.running[r]; cancel != nil {
			cancel(ErrStopped)
		}
	}
}

// run takes leases until ctx ends, renews them, and waits for what runs.
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
	w.member.Drain()
	w.drain(work, end, grace, renew.C)
}

// drain gives back what has not begun and waits for the rest.
func (w *handlerWorker) drain(work context.Context, end context.CancelCauseFunc, grace time.Duration, renew <-chan time.Time) {
	done := make(chan struct{})
	go func() { w.tasks.Wait(); close(done) }()
	timeout := time.NewTimer(grace)
	defer timeout.Stop()
	for {
		select {
		case leases := <-w.starts:
			w.giveBack(work, leases)
		case <-renew:
			w.renew(work)
		case <-timeout.C:
			end(errShutdown)
		case <-done:
			return
		}
	}
}

// giveBack releases leases that have not begun.
func (w *handlerWorker) giveBack(ctx context.Context, leases []*Lease) {
	refs := make([]Ref, len(leases))
	for i, l := range leases {
		refs[i] = l.Ref
	}
	w.member.Release(ctx, refs)
}

func (w *handlerWorker) begin(ctx context.Context, l *Lease) {
	ctx, cancel := context.WithCancelCause(ctx)
	w.mu.Lock()
	w.running[l.Ref] = cancel
	w.mu.Unlock()
	w.tasks.Add(1)
	w.start(func() {
		defer w.tasks.Done()
		defer cancel(nil)
		o := w.handle(ctx, l)
		w.mu.Lock()
		delete(w.running, l.Ref)
		w.mu.Unlock()
		if o.State == Cancelled && errors.Is(context.Cause(ctx), errShutdown) {
			w.insist(func(ctx context.Context) error { return w.member.Release(ctx, []Ref{l.Ref}) })
			return
		}
		w.insist(func(context.Context) error {
			return w.ends.end(Result{Ref: l.Ref, Outcome: o})
		})
	})
}

// start runs f in a goroutine that is idle, or in a new one.
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

// idleFor is after how long without a task a goroutine ends.
const idleFor = time.Second

// goOn runs f, and what comes after it.
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
		f = <-next // it was given one at the last moment
	}
}

// insist tells how an attempt ended until the store takes it.
func (w *handlerWorker) insist(tell func(context.Context) error) {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		err := tell(context.Background())
		if err == nil || errors.Is(err, ErrClosed) {
			return
		}
		time.Sleep(pause)
	}
}

// handle runs the handler and turns what it returns into an outcome.
func (w *handlerWorker) handle(ctx context.Context, l *Lease) (o Outcome) {
	h := w.handlers[l.Job.Kind]
	if h == nil {
		return Outcome{State: Failed, Cause: fmt.Sprintf("there is no handler of kind %q", l.Job.Kind)}
	}
	if l.Job.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.Job.Limit, ErrTimeLimit)
		defer cancel()
	}
	defer func() {
		if p := recover(); p != nil {
			o = Outcome{State: Failed, Cause: fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	err := h.Handle(ctx, l)
	switch cause := context.Cause(ctx); {
	case err == nil:
		return Outcome{State: Succeeded}
	case errors.Is(cause, ErrStopped), errors.Is(cause, ErrLeaseLost):
		return Outcome{State: Cancelled, Cause: cause.Error()}
	case errors.Is(cause, ErrTimeLimit):
		return Outcome{State: Failed, Cause: fmt.Sprintf("time limit of %v", l.Job.Limit)}
	}
	return Outcome{State: Failed, Cause: err.Error(), Final: isPermanent(err)}
}

// renew renews what runs and ends what is not ours any more.
func (w *handlerWorker) renew(ctx context.Context) {
	w.mu.Lock()
	refs := make([]Ref, 0, len(w.running))
	for r := range w.running {
		refs = append(refs, r)
	}
	w.mu.Unlock()
	errs, err := w.member.Renew(ctx, refs)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, err := range errs {
		if errors.Is(err, ErrStaleAttempt) {
			if cancel := w.running[refs[i]]; cancel != nil {
				cancel(ErrLeaseLost)
			}
		}
	}
}

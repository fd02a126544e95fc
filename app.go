package fairlead

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/schedule"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// App is the background jobs of a program: it keeps them in a store, decides whose turn it
// is, and runs their handlers in this process.
type App struct {
	options  Options
	store    Store
	loop     *Loop
	forecast *forecast.Forecaster
	handlers map[string]Handler
	around   []Middleware
	crons    []cron

	counters counters
	setting  sync.Mutex // held while shares are changed and put in force

	mu   sync.Mutex // guards life, and the handlers and their middleware until it runs
	life *life      // nil before it runs
}

// life is an App that runs, or has run.
type life struct {
	stop   context.CancelFunc // has it take nothing new, and end
	joined chan struct{}      // closed when it takes tasks
	ended  chan struct{}      // closed when all has ended; err counts then
	err    error
}

// counters count attempts by how they ended.
type counters struct{ succeeded, failed, snoozed, stopped atomic.Int64 }

// cron is a schedule that submits jobs.
type cron struct {
	name     string
	schedule schedule.Schedule
	job      func(at time.Time) Job
}

// Options are the settings of an [App]. The zero value is usable.
type Options struct {
	// Slots is how many tasks run at once in this process. Default: 10.
	Slots int
	// Shares are who is entitled to what. Default: [DefaultShares], equal parts for all users.
	Shares Shares
	// Name is that of this process among others on the same database, which have to have
	// others. Default: that of the host with the number of the process.
	Name string
	// Grace is how long running handlers may go on after the context of Run ended. Default: 10 s.
	Grace time.Duration
	// LeaseTTL is after how long a process that is silent is taken for lost. Default: a minute.
	LeaseTTL time.Duration
	// Retention is for how long jobs that ended are kept, by a store that is a queue.Forgetter.
	// Default: for ever.
	Retention time.Duration
	// AnyKind has Submit take jobs of kinds that nobody is known to handle. Default: a program that handles some kinds
	// is told so, as such a job would wait in silence.
	AnyKind bool
	// Logger is told which tasks failed, with the error or the stack of a panic, and what went wrong
	// with the store. Default: nothing is logged.
	Logger *slog.Logger
}

// apps counts those of this process, whose names are to differ.
var apps atomic.Int64

// New returns the background jobs that a store keeps. Nothing runs before [App.Run] or [App.Start];
// jobs can be submitted at once.
func New(ctx context.Context, store Store, o Options) (*App, error) {
	name := engine.ProcessName()
	if n := apps.Add(1); n > 1 {
		name += fmt.Sprint("-", n)
	}
	o.Slots, o.Name = cmp.Or(o.Slots, 10), cmp.Or(o.Name, name)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Slots < 0 {
		return nil, queue.Invalidf("slots", "must be at least 1, got %d", o.Slots)
	}
	if err := checkRetention(store, o.Retention); err != nil {
		return nil, err
	}
	loop, err := NewLoop(ctx, store, LoopOptions{Shares: o.Shares, LeaseTTL: o.LeaseTTL, Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	a := &App{options: o, store: store, loop: loop, forecast: forecast.New(loop), handlers: map[string]Handler{}}
	if !o.AnyKind {
		loop.CheckKinds(a.checkKind)
	}
	return a, nil
}

// checkRetention refuses what could not be done.
func checkRetention(store Store, kept time.Duration) error {
	if _, can := store.(queue.Forgetter); !can && kept != 0 {
		return errors.New("fairlead: Options.Retention: the store keeps everything, or nothing; leave it out")
	}
	if kept < 0 {
		return errors.New("fairlead: Options.Retention: below 0")
	}
	return nil
}

// Handle has the jobs with arguments of a type done by a function. It is to be called before
// [App.Run] or [App.Start], and panics if the kind has a handler.
func Handle[A Args](a *App, f func(ctx context.Context, w *Work[A]) error) {
	var zero A
	if t := reflect.TypeFor[A](); t.Kind() == reflect.Pointer {
		zero = reflect.New(t.Elem()).Interface().(A) // a nil one may not know its kind
	}
	a.Handle(zero.Kind(), HandlerOf(f))
}

// Handle has jobs of a kind done by a handler. It is to be called before [App.Run] or [App.Start],
// and panics if the kind has one.
func (a *App) Handle(kind string, h Handler) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mustNotRun("Handle")
	if kind == "" || h == nil || a.handlers[kind] != nil {
		panic(fmt.Sprintf("fairlead: Handle: the kind %q is empty, or has a handler, or the handler is nil", kind))
	}
	a.handlers[kind] = h
}

// Use puts middleware around all handlers, the first outermost. It is to be called before
// [App.Run] or [App.Start].
func (a *App) Use(m ...Middleware) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mustNotRun("Use")
	a.around = append(a.around, m...)
}

// mustNotRun panics if the App runs. The caller holds the lock.
func (a *App) mustNotRun(what string) {
	if a.life != nil {
		panic("fairlead: " + what + " after Run or Start")
	}
}

// Submit adds jobs and returns their ids when they are in the store; see [Client.Submit]. The
// Args of a job name its kind:
//
//	ids, err := app.Submit(ctx, fairlead.Job{User: customer, Args: Thumbnail{URL: url}})
//
// A job of a kind that neither this process nor another one that it knows of handles is refused, see [Options].
func (a *App) Submit(ctx context.Context, jobs ...Job) ([]int64, error) {
	return a.loop.Client().Submit(ctx, jobs...)
}

// SubmitTx is Submit as part of a transaction of your own; see [Client.SubmitTx].
func (a *App) SubmitTx(ctx context.Context, tx Tx, jobs ...Job) ([]int64, error) {
	return a.loop.Client().SubmitTx(ctx, tx, jobs...)
}

// checkKind refuses jobs of a kind that nobody is known to handle. A process without handlers only submits: those who
// handle its jobs may not run yet. Before it runs, a process knows of no other one on the store.
func (a *App) checkKind(kind string, handled bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, shared := a.store.(queue.Peers)
	if handled || len(a.handlers) == 0 || a.handlers[kind] != nil || shared && a.life == nil {
		return nil
	}
	own := strings.Join(slices.Sorted(maps.Keys(a.handlers)), ", ")
	return queue.Invalidf("kind", "nobody handles kind %.80q (here: %s); call Handle before, or set Options.AnyKind",
		kind, own)
}

// Why says why a job waits, with the numbers that were compared.
func (a *App) Why(ctx context.Context, job int64) (*why.Answer, error) {
	return a.forecast.Why(ctx, job, WhyOptions{})
}

// Shares are the pools with what they are entitled to and what they had.
func (a *App) Shares(ctx context.Context) []PoolView { return views.Pools(ctx, a.loop) }

// Watch begins to receive what happens from now on; see [Loop.Watch].
func (a *App) Watch() *Watch { return a.loop.Watch() }

// Client asks about jobs and changes them.
func (a *App) Client() *Client { return a.loop.Client() }

// Loop is what decides: the rest of what it can tell and do.
func (a *App) Loop() *Loop { return a.loop }

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

// App runs the background jobs of a program: it keeps them in a store, decides which start next, and runs their
// handlers in this process.
type App struct {
	options  Options
	store    Store
	loop     *Loop
	forecast *forecast.Forecaster
	handlers map[string]Handler
	around   []Middleware
	crons    []cron

	counters counters
	setting  sync.Mutex // held while shares are changed and applied

	mu   sync.Mutex // guards life, and before the App runs the handlers and their middleware
	life *life      // nil before it runs
}

// life is the state of an App that runs, or has run.
type life struct {
	stop   context.CancelFunc // makes it take no more tasks, and end
	joined chan struct{}      // closed once it takes tasks
	ended  chan struct{}      // closed when everything has ended; err is valid then
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
	// Shares are the entitlements of pools. Default: [DefaultShares], equal parts for all users.
	Shares Shares
	// Name identifies this process among those on the same database; no two may have the same. Default: the host name
	// with the process number.
	Name string
	// Grace is how long running handlers may continue after the context of Run has ended. Default: 10 s.
	Grace time.Duration
	// LeaseTTL is how long a process may be silent before it counts as lost. Default: a minute.
	LeaseTTL time.Duration
	// Retention is how long ended jobs are kept, if the store is a queue.Forgetter. Default: forever.
	Retention time.Duration
	// AnyKind makes Submit accept jobs of kinds that no known process handles. By default a program that handles some
	// kinds gets an error for such a job, which would otherwise wait in silence.
	AnyKind bool
	// Logger receives failed tasks, with the error or the stack of a panic, and errors of the store. Default: nothing
	// is logged.
	Logger *slog.Logger
}

// apps counts the Apps of this process, to give them different names.
var apps atomic.Int64

// New returns an App for the jobs of a store. It runs nothing before [App.Run] or [App.Start]; jobs can be submitted at
// once.
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

// checkRetention refuses a retention that the store cannot provide.
func checkRetention(store Store, kept time.Duration) error {
	if _, can := store.(queue.Forgetter); !can && kept != 0 {
		return errors.New("fairlead: Options.Retention: the store keeps everything, or nothing; leave it out")
	}
	if kept < 0 {
		return errors.New("fairlead: Options.Retention: below 0")
	}
	return nil
}

// Handle registers a function as the handler of the jobs with arguments of type A. Call it before [App.Run] or
// [App.Start]. It panics if the kind already has a handler.
func Handle[A Args](a *App, f func(ctx context.Context, w *Work[A]) error) {
	var zero A
	if t := reflect.TypeFor[A](); t.Kind() == reflect.Pointer {
		zero = reflect.New(t.Elem()).Interface().(A) // the Kind method of a nil pointer may fail
	}
	a.Handle(zero.Kind(), HandlerOf(f))
}

// Handle registers the handler of a kind of job. Call it before [App.Run] or [App.Start]. It panics if the kind already
// has one.
func (a *App) Handle(kind string, h Handler) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mustNotRun("Handle")
	if kind == "" || h == nil || a.handlers[kind] != nil {
		panic(fmt.Sprintf("fairlead: Handle: the kind %q is empty, or has a handler, or the handler is nil", kind))
	}
	a.handlers[kind] = h
}

// Use wraps middleware around all handlers, the first outermost. Call it before [App.Run] or [App.Start].
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

// Submit adds jobs and returns their ids when they are in the store; see [Client.Submit]. The Args of a job name its
// kind:
//
//	ids, err := app.Submit(ctx, fairlead.Job{User: customer, Args: Thumbnail{URL: url}})
//
// It refuses a job of a kind that neither this process nor another one that it knows handles; see [Options.AnyKind].
func (a *App) Submit(ctx context.Context, jobs ...Job) ([]int64, error) {
	return a.loop.Client().Submit(ctx, jobs...)
}

// SubmitTx is Submit as part of a transaction of your own; see [Client.SubmitTx].
func (a *App) SubmitTx(ctx context.Context, tx Tx, jobs ...Job) ([]int64, error) {
	return a.loop.Client().SubmitTx(ctx, tx, jobs...)
}

// checkKind refuses jobs of a kind that no known process handles. A process without handlers only submits: the
// processes that handle its jobs may not run yet. Before it runs, a process knows no other processes on the store.
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

// Why explains why a job waits, with the numbers that were compared.
func (a *App) Why(ctx context.Context, job int64) (*why.Answer, error) {
	return a.forecast.Why(ctx, job, WhyOptions{})
}

// Shares returns the pools with their entitlements and usage.
func (a *App) Shares(ctx context.Context) []PoolView { return views.Pools(ctx, a.loop) }

// Watch receives events from now on; see [Loop.Watch].
func (a *App) Watch() *Watch { return a.loop.Watch() }

// Client returns the client that queries and changes jobs.
func (a *App) Client() *Client { return a.loop.Client() }

// Loop returns the engine that decides, for everything else that it can report and do.
func (a *App) Loop() *Loop { return a.loop }

package engine

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/poolnames"
	"github.com/fairlead/fairlead/internal/poolpath"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// Loop is the engine: it decides which jobs of a store run, and hands them to the workers that joined it. It serves
// every deployment: handlers in a user's own program, and a server with agents on many machines.
type Loop struct {
	*base
	*workers
	client *Client

	Overrides *Overrides
	Intake    *Intake
	Books     *Books

	troubles *troubles
	peers    *peers
	builder  *builder
	follower *follower
	leaser   *leaser
	expirer  *expirer
	levels   *levelKeeper

	// Functions that run beside the engine for readers of the state. Set before the engine runs.
	beside []func(context.Context)
}

// NewLoop returns an engine over the store. Nothing happens before [Loop.Run].
func NewLoop(ctx context.Context, store queue.Store, o LoopOptions) (*Loop, error) {
	o.Shares = o.Shares.Complete()
	o.LeaseTTL = cmp.Or(o.LeaseTTL, time.Minute)
	o.Batch = cmp.Or(o.Batch, 500)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	l := assemble(store, o)
	if err := l.loadSettings(ctx); err != nil {
		return nil, err
	}
	err := l.builder.rebuild(ctx)
	l.restarted = l.builder.found
	if err == nil {
		l.Update(func(s *State) { s.recounted = s.recount(time.Now()) })
		err = l.reportNames(ctx)
	}
	return l, err
}

// assemble creates the parts of an engine.
func assemble(store queue.Store, o LoopOptions) *Loop {
	b, client, users := newBase(store, o), NewClient(store, o.Shares), newUsers(store)
	client.tree = func(path string) (there, divides bool) {
		return read2(b, func(s *State) (there, divides bool) { return poolpath.There(s.Core, path) })
	}
	client.find = func(name string) (string, error) { return b.poolPath(name) }
	t := &troubles{b}
	peers := newPeers(b, t)
	apply := &applier{base: b, makers: &users.makers}
	build := &builder{base: b, applier: apply, users: users, kinds: overrideKinds}
	follow := &follower{base: b, peers: peers, applier: apply, builder: build}
	overrides := &Overrides{newChanger(b), follow}
	release := &releaser{base: b}
	finish := &finisher{
		base: b, overrides: overrides, applier: apply, releaser: release,
		unkept: refusedEnds{log: b.Log, all: map[queue.Ref]*refusedEnd{}},
	}
	return &Loop{
		base: b, client: client, troubles: t, peers: peers, builder: build, follower: follow,
		Overrides: overrides, Books: &Books{b, follow},
		Intake:  &Intake{base: b, client: client, users: users, follower: follow},
		workers: &workers{base: b, peers: peers, overrides: overrides, releaser: release, finisher: finish},
		leaser:  &leaser{base: b, peers: peers, follower: follow, releaser: release},
		expirer: &expirer{base: b, overrides: overrides, troubles: t},
		levels:  &levelKeeper{base: b},
	}
}

// Beside makes [Loop.Run] run a function in parallel, until ctx ends. Call it before Run.
func (l *Loop) Beside(f func(ctx context.Context)) { l.beside = append(l.beside, f) }

// Sample makes the engine call a function with the state repeatedly, about eight times per lease duration. The function
// must be quick. Call Sample before [Loop.Run].
func (l *Loop) Sample(f func(*State, time.Time)) { l.expirer.samplers = append(l.expirer.samplers, f) }

// Client returns a client that uses the current shares.
func (l *Loop) Client() *Client { return l.client }

func (l *Loop) loadSettings(ctx context.Context) error {
	keeper, ok := l.Store.(queue.Settings)
	if !ok {
		return nil
	}
	all, err := keeper.Settings(ctx)
	if err != nil {
		return err
	}
	return update1(l.base, func(s *State) error {
		s.Mended.load(all)
		for _, k := range overrideKinds {
			if err := k.load(s, all); err != nil {
				return err
			}
		}
		s.names, err = poolnames.Read(all)
		return err
	})
}

// Run decides until ctx ends. Workers that still run tasks then keep their leases, until [Member.Leave] returns them or
// they expire.
func (l *Loop) Run(ctx context.Context) error {
	defer l.leaser.releaser.pending.Wait()
	defer l.levels.keepLast(ctx)
	l.outages.note() // the server was down until now
	changed := make(chan struct{}, 1)
	if n, ok := l.Store.(queue.Notifier); ok {
		defer n.Notify(changed)()
	}
	if l.peers.store != nil {
		var said sync.WaitGroup
		defer said.Wait()
		said.Go(func() { l.peers.announcing(ctx) })
	}
	var beside sync.WaitGroup
	defer beside.Wait()
	for _, f := range l.beside {
		beside.Go(func() { f(ctx) })
	}
	expire := time.NewTicker(l.expireEvery())
	defer expire.Stop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	pause := time.Duration(0)
	for {
		next, err := l.measuredTurn(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			pause = min(max(2*pause, 50*time.Millisecond), 5*time.Second)
			l.troubles.failed(toSchedule, err, pause)
			next = time.Now().Add(pause)
		default:
			pause = 0
			l.troubles.worked(toSchedule)
			if l.troubles.has(toExpire) {
				l.expirer.expire(ctx)
			}
		}
		wait := time.Hour
		if !next.IsZero() {
			wait = max(0, time.Until(next))
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return nil
		case <-l.wake:
		case <-changed:
		case <-timer.C:
		case <-expire.C:
			l.expirer.expire(ctx)
			l.levels.keep(ctx, false)
		}
	}
}

// expireEvery returns the interval of the search for expired leases. If other servers may take over the tasks of a dead
// one, they should not wait much longer than its leases last.
func (l *Loop) expireEvery() time.Duration {
	d := max(l.Options.LeaseTTL/8, time.Millisecond)
	if l.peers.store != nil {
		d = min(d, 500*time.Millisecond)
	}
	return d
}

// turn brings the core up to date and starts the tasks that it chooses. It returns the instant of the next turn that is
// worthwhile even if nothing changes.
func (l *Loop) turn(ctx context.Context) (next time.Time, err error) {
	if err := l.Sync(ctx); err != nil {
		return next, err
	}
	for {
		var d sched.Decision
		more, err := l.leaser.step(ctx, &d)
		l.Overrides.endAll(ctx)
		if err != nil || !more {
			return d.Next, err
		}
		l.leaser.letOthers(ctx)
		if err := l.Sync(ctx); err != nil {
			return d.Next, err
		}
	}
}

// Sync applies the new changes of the store. Call it before a question about a job, so that the answer covers all jobs
// submitted before the question.
func (l *Loop) Sync(ctx context.Context) error { return l.follower.sync(ctx) }

// How long a view waits for the store before it shows an older state: normally, and soon after the store has failed to
// answer.
const (
	viewWait  = time.Second
	viewAgain = 50 * time.Millisecond
)

// Refresh is [Loop.Sync] for a view, which shows an older state if the store does not answer soon.
func (l *Loop) Refresh(ctx context.Context) error {
	wait := viewWait
	if l.silences.within(10 * viewWait) {
		wait = viewAgain
	}
	patient, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	err := l.Sync(patient)
	if err != nil && ctx.Err() == nil {
		l.silences.note()
	}
	return err
}

// Observe sets the observer of the engine, in place of the former one. Call it before [Loop.Run].
func (l *Loop) Observe(o Observer) {
	l.Update(func(*State) { l.Observer = o })
}

// Read and its variants call f with the state of an engine, and return its results.
func Read[A any](l *Loop, f func(*State) A) (a A) {
	return read(l.base, f)
}

func Read2[A, B any](l *Loop, f func(*State) (A, B)) (a A, b B) {
	return read2(l.base, f)
}

func Read3[A, B, C any](l *Loop, f func(*State) (A, B, C)) (a A, b B, c C) {
	l.Read(func(s *State) { a, b, c = f(s) })
	return a, b, c
}

// overrideKinds are all kinds of overrides.
var overrideKinds = []anOverride{&drains, &boosts, &pauses, &reservations, &bridges}

// measuredTurn takes a turn, and then measures fairness.
func (l *Loop) measuredTurn(ctx context.Context) (next time.Time, err error) {
	next, err = l.turn(ctx)
	l.Update(func(s *State) {
		f, now := &s.Fairness, time.Now()
		if now.Before(f.next) {
			if next.IsZero() || f.next.Before(next) {
				next = f.next
			}
			return
		}
		s.Core.Advance(now)
		f.Measure(s.Core, now, s.Core.Read().Entitlements())
		f.next = now.Add((fairnessPart - 1) * time.Since(now))
	})
	return next, err
}

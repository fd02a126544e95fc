package fairlead

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/usage"
)

// LoopOptions are the settings of a loop. The zero value is usable.
type LoopOptions struct {
	Shares Shares // default: DefaultShares
	Seed   uint64 // of the policies that draw lots
	// LeaseTTL is for how long a task is leased. Workers renew in time; a worker that
	// is silent for longer is taken for lost. Default: a minute.
	LeaseTTL time.Duration
	// Batch bounds the tasks that are leased in one transaction. Default: 500.
	Batch  int
	Logger *slog.Logger // default: discards
	// Name tells this server from others that share its store, see [Peers]. Default: the name
	// of the host with the number of the process.
	Name string
	// Address is where clients reach it, as the others tell them.
	Address string
	// Changed is called when another server has changed settings of the program, with their
	// keys; see [Settings]. It must not block.
	Changed func(keys []string)
	// History keeps how the pools fare in the store; see [HistoryKeeper].
	History bool
}

// Loop decides which jobs of a store run, and hands them to the workers that joined
// it. It serves every shape of deployment: handlers in a user's own program, and a
// server with agents on many machines.
type Loop struct {
	store   Store
	options LoopOptions
	client  *Client
	log     *slog.Logger
	wake    chan struct{}
	ending  sync.RWMutex // held for reading while attempts are ended, else while the core is made anew
	syncing sync.Mutex   // held while changes of the store are read and applied, or leases made or ended

	won    uint64  // tasks that were leased; guarded by syncing
	vain   int     // steps in a row that won nothing of what they wanted
	strays []stray // leases that a step has to give back

	mu           sync.Mutex // guards what follows
	core         *sched.Scheduler
	shares       Shares
	runs         map[taskID]*liveRun
	members      map[string]*Member
	drained      map[string]string // node -> why, by an administrator
	bridges      map[string]string // node -> kind of its bridge
	untold       bool              // jobs are to be told to the core again
	boosts       map[int64]Boost
	lastBoost    int64
	pauses       map[string]Pause // by pool
	reservations reservations
	cursor       int64
	decided      decisions
	version      uint64 // counts changes of the core's state

	order     lately[Order]
	timetable lately[Timetable]
	ranges    lately[Timetable]
	glimpses  glimpses

	peers   *peers
	changed map[string]bool // keys of settings that others changed

	watchers watchers
	observer Observer // set before the loop runs
	reasons  reasons
	stats    Stats
	fairness fairness
	arrivals arrivals
	lengths  lengths

	historian historian
	beats     beats
	past      pasts
	limits    limitPasts

	made      time.Time
	restarted bool // the store held something before
}

type taskID struct {
	job  int64
	task int
}

// liveRun is a task that runs.
type liveRun struct {
	ref     Ref
	run     sched.RunID
	member  *Member // nil while its holder has not joined (again)
	holder  string
	pool    sched.PoolID
	header  Header
	started time.Time
	came    time.Time // since when it waited for room
	stop    string    // why its holder has to end it, if it has
	queued  bool      // waits in another queueing system since started
	begun   bool      // waited there, and began
}

// NewLoop returns a loop over the store. Nothing happens before [Loop.Run].
func NewLoop(ctx context.Context, store Store, o LoopOptions) (*Loop, error) {
	if o.Shares.Sched.NewPolicy == nil {
		o.Shares = DefaultShares()
	}
	o.LeaseTTL = cmp.Or(o.LeaseTTL, time.Minute)
	o.Batch = cmp.Or(o.Batch, 500)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	l := &Loop{
		store: store, options: o, client: NewClient(store, o.Shares), log: o.Logger,
		wake: make(chan struct{}, 1), shares: o.Shares,
		runs: map[taskID]*liveRun{}, members: map[string]*Member{}, drained: map[string]string{}, bridges: map[string]string{}, boosts: map[int64]Boost{}, pauses: map[string]Pause{}, reservations: reservations{all: map[string]Reservation{}}, glimpses: glimpses{},
		timetable: lately[Timetable]{times: tableAge}, ranges: lately[Timetable]{times: tableAge},
		made: time.Now(), peers: newPeers(store, o), changed: map[string]bool{}, observer: unobserved{},
	}
	if err := l.loadSettings(ctx); err != nil {
		return nil, err
	}
	err := l.rebuild(ctx)
	l.restarted = l.cursor > 0
	return l, err
}

// Client returns a client that uses the shares in force.
func (l *Loop) Client() *Client { return l.client }

// drainSetting is the key prefix under which drained nodes are kept.
const drainSetting = "drain/"

func (l *Loop) loadSettings(ctx context.Context) error {
	keeper, ok := l.store.(Settings)
	if !ok {
		return nil
	}
	all, err := keeper.Settings(ctx)
	if err != nil {
		return err
	}
	l.loadDrained(all)
	l.loadBridges(all)
	return cmp.Or(l.loadReservations(all), l.loadBoosts(all), l.loadPauses(all))
}

// loadDrained reads which nodes are drained.
func (l *Loop) loadDrained(settings map[string]string) {
	for key, why := range settings {
		if node, drained := strings.CutPrefix(key, drainSetting); drained {
			l.drained[node] = why
		}
	}
}

// rebuild makes the core's state from the store's: at the beginning, and when the
// loop fell too far behind the changes.
func (l *Loop) rebuild(ctx context.Context) error {
	// No attempt may end between the picture that is taken of the store and the core that
	// is made of it: it would be taken for running for ever.
	l.ending.Lock()
	defer l.ending.Unlock()
	var changes changeList
	cursor, err := l.store.Snapshot(ctx, func(c Change) error { changes.add(c); return nil })
	if err != nil {
		return fmt.Errorf("read the state: %w", err)
	}
	var accounts Accounts
	if acc, ok := l.store.(Accountant); ok {
		if err := acc.SetHalfLife(ctx, l.shares.Sched.HalfLife); err != nil {
			return fmt.Errorf("set the half-life: %w", err)
		}
		if accounts, err = acc.Usage(ctx); err != nil {
			return fmt.Errorf("read the usage: %w", err)
		}
	}
	stops, err := l.store.Stops(ctx, StopQuery{Since: l.safeSince()})
	if err != nil {
		return fmt.Errorf("read the stops: %w", err)
	}
	now := time.Now()
	core, err := sched.New(l.shares.Sched, now, l.options.Seed)
	if err != nil {
		return err
	}
	if err := l.restoreRates(ctx, core); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replace(core, cursor)
	l.protect(stops)
	core.SetWindows(l.windowsAt(now), now)
	for path, a := range accounts.Pools {
		core.Restore(core.Pool(path), a.Used, a.Mean, a.Seen)
	}
	for name, m := range l.members {
		l.placeNode(name, m)
	}
	clear(l.peers.nodes)
	clear(l.peers.doubts)
	l.placePeers(now)
	l.runs, l.decided = map[taskID]*liveRun{}, decisions{}
	for i, chunk := range changes {
		for _, c := range chunk {
			l.apply(c)
		}
		changes[i] = nil
	}
	l.reboost(accounts, time.Now())
	l.repause(time.Now())
	core.Renew()
	l.version++
	l.rereadSettings()
	return l.keepDays(ctx)
}

// Run decides until ctx ends. Workers that still run tasks then keep their leases;
// [Member.Leave] and the end of the leases see to those.
func (l *Loop) Run(ctx context.Context) error {
	changed := make(chan struct{}, 1)
	if n, ok := l.store.(Notifier); ok {
		defer n.Notify(changed)()
	}
	if l.peers.store != nil {
		var said sync.WaitGroup
		defer said.Wait()
		said.Go(func() { l.announcing(ctx) })
	}
	if keeper, can := l.store.(HistoryKeeper); can && l.options.History {
		var kept sync.WaitGroup
		defer kept.Wait()
		kept.Go(func() { l.keepHistory(ctx, keeper) })
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
			l.failed(err, pause)
			next = time.Now().Add(pause)
		default:
			pause = 0
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
			l.expire(ctx)
		}
	}
}

func (l *Loop) failed(err error, pause time.Duration) {
	l.log.Error("scheduling failed; trying again", "error", err, "in", pause)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.LastError, l.stats.ErrorAt = err.Error(), time.Now()
}

// expireEvery is how often it is looked for leases that ran out. Where others may run what a
// dead server was running, they are not to wait for much longer than its leases last.
func (l *Loop) expireEvery() time.Duration {
	d := max(l.options.LeaseTTL/8, time.Millisecond)
	if l.peers.store != nil {
		d = min(d, 500*time.Millisecond)
	}
	return d
}

// poke wakes the loop.
func (l *Loop) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// turn brings the core up to date and starts what can start. It returns the instant
// at which time alone makes another turn worthwhile.
func (l *Loop) turn(ctx context.Context) (next time.Time, err error) {
	if err := l.sync(ctx); err != nil {
		return next, err
	}
	for {
		var d sched.Decision
		more, err := l.step(ctx, &d)
		l.endBoosts(ctx)
		l.endPauses(ctx)
		l.endReservations(ctx)
		if err != nil || !more {
			return d.Next, err
		}
		l.letOthers(ctx)
		if err := l.sync(ctx); err != nil {
			return d.Next, err
		}
	}
}

// sync applies what changed in the store. Whoever asks about a job calls it first, so
// that the answer knows what was submitted before the question.
func (l *Loop) sync(ctx context.Context) error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	return l.syncHeld(ctx)
}

// syncHeld is sync for a caller that holds syncing.
func (l *Loop) syncHeld(ctx context.Context) error {
	if l.retell() {
		return l.rebuild(ctx)
	}
	if err := l.readChanges(ctx, 0); err != nil {
		return err
	}
	if err := l.settle(ctx); err != nil {
		return err
	}
	return l.resettle(ctx)
}

// readChanges applies what changed in the store, up to a cursor, or all if that is 0.
func (l *Loop) readChanges(ctx context.Context, upTo int64) error {
	for {
		most := 1000
		if upTo > 0 {
			if most = int(min(int64(most), upTo-l.cursor)); most <= 0 {
				return nil
			}
		}
		changes, next, err := l.store.Changes(ctx, l.cursor, most)
		if errors.Is(err, ErrBehind) {
			return l.rebuild(ctx)
		}
		if err != nil {
			return fmt.Errorf("read changes: %w", err)
		}
		if len(changes) == 0 {
			return nil
		}
		l.mu.Lock()
		for _, c := range changes {
			l.apply(c)
		}
		l.cursor = next
		l.version++
		l.mu.Unlock()
		if len(changes) < most {
			return nil // what has come since then is told of
		}
	}
}

// end counts a task out of the core, if it is the attempt that the core knows.
func (l *Loop) end(ref Ref, now time.Time, learn bool) *liveRun { return l.endAt(ref, now, now, learn) }

// endAt is end for a task that ended some time ago.
func (l *Loop) endAt(ref Ref, ended, now time.Time, learn bool) *liveRun {
	id := taskID{ref.JobID, ref.Task}
	r := l.runs[id]
	if r == nil || r.ref != ref {
		return nil
	}
	delete(l.runs, id)
	l.countOut(r, usage.Within(ended, r.started, now), now, learn)
	l.version++
	return r
}

// stop asks the holders of attempts to end them.
func (l *Loop) stop(runs []Run, why string) {
	byMember := map[*Member][]Ref{}
	for _, r := range runs {
		if m := l.members[r.Holder]; m != nil {
			byMember[m] = append(byMember[m], r.Ref)
		}
	}
	for m, refs := range byMember {
		m.worker.Stop(refs, why)
	}
}

// HalfLife is by how much usage decays.
func (l *Loop) HalfLife() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.core.Clock().HalfLife()
}

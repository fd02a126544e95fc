package bridge

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/process"
)

// Bridge is a worker that has a QS run its tasks.
type Bridge struct {
	o      Options
	log    *slog.Logger
	ledger *ledger
	logs   *process.Logs
	unit   string // of the server
	name   string // of this run, for markers and for the server

	server     *Outage // of the server
	unreported *Outage // the server answers, and does not take reports
	refusing   *Outage // the QS answers, and does not take jobs

	mu       sync.Mutex
	book     *frontback.Book // nil: tasks are fed as capacity frees
	items    map[task]*item
	leaving  []*item // nobody's any more: they are taken out of the QS
	over     []*item // the server knows their ends: the QS may forget them
	send     []*item // to be submitted, in this order
	seq      int64
	session  string
	ttl      time.Duration
	renewed  time.Time
	said     time.Time // when the server was told last what the QS says
	ack      []fairlead.Ref
	refused  []api.Finished // ends of tasks that never came into the ledger
	release  []fairlead.Ref
	held     bool // leases were not taken because their tasks are being reported
	draining bool

	news   chan struct{} // there is something to report
	work   chan struct{} // there is something to submit
	follow chan struct{} // there is something to look after
	settle chan struct{} // the server is to be asked about tasks
	failed chan error    // what cannot be gone on after
}

// task is a task, whatever its attempt.
type task struct {
	job  int64
	task int
}

// item is a row of the ledger, and what is known of it besides.
type item struct {
	*row
	live      bool      // the lease is ours, as far as we know
	unsure    bool      // it may be in the QS: it is looked for before it is sent
	sending   bool      // it is being submitted
	stop      string    // why it is to be taken out of the QS
	cancelled time.Time // when that was last asked for
	absent    int       // how often in a row it was not there
	status    Status    // last heard
	heard     time.Time
	untold    bool // the server does not know status yet
	says      bool // nor what the QS says lately, which is all that is new
	stale     bool // the server did not take its end under this attempt
	adoptable bool // it may go on under the next attempt: the server was asked
}

// Run runs a bridge until ctx ends.
func Run(ctx context.Context, o Options) (err error) {
	o.fill()
	b := &Bridge{
		o: o, log: o.Logger, items: map[task]*item{}, name: rand.Text()[:10],
		news: make(chan struct{}, 1), work: make(chan struct{}, 1), follow: make(chan struct{}, 1), settle: make(chan struct{}, 1), failed: make(chan error, 1),
	}
	b.server = NewOutage(b.log, "the server does not answer, and what is in the queueing system goes on", "the server answers again")
	b.unreported = NewOutage(b.log, "the server does not take reports", "the server takes reports again")
	b.refusing = NewOutage(b.log, "the queueing system does not take jobs now", "the queueing system takes jobs again")
	if err := b.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.learnUnit(ctx); err != nil {
		return err
	}
	if err := b.join(ctx); err != nil {
		return err
	}
	// What is being done when the end comes is done to its end.
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var wg sync.WaitGroup
	for _, f := range []func(context.Context){b.polls, b.reports, b.submits, b.follows, b.settles} {
		wg.Go(func() { f(work) })
	}
	select {
	case <-ctx.Done():
		b.drain(work)
	case err = <-b.failed:
	}
	end()
	wg.Wait()
	return err
}

// open opens the ledger and takes up what is in it.
func (b *Bridge) open(ctx context.Context) (err error) {
	if b.ledger, err = openLedger(ctx, b.o.Dir, b.o.Name); err != nil {
		return err
	}
	if b.logs, err = process.OpenLogs(filepath.Join(b.o.Dir, "logs")); err != nil {
		return errors.Join(err, b.ledger.close())
	}
	if err := b.restore(); err != nil {
		return errors.Join(fmt.Errorf("the ledger in %s: %w", b.o.Dir, err), b.close())
	}
	return nil
}

func (b *Bridge) close() error { return errors.Join(b.logs.Close(), b.ledger.close()) }

// restore takes up the rows of an earlier run. What was written down and not acknowledged
// may be in the QS.
func (b *Bridge) restore() error {
	rows, err := b.ledger.rows()
	if err != nil {
		return err
	}
	for _, r := range rows {
		it := &item{row: r, live: true, unsure: r.stage == intent, untold: true}
		b.items[it.task()] = it
		b.seq = max(b.seq, r.seq)
		if r.stage == intent {
			b.send = append(b.send, it)
		}
	}
	if len(rows) > 0 {
		b.log.Info("taking up what an earlier run left", "tasks", len(rows), "unsure", len(b.send))
	}
	if b.o.Groups != nil {
		b.book, err = b.ledger.book(b.o.Groups.Book(), rows)
	}
	return err
}

// learnUnit asks the server by what it counts slots.
func (b *Bridge) learnUnit(ctx context.Context) error {
	return b.persist(ctx, func() error {
		s, err := b.o.Client.Status(ctx)
		if err == nil {
			b.unit = s.Summary.Unit
		}
		return err
	})
}

// serverBackoff is how often the server is tried that does not answer.
var serverBackoff = Backoff{First: 100 * time.Millisecond, Most: 5 * time.Second}

// persist tries until it succeeds, or there is no use.
func (b *Bridge) persist(ctx context.Context, f func() error) error {
	for again := serverBackoff; ; {
		err := f()
		switch {
		case err == nil:
			b.server.Answer()
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fairlead.ErrForbidden), errors.Is(err, fairlead.ErrInvalid), errors.Is(err, fairlead.ErrState):
			return err
		}
		b.server.Fail(err)
		if !sleep(ctx, again.Next()) {
			return ctx.Err()
		}
	}
}

func (it *item) task() task { return task{it.lease.JobID, it.lease.Task} }

// entry is what the QS is asked about.
func (it *item) entry() Entry { return Entry{Marker: it.marker, ID: it.id, Submitted: it.submitted} }

// change writes to the ledger. A bridge that cannot must not go on: it would forget.
func (b *Bridge) change(items, gone []*item) error {
	err := b.ledger.change(rowsOf(items), rowsOf(gone), b.book)
	if err != nil {
		select {
		case b.failed <- fmt.Errorf("%w; what is in the queueing system is followed when the bridge is started again", err):
		default:
		}
	}
	return err
}

func rowsOf(items []*item) []*row {
	var rows []*row
	for _, it := range items {
		rows = append(rows, it.row)
	}
	return rows
}

// poke wakes whoever waits at a channel.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// wait waits for a channel, or so long, or until the end, of which it returns false.
func wait(ctx context.Context, c <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-c:
	case <-t.C:
	}
	return ctx.Err() == nil
}

func sleep(ctx context.Context, d time.Duration) bool { return wait(ctx, nil, d) }

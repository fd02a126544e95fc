package bridge

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/process"
	"github.com/fairlead/fairlead/queue"
)

// state holds the data that the loops of a bridge share. The lock mu guards the fields below it. Callers of
// the state's methods hold the lock, unless a method says that it takes the lock.
type state struct {
	o       *Options
	log     *slog.Logger
	ledger  *ledger
	logs    *process.Logs
	unit    string // of the server
	signals signals

	mu       sync.Mutex
	book     *frontback.Book // nil: tasks are fed as capacity becomes free
	items    map[task]*item
	leaving  []*item // items without a lease: they must leave the QS
	over     []*item // the server knows their ends: the QS may forget them
	stale    []Entry // former entries of tasks, which the QS lost: it may forget them
	send     []*item // to submit, in this order
	seq      int64
	session  string
	ttl      time.Duration
	renewed  time.Time
	said     time.Time // when the server last learned the words of the QS
	ack      []queue.Ref
	refused  []api.Finished // ends of tasks that never came into the ledger
	release  []queue.Ref
	held     bool // leases were not accepted yet, because earlier entries of their tasks are not settled
	draining bool
}

// signals wakes the loops.
type signals struct {
	news   chan struct{} // there is something to report
	work   chan struct{} // there is something to submit
	follow chan struct{} // there is something to ask the QS or to cancel
	settle chan struct{} // there are tasks to ask the server about
	failed chan error    // errors that end the bridge
}

func newState(o *Options) *state {
	s := &state{o: o, log: o.Logger, items: map[task]*item{}}
	for _, c := range []*chan struct{}{&s.signals.news, &s.signals.work, &s.signals.follow, &s.signals.settle} {
		*c = make(chan struct{}, 1)
	}
	s.signals.failed = make(chan error, 1)
	return s
}

// restore loads the rows of an earlier run. A row that the QS has not acknowledged may be in the QS.
func (s *state) restore() error {
	rows, err := s.ledger.rows()
	if err != nil {
		return err
	}
	for _, r := range rows {
		it := &item{row: r, live: true, unsure: r.stage == intent, unreported: true}
		s.items[it.task()] = it
		s.seq = max(s.seq, r.seq)
		if r.stage == intent {
			s.send = append(s.send, it)
		}
	}
	if len(rows) > 0 {
		s.log.Info("continuing the tasks of an earlier run", "tasks", len(rows), "unsure", len(s.send))
	}
	if s.o.Groups != nil {
		s.book, err = s.ledger.book(s.o.Groups.Book(), rows)
	}
	return err
}

// change writes to the ledger. If that fails, it ends the bridge, which would forget entries otherwise.
func (s *state) change(items, gone []*item) error {
	err := s.ledger.change(rowsOf(items), rowsOf(gone), s.book)
	if err != nil {
		select {
		case s.signals.failed <- fmt.Errorf("%w; the next run follows the tasks in the queueing system", err):
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

func (s *state) fail(err error) {
	select {
	case s.signals.failed <- err:
	default:
	}
}

// part moves entries that have left the QS from leaving to over. The caller holds the lock.
func (s *state) part() {
	s.leaving = slices.DeleteFunc(s.leaving, func(it *item) bool {
		if it.stage == ended {
			s.over = append(s.over, it)
		}
		return it.stage == ended
	})
}

// hold copies the book's record of an item into the item.
func (s *state) hold(it *item) {
	it.held = nil
	if s.book == nil {
		return
	}
	if h, known := s.book.Held(it.seq); known {
		it.held = &h
	}
}

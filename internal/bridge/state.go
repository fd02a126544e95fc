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

// state is what the loops of a bridge share. What stands below mu is read and written under it. Whoever
// calls a method holds it, unless the method says that it takes it.
type state struct {
	o       *Options
	log     *slog.Logger
	ledger  *ledger
	logs    *process.Logs
	unit    string // of the server
	signals signals

	mu       sync.Mutex
	book     *frontback.Book // nil: tasks are fed as capacity frees
	items    map[task]*item
	leaving  []*item // nobody's any more: they are taken out of the QS
	over     []*item // the server knows their ends: the QS may forget them
	stale    []Entry // under which tasks were in the QS before it lost them: it may forget them
	send     []*item // to be submitted, in this order
	seq      int64
	session  string
	ttl      time.Duration
	renewed  time.Time
	said     time.Time // when the server was told last what the QS says
	ack      []queue.Ref
	refused  []api.Finished // ends of tasks that never came into the ledger
	release  []queue.Ref
	held     bool // leases were not taken because their tasks are being reported
	draining bool
}

// signals wake the loops.
type signals struct {
	news   chan struct{} // there is something to report
	work   chan struct{} // there is something to submit
	follow chan struct{} // there is something to look after
	settle chan struct{} // the server is to be asked about tasks
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

// restore takes up the rows of an earlier run. What was written down and not acknowledged
// may be in the QS.
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
		s.log.Info("taking up what an earlier run left", "tasks", len(rows), "unsure", len(s.send))
	}
	if s.o.Groups != nil {
		s.book, err = s.ledger.book(s.o.Groups.Book(), rows)
	}
	return err
}

// change writes to the ledger. A bridge that cannot must not go on: it would forget.
func (s *state) change(items, gone []*item) error {
	err := s.ledger.change(rowsOf(items), rowsOf(gone), s.book)
	if err != nil {
		select {
		case s.signals.failed <- fmt.Errorf("%w; what is in the queueing system is followed when the bridge is started again",
			err):
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

// part moves entries that have left the QS from the ones to take out to the ones that it may forget.
// The caller holds the lock.
func (s *state) part() {
	s.leaving = slices.DeleteFunc(s.leaving, func(it *item) bool {
		if it.stage == ended {
			s.over = append(s.over, it)
		}
		return it.stage == ended
	})
}

// hold takes over what the book has of an item.
func (s *state) hold(it *item) {
	it.held = nil
	if s.book == nil {
		return
	}
	if h, known := s.book.Held(it.seq); known {
		it.held = &h
	}
}

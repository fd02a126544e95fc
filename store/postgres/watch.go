package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/wait"
)

// How often the store asks the database whether transactions of the program have ended. It asks soon at first, because
// most end at once. After that, the interval doubles each time, up to longestPoll.
const (
	firstPoll   = notifyDelay
	longestPoll = 250 * time.Millisecond
)

// openTransactions are the program's transactions in which jobs were submitted. Nobody reports when they commit,
// because transactions with notifications would have to commit one after the other. If this process ends before it has
// seen a commit, the other processes find the changes when they poll.
type openTransactions struct {
	writer *writer

	mu      sync.Mutex
	xids    []string
	polling bool
	pushed  chan struct{} // signals another transaction
}

// add watches one more transaction.
func (o *openTransactions) add(xid string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.xids = append(o.xids, xid)
	if o.polling {
		wait.Wake(o.pushed)
		return
	}
	o.polling, o.pushed = true, make(chan struct{}, 1)
	o.writer.db.spawn(o.poll)
}

// poll polls until all have ended.
func (o *openTransactions) poll(ctx context.Context) {
	pause := firstPoll
	next := time.Now().Add(pause)
	for {
		select {
		case <-o.pushed:
			pause = firstPoll
			if soon := time.Now().Add(pause); soon.Before(next) {
				next = soon
			}
			continue
		case <-time.After(time.Until(next)):
		case <-ctx.Done():
			return
		}
		o.mu.Lock()
		xids := slices.Clone(o.xids)
		o.mu.Unlock()
		going, err := o.underWay(ctx, xids)
		if err != nil {
			going = nil // unknown; a read finds committed changes
		}
		if len(going) < len(xids) {
			o.writer.feed.Wake()
			o.writer.wake.due()
			o.writer.roll.due()
		}
		if o.keep(going, len(xids)) {
			return
		}
		pause = min(2*pause, longestPoll)
		next = time.Now().Add(pause)
	}
}

// keep keeps the transactions in progress, and those after the first n. It returns true if there are none.
func (o *openTransactions) keep(going []string, n int) (over bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.xids = append(going, o.xids[n:]...)
	o.polling = len(o.xids) > 0
	return !o.polling
}

// underWay returns those of the transactions that have not ended.
func (o *openTransactions) underWay(ctx context.Context, xids []string) (going []string, err error) {
	err = o.writer.db.query(ctx, `SELECT x FROM unnest($1::text[]) AS w (x) WHERE pg_xact_status(x::xid8) = 'in progress'`,
		func(r pgx.Rows) error {
			var x string
			err := r.Scan(&x)
			going = append(going, x)
			return err
		}, xids)
	return going, err
}

package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// How often is looked whether transactions of the program's own have ended: soon at first,
// since most are over in no time, then after as long as they have taken already.
const (
	firstLook   = quiet
	longestLook = 250 * time.Millisecond
)

// opened are transactions of the program's own in which jobs were submitted. Nobody says when
// they commit: what is told in the transaction itself would have all such commit one after
// the other. Should this process end before it has seen the commit, the others look by themselves.
type opened struct {
	mu     sync.Mutex
	xids   []string
	looks  bool
	pushed chan struct{} // one more came
}

// add has an eye on one more transaction.
func (o *opened) add(s *Store, xid string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.xids = append(o.xids, xid)
	if o.looks {
		select {
		case o.pushed <- struct{}{}:
		default:
		}
		return
	}
	o.looks, o.pushed = true, make(chan struct{}, 1)
	s.spawn(func(ctx context.Context) { o.look(ctx, s) })
}

// look goes on until all have ended.
func (o *opened) look(ctx context.Context, s *Store) {
	pause := firstLook
	next := time.Now().Add(pause)
	for {
		select {
		case <-o.pushed:
			pause = firstLook
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
		going, err := s.underWay(ctx, xids)
		if err != nil {
			going = nil // nobody knows; what was committed is found by looking
		}
		if len(going) < len(xids) {
			s.feed.Wake()
			s.wake.due(s)
			s.roll.due(s)
		}
		if o.keep(going, len(xids)) {
			return
		}
		pause = min(2*pause, longestLook)
		next = time.Now().Add(pause)
	}
}

// keep goes on with the transactions that are under way, and those that came after the first
// n. It returns true when there are none.
func (o *opened) keep(going []string, n int) (over bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.xids = append(going, o.xids[n:]...)
	o.looks = len(o.xids) > 0
	return !o.looks
}

// underWay are those of the transactions that have not ended.
func (s *Store) underWay(ctx context.Context, xids []string) (going []string, err error) {
	err = s.query(ctx, `SELECT x FROM unnest($1::text[]) AS w (x) WHERE pg_xact_status(x::xid8) = 'in progress'`, func(r pgx.Rows) error {
		var x string
		err := r.Scan(&x)
		going = append(going, x)
		return err
	}, xids)
	return going, err
}

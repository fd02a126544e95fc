package postgres

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/wait"
)

// pollEvery is how often the listener has its users look for changes without a notification:
// notifications are lost while the connection is.
const pollEvery = time.Second

// channel is where the stores of one schema notify each other of changes.
func (d *database) channel() string { return strings.TrimSuffix(d.prefix, ".") }

// sender marks the notifications of this store, so that it knows them.
func (d *database) sender() string { return strconv.FormatInt(d.origin, 36) }

// listener has a connection of its own as long as somebody wants to hear of changes.
type listener struct {
	db   *database
	feed *feed

	mu    sync.Mutex
	users int
	stop  context.CancelFunc
}

// join begins to listen unless somebody does already; leave ends what it began.
func (l *listener) join() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users++; l.users == 1 {
		ctx, cancel := context.WithCancel(l.db.living)
		l.stop = cancel
		l.db.spawn(func(context.Context) { l.listen(ctx) })
	}
}

func (l *listener) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users--; l.users == 0 {
		l.stop()
	}
}

func (l *listener) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil {
		l.stop()
	}
}

// listen listens, and connects again whenever that ends. Where there are no sessions it looks.
func (l *listener) listen(ctx context.Context) {
	for l.db.direct == nil && wait.For(ctx, pooledPoll) {
		l.feed.Wake()
	}
	for n := 0; ctx.Err() == nil; n++ {
		if l.listenOnce(ctx) {
			n = 0
		}
		l.feed.Wake()
		if !pause(ctx, n) {
			return
		}
	}
}

// listenOnce reports whether it heard anything before the connection was lost.
func (l *listener) listenOnce(ctx context.Context) (heard bool) {
	conn, err := pgx.ConnectConfig(ctx, l.db.direct)
	if err != nil {
		return false
	}
	defer func() {
		bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		conn.Close(bye)
	}()
	if _, err := conn.Exec(ctx, `LISTEN `+l.db.channel(), pgx.QueryExecModeSimpleProtocol); err != nil {
		return false
	}
	for look := time.Now().Add(pollEvery); ; {
		wait, cancel := context.WithDeadline(ctx, look)
		n, err := conn.WaitForNotification(wait)
		late := wait.Err() != nil
		cancel()
		if err != nil && (!late || ctx.Err() != nil) || conn.IsClosed() {
			return heard
		}
		heard = true
		if n != nil && n.Payload == l.db.sender() && !late {
			continue // it is told here without the database
		}
		l.feed.Wake()
		look = time.Now().Add(pollEvery)
	}
}

// Other stores are notified a while after a change, so that they hear of many changes at once, and
// not too often: a notification is a transaction, too, and wakes everybody who listens.
const (
	notifyDelay    = 2 * time.Millisecond
	notifyInterval = 8 * time.Millisecond // at least, from one to the next
)

// waker notifies the other stores of changes. That is not part of the transaction that made
// them: transactions that notify commit one after the other.
type waker struct {
	db *database

	mu    sync.Mutex
	timer *time.Timer
	last  time.Time
	ended bool
}

func (w *waker) due() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil || w.ended {
		return
	}
	w.timer = time.AfterFunc(max(notifyDelay, notifyInterval-time.Since(w.last)), func() {
		w.db.spawn(func(ctx context.Context) {
			w.mu.Lock()
			w.timer, w.last = nil, time.Now()
			w.mu.Unlock()
			ctx, cancel := context.WithTimeout(ctx, pollEvery)
			defer cancel()
			// A store that misses the notification finds the change when it looks.
			w.db.pool.Exec(ctx, `SELECT pg_notify($1, $2)`, w.db.options.Schema, w.db.sender())
		})
	})
}

func (w *waker) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

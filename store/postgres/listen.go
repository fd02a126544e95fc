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

// pollEvery is the interval at which readers look for changes without a notification: notifications are lost while the
// connection is down.
const pollEvery = time.Second

// channel returns the channel on which the stores of one schema notify each other of changes.
func (d *database) channel() string { return strings.TrimSuffix(d.prefix, ".") }

// sender returns the mark of this store's notifications, so that it recognizes them.
func (d *database) sender() string { return strconv.FormatInt(d.origin, 36) }

// listener has its own connection while somebody wants to learn of changes.
type listener struct {
	db   *database
	feed *feed

	mu    sync.Mutex
	users int
	stop  context.CancelFunc
}

// join begins to listen unless the listener already does; leave undoes it.
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

// listen listens, and reconnects whenever the connection ends. Without sessions it polls.
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

// listenOnce reports whether it received anything before the connection was lost.
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
			continue // this process is notified without the database
		}
		l.feed.Wake()
		look = time.Now().Add(pollEvery)
	}
}

// Other stores are notified a short time after a change, so that one notification covers many changes. Notifications
// are limited because each is a transaction, and wakes all listeners.
const (
	notifyDelay    = 2 * time.Millisecond
	notifyInterval = 8 * time.Millisecond // minimum time from one to the next
)

// waker notifies the other stores of changes. It does so outside the transactions that made the changes, because
// transactions that notify can only commit one after the other.
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
			// A store that misses the notification finds the change at its next poll.
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

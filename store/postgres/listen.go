package postgres

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// pollEvery is how often one who wants to hear of changes is told to look, heard or not:
// notifications are lost while the connection is.
const pollEvery = time.Second

// channel is where the stores of one schema tell each other that there are changes.
func (s *Store) channel() string { return strings.TrimSuffix(s.prefix, ".") }

// voice is by what this store knows its own notifications.
func (s *Store) voice() string { return strconv.FormatInt(s.origin, 36) }

// listener has a connection of its own as long as somebody wants to hear of changes.
type listener struct {
	mu    sync.Mutex
	users int
	stop  context.CancelFunc
}

// Notify implements fairlead.Notifier.
func (s *Store) Notify(c chan<- struct{}) (stop func()) {
	forget := s.feed.Notify(c)
	l := &s.listen
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users++; l.users == 1 {
		ctx, cancel := context.WithCancel(s.living)
		l.stop = cancel
		s.spawn(func(context.Context) { s.hear(ctx) })
	}
	var once sync.Once
	return func() {
		forget()
		once.Do(l.leave)
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

// hear listens, and connects again whenever that ends. Where there are no sessions it looks.
func (s *Store) hear(ctx context.Context) {
	for s.direct == nil && ctx.Err() == nil {
		select {
		case <-time.After(pooledPoll):
			s.feed.Wake()
		case <-ctx.Done():
		}
	}
	for n := 0; ctx.Err() == nil; n++ {
		if s.hearOnce(ctx) {
			n = 0
		}
		s.feed.Wake()
		if !pause(ctx, n) {
			return
		}
	}
}

// hearOnce reports whether it heard anything before the connection was lost.
func (s *Store) hearOnce(ctx context.Context) (heard bool) {
	conn, err := pgx.ConnectConfig(ctx, s.direct)
	if err != nil {
		return false
	}
	defer func() {
		bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		conn.Close(bye)
	}()
	if _, err := conn.Exec(ctx, `LISTEN `+s.channel(), pgx.QueryExecModeSimpleProtocol); err != nil {
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
		if n != nil && n.Payload == s.voice() && !late {
			continue // it is told here without the database
		}
		s.feed.Wake()
		look = time.Now().Add(pollEvery)
	}
}

// quiet is how long after a change the others are told, so that many are told at once; and apart is
// how long it is at least from one time to the next: to tell is a transaction, too, which each who
// listens hears of.
const (
	quiet = 2 * time.Millisecond
	apart = 8 * time.Millisecond
)

// waker tells the other stores of changes. That is not part of the transaction that made
// them: those that notify commit one after the other.
type waker struct {
	mu    sync.Mutex
	timer *time.Timer
	told  time.Time
	ended bool
}

func (w *waker) due(s *Store) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil || w.ended {
		return
	}
	w.timer = time.AfterFunc(max(quiet, apart-time.Since(w.told)), func() {
		s.spawn(func(ctx context.Context) {
			w.mu.Lock()
			w.timer, w.told = nil, time.Now()
			w.mu.Unlock()
			ctx, cancel := context.WithTimeout(ctx, pollEvery)
			defer cancel()
			s.pool.Exec(ctx, `SELECT pg_notify($1, $2)`, s.options.Schema, s.voice()) // who is not told looks by himself
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

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// loadClock reads the half-life and the reference of the amounts in the pools.
func (s *Store) loadClock(conn *sqlite.Conn) error {
	values := map[string]int64{}
	err := each(conn, `SELECT key, value FROM meta`, func(r *sqlite.Stmt) {
		if n, err := strconv.ParseInt(r.ColumnText(1), 10, 64); err == nil {
			values[r.ColumnText(0)] = n
		}
	})
	s.days = int(values[daysKept])
	if ref, ok := values["reference"]; ok {
		s.clock = usage.NewClock(time.Unix(0, ref), time.Duration(values["half_life"]))
	}
	return err
}

// Usage implements fairlead.Accountant.
func (s *Store) Usage(ctx context.Context) (fairlead.Accounts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fairlead.Accounts{}, fairlead.ErrClosed
	}
	now := time.Now()
	growth := life.Decay(s.clock, now)
	out := fairlead.Accounts{HalfLife: s.clock.HalfLife(), AsOf: now, Pools: map[string]fairlead.Account{}}
	for path, id := range s.pools {
		a := s.accounts[id]
		acc := fairlead.Account{Used: a.used / growth, Mean: a.mean, Seen: a.seen / growth, Total: a.total, Ended: a.ended, Since: s.since[id]}
		if c := s.counters[id]; c != nil {
			acc.Counters = *c
		}
		out.Pools[path] = acc
	}
	return out, nil
}

// SetHalfLife implements fairlead.Accountant.
func (s *Store) SetHalfLife(ctx context.Context, halfLife time.Duration) error {
	return s.write(ctx, false, func(t *tx) error {
		t.rebase(halfLife)
		return nil
	})
}

// rebase expresses the amounts of all pools as of now.
func (t *tx) rebase(halfLife time.Duration) {
	clock, amount, _ := t.clock.Rebase(t.now, halfLife)
	all := maps.Clone(t.s.accounts)
	maps.Copy(all, t.accounts)
	for id, a := range all {
		a.used, a.seen = amount(a.used), amount(a.seen)
		all[id] = a
	}
	t.clock, t.accounts, t.rebased = clock, all, true
}

func (t *tx) saveClock() error {
	return errors.Join(
		t.set("half_life", int64(t.clock.HalfLife())),
		t.set("reference", t.clock.Reference().UnixNano()),
	)
}

func (t *tx) set(key string, value int64) error {
	b := binder{stmt: t.conn.Prep(`INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)`)}
	return exec(b.text(key).text(fmt.Sprint(value)).stmt)
}

// Recount implements fairlead.Accountant.
func (s *Store) Recount(ctx context.Context) (map[string]fairlead.Counters, error) {
	out := map[string]fairlead.Counters{}
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return each(conn, `SELECT path, sum(waiting), sum(running) FROM job JOIN pool ON pool.id = job.pool GROUP BY path`,
			func(r *sqlite.Stmt) {
				out[r.ColumnText(0)] = fairlead.Counters{Waiting: r.ColumnInt64(1), Running: r.ColumnInt64(2)}
			})
	})
	return out, err
}

// note keeps an event.
func (t *tx) note(e fairlead.Event) error {
	b := binder{stmt: t.conn.Prep(`INSERT INTO event (job, task, at, code, text) VALUES (?, ?, ?, ?, ?)`)}
	return exec(b.int64(e.Job).ints(e.Task).times(e.At).text(e.Code).text(e.Text).stmt)
}

// Record implements fairlead.Journal.
func (s *Store) Record(ctx context.Context, events []fairlead.Event) error {
	return s.write(ctx, true, func(t *tx) error {
		for _, e := range events {
			if err := t.note(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// Events implements fairlead.Journal.
func (s *Store) Events(ctx context.Context, job int64) (out []fairlead.Event, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		stmt := conn.Prep(`SELECT task, at, code, text FROM event WHERE job = ? ORDER BY id`)
		defer stmt.Reset()
		stmt.BindInt64(1, job)
		for {
			more, err := stmt.Step()
			if err != nil || !more {
				return err
			}
			s := scanner{stmt: stmt}
			out = append(out, fairlead.Event{Job: job, Task: s.int(), At: s.time(), Code: s.text(), Text: s.text()})
		}
	})
	return out, err
}

// settingPrefix keeps the callers' settings apart from our own.
const settingPrefix = "setting/"

// Settings implements fairlead.Settings.
func (s *Store) Settings(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return each(conn, `SELECT key, value FROM meta`, func(r *sqlite.Stmt) {
			if key, ours := strings.CutPrefix(r.ColumnText(0), settingPrefix); ours {
				out[key] = r.ColumnText(1)
			}
		})
	})
	return out, err
}

// Set implements fairlead.Settings.
func (s *Store) Set(ctx context.Context, key, value string) error {
	return s.write(ctx, value != "", func(t *tx) error { return t.setting(key, value) })
}

package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// dutyText takes, or renews, a duty that one server performs for all servers.
const dutyText = `INSERT INTO @.duty AS d (name, server, until) VALUES ($1, $2, $3)
	ON CONFLICT (name) DO UPDATE SET server = excluded.server, until = excluded.until WHERE d.server = excluded.server OR d.until <= $4
	RETURNING true`

// Announce implements queue.Peers.
func (s *Store) Announce(ctx context.Context, x queue.Server, ttl time.Duration) (queue.Roll, error) {
	var roll queue.Roll
	var taken error
	_, err := s.writer.repeat(ctx, func(t *tx) error {
		roll, taken = queue.Roll{}, nil
		// If two servers announce a node of the same name at once, one of them must see the other's.
		t.trip.queue(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "announce "+s.db.prefix)
		if err := t.trip.do(); err != nil {
			return err
		}
		if err := t.askOthers(x.Name, &roll.Others); err != nil {
			return err
		}
		if taken = collision(x, roll.Others); taken != nil {
			return nil
		}
		x.Seen = t.trip.now
		said, err := json.Marshal(x)
		if err != nil {
			return err
		}
		until := life.Nanos(t.trip.now.Add(ttl))
		t.trip.queue(`INSERT INTO @.server (name, seen, until, said) VALUES ($1, $2, $3, $4)
			ON CONFLICT (name) DO UPDATE SET seen = excluded.seen, until = excluded.until, said = excluded.said`, x.Name, life.Nanos(t.trip.now), until, said)
		t.trip.ask(dutyText, func(r pgx.Rows) error { return r.Scan(&roll.Stops) }, "stops", x.Name, until,
			life.Nanos(t.trip.now))
		t.trip.queue(`DELETE FROM @.server WHERE until < $1`, life.Nanos(t.trip.now.Add(-time.Hour)))
		return t.trip.do()
	})
	if err != nil {
		return queue.Roll{}, err
	}
	return roll, taken
}

// askOthers queries the other servers that are present.
func (t *tx) askOthers(name string, others *[]queue.Server) error {
	t.trip.ask(`SELECT said, seen FROM @.server WHERE name <> $1 AND until > $2 ORDER BY name`, func(r pgx.Rows) error {
		var said []byte
		var seen int64
		if err := r.Scan(&said, &seen); err != nil {
			return err
		}
		var x queue.Server
		if err := json.Unmarshal(said, &x); err != nil {
			return fmt.Errorf("a server's announcement: %w", err)
		}
		x.Seen = life.Instant(seen)
		*others = append(*others, x)
		return nil
	}, name, life.Nanos(t.trip.now))
	return t.trip.do()
}

// Servers implements queue.Peers.
func (s *Store) Servers(ctx context.Context) (all []queue.Server, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		all = nil
		return t.askOthers("", &all)
	})
	return all, err
}

// collision returns an error if another server has a node of this server.
func collision(x queue.Server, others []queue.Server) error {
	own := map[string]bool{}
	for _, n := range x.Nodes {
		own[n.Name] = true
	}
	for _, other := range others {
		for _, n := range other.Nodes {
			if own[n.Name] && n.State != "down" {
				return fmt.Errorf("node %s is at server %s already, which is running; give one of the two nodes another name: "+
					"%w", n.Name, other.Name,
					queue.ErrTaken)
			}
		}
	}
	return nil
}

// Retire implements queue.Peers.
func (s *Store) Retire(ctx context.Context, name string) error {
	return s.writer.do(ctx, func(t *tx) error {
		t.trip.queue(`DELETE FROM @.server WHERE name = $1`, name)
		t.trip.queue(`DELETE FROM @.duty WHERE server = $1`, name)
		return nil
	})
}

// Recheck implements queue.Peers.
func (s *Store) Recheck(ctx context.Context, jobs []int64) (waits []queue.Change, cursor int64, err error) {
	err = s.db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
			func(t pgx.Tx) (err error) {
				if cursor, err = s.feed.pull(ctx, t); err != nil {
					return err
				}
				waits = nil
				return s.snapshot(ctx, t, jobs, func(c queue.Change) error {
					if c.What == queue.Waited {
						waits = append(waits, c)
					}
					return nil
				})
			})
	})
	return waits, cursor, err
}

// Shared implements queue.Sharer.
func (s *Store) Shared() bool { return true }

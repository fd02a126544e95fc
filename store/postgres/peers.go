package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// dutyText takes what one server does for all, or keeps it.
const dutyText = `INSERT INTO @.duty AS d (name, server, until) VALUES ($1, $2, $3)
	ON CONFLICT (name) DO UPDATE SET server = excluded.server, until = excluded.until WHERE d.server = excluded.server OR d.until <= $4
	RETURNING true`

// Announce implements fairlead.Peers.
func (s *Store) Announce(ctx context.Context, x fairlead.Server, ttl time.Duration) (fairlead.Roll, error) {
	var roll fairlead.Roll
	var taken error
	err := s.repeat(ctx, func(t *tx) error {
		roll, taken = fairlead.Roll{}, nil
		// Two that announce a node of the same name at the same moment must not both find
		// that there is none.
		t.queue(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "announce "+s.prefix)
		if err := t.do(); err != nil {
			return err
		}
		if err := t.askOthers(x.Name, &roll.Others); err != nil {
			return err
		}
		if taken = collision(x, roll.Others); taken != nil {
			return nil
		}
		x.Seen = t.now
		said, err := json.Marshal(x)
		if err != nil {
			return err
		}
		until := life.Nanos(t.now.Add(ttl))
		t.queue(`INSERT INTO @.server (name, seen, until, said) VALUES ($1, $2, $3, $4)
			ON CONFLICT (name) DO UPDATE SET seen = excluded.seen, until = excluded.until, said = excluded.said`, x.Name, life.Nanos(t.now), until, said)
		t.ask(dutyText, func(r pgx.Rows) error { return r.Scan(&roll.Stops) }, "stops", x.Name, until, life.Nanos(t.now))
		t.queue(`DELETE FROM @.server WHERE until < $1`, life.Nanos(t.now.Add(-time.Hour)))
		return t.do()
	})
	if err != nil {
		return fairlead.Roll{}, err
	}
	return roll, taken
}

// askOthers reads which other servers are there.
func (t *tx) askOthers(name string, others *[]fairlead.Server) error {
	t.ask(`SELECT said, seen FROM @.server WHERE name <> $1 AND until > $2 ORDER BY name`, func(r pgx.Rows) error {
		var said []byte
		var seen int64
		if err := r.Scan(&said, &seen); err != nil {
			return err
		}
		var x fairlead.Server
		if err := json.Unmarshal(said, &x); err != nil {
			return fmt.Errorf("a server's announcement: %w", err)
		}
		x.Seen = life.Instant(seen)
		*others = append(*others, x)
		return nil
	}, name, life.Nanos(t.now))
	return t.do()
}

// Servers implements fairlead.Peers.
func (s *Store) Servers(ctx context.Context) (all []fairlead.Server, err error) {
	err = s.write(ctx, func(t *tx) error {
		all = nil
		return t.askOthers("", &all)
	})
	return all, err
}

// collision says which node of a server another one has.
func collision(x fairlead.Server, others []fairlead.Server) error {
	own := map[string]bool{}
	for _, n := range x.Nodes {
		own[n.Name] = true
	}
	for _, other := range others {
		for _, n := range other.Nodes {
			if own[n.Name] && n.State != "down" {
				return fmt.Errorf("node %s is at server %s, which is there; give one of them another name: %w", n.Name, other.Name, fairlead.ErrTaken)
			}
		}
	}
	return nil
}

// Retire implements fairlead.Peers.
func (s *Store) Retire(ctx context.Context, name string) error {
	return s.write(ctx, func(t *tx) error {
		t.queue(`DELETE FROM @.server WHERE name = $1`, name)
		t.queue(`DELETE FROM @.duty WHERE server = $1`, name)
		return nil
	})
}

// Recheck implements fairlead.Peers.
func (s *Store) Recheck(ctx context.Context, jobs []int64) (waits []fairlead.Change, cursor int64, err error) {
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(t pgx.Tx) (err error) {
			if cursor, err = s.feed.pull(ctx, s, t); err != nil {
				return err
			}
			waits = nil
			return s.snapshot(ctx, t, jobs, func(c fairlead.Change) error {
				if c.What == fairlead.Waited {
					waits = append(waits, c)
				}
				return nil
			})
		})
	})
	return waits, cursor, err
}

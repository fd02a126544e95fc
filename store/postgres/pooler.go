package postgres

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A pooler in front of the database, such as PgBouncer, lends its connections for one transaction each. Anything tied
// to a session is lost there: prepared statements, and notifications of changes. The store does without prepared
// statements. For notifications it connects to the database itself; if it cannot, it polls.

// pooledPoll is the interval of polls for changes without notifications.
const pooledPoll = 250 * time.Millisecond

// findPooler reports whether there is a pooler in front of the database: a pooler gives its clients other numbers than
// those of the sessions that it lends them.
func findPooler(ctx context.Context, c *pgx.ConnConfig) (found bool, err error) {
	for n := 0; ; n++ {
		found, err = askPooler(ctx, c)
		if err == nil || !transient(err) || !pause(ctx, n) {
			return found, err
		}
	}
}

func askPooler(ctx context.Context, c *pgx.ConnConfig) (found bool, err error) {
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return false, err
	}
	defer func() {
		bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		conn.Close(bye)
	}()
	var session uint32
	err = conn.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&session)
	return session != conn.PgConn().PID(), err
}

// setUp decides how to talk to the database, directly or through a pooler.
func (d *database) setUp(ctx context.Context, c *pgxpool.Config, modeGiven bool) (err error) {
	if d.direct, err = directConfig(c.ConnConfig, d.options.Direct); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d.options.Timeout)
	defer cancel()
	pooled, err := findPooler(ctx, c.ConnConfig)
	if err != nil || !pooled {
		return err
	}
	if !modeGiven {
		c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	if d.options.Direct == "" {
		d.direct = nil
		d.options.Logger.Warn("a pooler is in front of the database, so the store polls for changes by other processes; to be notified instead, add direct=HOST:PORT of the database itself to the URL",
			"every", pooledPoll)
	}
	return nil
}

// directConfig returns the configuration to reach the database itself, at host:port if given.
func directConfig(c *pgx.ConnConfig, address string) (*pgx.ConnConfig, error) {
	d := c.Copy()
	if address == "" {
		return d, nil
	}
	host, port := address, "5432"
	if at := strings.LastIndexByte(address, ':'); strings.HasPrefix(address, "/") && at > 0 {
		host, port = address[:at], address[at+1:]
	} else if h, p, err := net.SplitHostPort(address); err == nil {
		host, port = h, p
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || host == "" {
		return nil, fmt.Errorf("direct: %q is not HOST:PORT of the database itself", address)
	}
	if d.TLSConfig != nil && d.TLSConfig.ServerName == d.Host {
		d.TLSConfig = d.TLSConfig.Clone()
		d.TLSConfig.ServerName = host
	}
	d.Host, d.Port, d.Fallbacks = host, uint16(n), nil
	return d, nil
}

//go:build campaign

package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/linear"
	"github.com/fairlead/fairlead/store/postgres"
)

var histories = linear.Flagged()

func init() {
	linear.Rival(func(ctx context.Context, url string) (queue.Store, error) {
		return postgres.Open(ctx, url, postgres.Options{})
	})
}

// TestCampaignHistory lets four processes contend on a separate PostgreSQL. Half of them prepare no statements, as
// behind a pooler.
func TestCampaignHistory(t *testing.T) {
	linear.Histories(t, histories, func(t *testing.T) linear.Ground {
		cluster := pgtest.OwnCluster(t)
		const clients = 3
		name := func(first int) string { return fmt.Sprint("rival", first) }
		return linear.Ground{
			Processes: 4,
			Clients:   clients,
			Open: func() (queue.Store, error) {
				return postgres.Open(t.Context(), cluster.URL(), postgres.Options{})
			},
			Place: func(first int) string {
				url := cluster.URL() + "&application_name=" + name(first)
				if first/(clients+1)%2 == 1 {
					url += "&default_query_exec_mode=exec"
				}
				return url
			},
			Restart: func() error {
				cluster.Halt()
				return cluster.Run()
			},
			Gone: func(first int) error { return gone(t.Context(), cluster.URL(), name(first)) },
		}
	})
}

// gone waits until the database has no session of an application.
func gone(ctx context.Context, url, application string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for end := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		var n int
		err := conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE application_name = $1`, application).Scan(&n)
		if err != nil || n == 0 {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d sessions of %s are there for a minute after its end", n, application)
		}
	}
}

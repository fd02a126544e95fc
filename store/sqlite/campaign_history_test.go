//go:build campaign

package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/linear"
	"github.com/fairlead/fairlead/store/sqlite"
)

var histories = linear.Flagged()

// historyGrace is how long leases last when a process opens the file after another process was killed that had renewed
// them only in its memory. It is as long as the leases are.
const historyGrace = 250 * time.Millisecond

func openRival(ctx context.Context, file string) (queue.Store, error) {
	return sqlite.Open(ctx, file, sqlite.Options{Grace: historyGrace})
}

func init() { linear.Rival(openRival) }

// TestCampaignHistory lets the clients of one process contend with each other, and with those of later processes.
func TestCampaignHistory(t *testing.T) {
	linear.Histories(t, histories, func(t *testing.T) linear.Ground {
		file := filepath.Join(t.TempDir(), "fairlead.db")
		return linear.Ground{
			Processes: 1,
			Clients:   12,
			Grace:     historyGrace,
			Open:      func() (queue.Store, error) { return openRival(t.Context(), file) },
			Place:     func(int) string { return file },
		}
	})
}

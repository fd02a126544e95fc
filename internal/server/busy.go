package server

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// busyEvery is how often the log says that requests are refused because there are too many. They may be thousands.
const busyEvery = 10 * time.Second

// busyLog sums up the requests that are refused with 503.
type busyLog struct {
	log *slog.Logger

	mu      sync.Mutex
	said    time.Time
	refused int
}

// note writes down that a request was refused: at once, and then at most once in a while, with how many there were.
func (b *busyLog) note(ctx context.Context, path, user string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refused++; !b.said.IsZero() && time.Since(b.said) < busyEvery {
		return
	}
	b.log.WarnContext(ctx, "requests are refused as busy or unavailable", "refused", b.refused, "path", path, "user", user)
	b.said, b.refused = time.Now(), 0
}

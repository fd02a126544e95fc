package bridge

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
)

// Retry repeats calls of a server or QS that may be away. It records failures in an Outage, and waits longer
// after each try.
type Retry struct {
	away  *wait.Outage
	pause wait.Backoff
}

// NewRetry returns a Retry whose pauses begin with the duration "first" and grow to the duration "most".
func NewRetry(away *wait.Outage, first, most time.Duration) *Retry {
	return &Retry{away, wait.Backoff{First: first, Max: most}}
}

// Answered records an answer.
func (r *Retry) Answered() {
	r.pause.Reset()
	r.away.Answer()
}

// Again records why a try ended (nil: no failure), and waits before the next one. It returns false if ctx has
// ended, which may be the cause of the failure.
func (r *Retry) Again(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		r.away.Fail(err)
	}
	return wait.For(ctx, r.pause.Next())
}

package bridge

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// Bridge is a worker that has a QS run its tasks. Its loops share a state, and each has a job of its
// own: to take leases, to report, to submit, to follow, and to settle what became of lost ones.
type Bridge struct {
	o     Options
	log   *slog.Logger
	name  string // of this run, for the server
	state *state

	server     *wait.Outage // of the server
	unreported *wait.Outage // the server answers, and does not take reports
	refusing   *wait.Outage // the QS answers, and does not take jobs
}

// tryServer is how the server is tried again that does not answer.
func (b *Bridge) tryServer() *Retry { return NewRetry(b.server, 100*time.Millisecond, 5*time.Second) }

// persist tries until it succeeds, or there is no use.
func (b *Bridge) persist(ctx context.Context, f func() error) error {
	for try := b.tryServer(); ; {
		err := f()
		switch {
		case err == nil:
			try.Answered()
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, queue.ErrForbidden), errors.Is(err, queue.ErrInvalid), errors.Is(err, queue.ErrState):
			return err
		}
		if !try.Again(ctx, err) {
			return ctx.Err()
		}
	}
}

// answered tells whether the QS answers.
func (b *Bridge) answered(err error) {
	switch {
	case errors.Is(err, context.Canceled): // we end
	case err != nil:
		b.o.Away.Fail(err)
	default:
		b.o.Away.Answer()
	}
}

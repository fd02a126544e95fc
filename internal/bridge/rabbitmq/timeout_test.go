package rabbitmq

import (
	"errors"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// TestLostBy checks that lostBy distinguishes a task that ran for too long from all other reasons.
func TestLostBy(t *testing.T) {
	for _, c := range []struct {
		closed *amqp.Error
		after  time.Duration // -1: another reason
	}{
		{nil, -1},
		{&amqp.Error{Code: amqp.ChannelError, Reason: "delivery acknowledgement on channel 1 timed out"}, -1},
		{&amqp.Error{Code: amqp.PreconditionFailed, Reason: "PRECONDITION_FAILED - unknown delivery tag 1"}, -1},
		{
			&amqp.Error{
				Code: amqp.PreconditionFailed, Reason: "PRECONDITION_FAILED - delivery acknowledgement on channel 12 timed out. " +
					"Timeout value used: 1800000 ms. This timeout value can be configured",
			}, 30 * time.Minute,
		},
		{
			&amqp.Error{
				Code: amqp.PreconditionFailed, Reason: "PRECONDITION_FAILED - delivery acknowledgement on channel 3 timed out",
			}, 0,
		},
	} {
		err := lostBy(c.closed)
		var late *timeoutError
		if !errors.Is(err, mq.ErrLost) || errors.As(err, &late) != (c.after >= 0) || late != nil && late.after != c.after {
			t.Errorf("%v: %v", c.closed, err)
		}
		if late != nil && !strings.Contains(late.Error(), "rabbitmq.conf set it above the longest job") {
			t.Error(late)
		}
	}
}

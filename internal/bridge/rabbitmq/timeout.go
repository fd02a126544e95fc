package rabbitmq

import (
	"fmt"
	"regexp"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// timeoutError says that RabbitMQ took a task back because its worker had it for too long.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string {
	after := ""
	if e.after > 0 {
		after = " of " + e.after.String()
	}
	return "it ran for longer than the consumer_timeout" + after + ", after which RabbitMQ takes a job away from its " +
		"worker: in rabbitmq.conf set it above the longest job, or give the job a shorter time limit"
}

func (e *timeoutError) Unwrap() error { return mq.ErrLost }

var usedTimeout = regexp.MustCompile(
	`delivery acknowledgement on channel \d+ timed out(?:\. Timeout value used: (\d+) ms)?`)

// lostBy returns the reason why a channel with a task was lost.
func lostBy(closed *amqp.Error) error {
	if closed == nil || closed.Code != amqp.PreconditionFailed {
		return mq.ErrLost
	}
	m := usedTimeout.FindStringSubmatch(closed.Reason)
	if m == nil {
		return mq.ErrLost
	}
	var ms int64
	fmt.Sscan(m[1], &ms)
	return &timeoutError{time.Duration(ms) * time.Millisecond}
}

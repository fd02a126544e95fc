package rabbitmq

import (
	"context"
	"fmt"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/queue"
)

// maxQueue leaves room in the 255 bytes of a name for the suffixes of the other queues.
const maxQueue = 200

// CheckQueue refuses a malformed name of a queue.
func CheckQueue(name string) error {
	if name == "" || len(name) > maxQueue || strings.HasPrefix(name, "amq.") ||
		strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return bridge.Explain(queue.ErrInvalid, "%.300q cannot be a queue: its name may have %d bytes, no spaces, and amq. "+
			"at the beginning is reserved by RabbitMQ", name, maxQueue)
	}
	return nil
}

// CheckURL refuses a malformed address. The error does not repeat the address, because it contains a
// password.
func CheckURL(address string) error {
	_, err := parse(address)
	return err
}

// Describe implements bridge.QS. It changes nothing in RabbitMQ and does not take the session, so that it
// works while a bridge runs.
func (q *Queue) Describe(ctx context.Context) (frontback.Queue, error) {
	o := &q.options
	d := frontback.Queue{
		Name: fmt.Sprintf("RabbitMQ at %s, queue %s", place(o.URL), o.Queue),
		Ages: frontback.No, Obeys: frontback.Yes, Lowest: 0, Highest: int64(o.Priorities),
	}
	c, err := dial(ctx, o.URL, "fairlead check "+o.Queue)
	if err != nil {
		return d, err
	}
	defer c.Close()
	there, err := isThere(c, o)
	if err != nil {
		return d, explain(o, err)
	}
	if !there {
		d.Notes = append(
			d.Notes,
			fmt.Sprintf("the queue %s does not exist: the bridge makes it, durable, with x-max-priority %d, and others "+
				"whose names begin with it; this fails if its user may not make queues", o.Queue, o.Priorities))
	} else if work, err := fitting(c, o); err != nil {
		return d, explain(o, err)
	} else if work[deadLetters] == nil {
		d.Notes = append(d.Notes, fmt.Sprintf("the queue %s exists without %s: if RabbitMQ drops jobs, because of a "+
			"policy or a consumer, it does not report that to the bridge; delete the queue when it is empty, and the bridge "+
			"makes it again with this setting", o.Queue, deadLetters))
	}
	d.Notes = append(d.Notes, longest(c))
	return d, nil
}

// isThere reports whether the queue for work exists.
func isThere(c *amqp.Connection, o *Options) (bool, error) {
	ch, err := c.Channel()
	if err != nil {
		return false, err
	}
	defer ch.Close()
	_, err = ch.QueueDeclarePassive(o.Queue, true, false, false, false, nil)
	if is(err, amqp.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// fitting returns the arguments with which the bridge can declare the queue for work. An existing queue may
// lack the exchange for dead letters. The error says how the queue differs from the needs of the bridge.
func fitting(c *amqp.Connection, o *Options) (amqp.Table, error) {
	args := workArguments(o)
	err := fits(c, o, args)
	if _, reason := refusedBy(err); is(err, amqp.PreconditionFailed) && strings.Contains(reason, "'"+deadLetters+"'") {
		delete(args, deadLetters)
		err = fits(c, o, args)
	}
	return args, err
}

// fits returns an error that says how an existing queue differs from one with these arguments. AMQP can show
// the arguments only by a new declaration, which changes nothing: either it matches the queue or RabbitMQ
// refuses it.
func fits(c *amqp.Connection, o *Options, args amqp.Table) error {
	ch, err := c.Channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	_, err = ch.QueueDeclare(o.Queue, true, false, false, false, args)
	return err
}

// longest says how RabbitMQ treats long jobs. RabbitMQ does not report the time itself.
func longest(c *amqp.Connection) string {
	version, _ := c.Properties["version"].(string)
	return strings.TrimSpace("RabbitMQ "+version) + " takes a job away from its worker if it runs for longer than the " +
		"consumer_timeout, 30 minutes by default: set it in rabbitmq.conf above the longest job"
}

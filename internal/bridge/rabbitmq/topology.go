package rabbitmq

import (
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"
)

// declare makes everything that survives a restart of the broker: the queues, and three exchanges. One
// exchange copies work to the receipts, one gets the jobs that RabbitMQ drops, and one carries cancellations
// to workers.
func declare(ch *amqp.Channel, o *Options, work amqp.Table) error {
	for name, args := range map[string]amqp.Table{
		o.Queue: work, o.name("receipts"): nil, o.name("reports"): nil, o.name("dropped"): nil,
	} {
		if _, err := ch.QueueDeclare(name, true, false, false, false, args); err != nil {
			return fmt.Errorf("queue %s: %w", name, err)
		}
	}
	for name, kind := range map[string]string{
		o.name("submit"): amqp.ExchangeFanout, o.name("dropped"): amqp.ExchangeFanout,
		o.name("cancel"): amqp.ExchangeDirect,
	} {
		if err := ch.ExchangeDeclare(name, kind, true, false, false, false, nil); err != nil {
			return fmt.Errorf("exchange %s: %w", name, err)
		}
	}
	for name, exchange := range map[string]string{
		o.Queue: o.name("submit"), o.name("receipts"): o.name("submit"), o.name("dropped"): o.name("dropped"),
	} {
		if err := ch.QueueBind(name, "", exchange, false, nil); err != nil {
			return fmt.Errorf("bind queue %s: %w", name, err)
		}
	}
	return nil
}

// deadLetters is the argument that names the exchange to which RabbitMQ hands jobs that it drops.
const deadLetters = "x-dead-letter-exchange"

// workArguments returns the arguments of the queue for work.
func workArguments(o *Options) amqp.Table {
	return amqp.Table{"x-max-priority": int32(o.Priorities), deadLetters: o.name("dropped")}
}

// isOpen reports whether workers may take work: the bridge has compared the queue with the receipts since the
// broker was started.
func isOpen(c *amqp.Connection, o *Options) (bool, error) {
	ch, err := c.Channel()
	if err != nil {
		return false, err
	}
	defer ch.Close()
	err = ch.ExchangeDeclarePassive(o.name("open"), amqp.ExchangeFanout, false, false, false, false, nil)
	if is(err, amqp.NotFound) {
		return false, nil
	}
	return err == nil, err
}

package rabbitmq

import amqp "github.com/rabbitmq/amqp091-go"

// drop is a job that RabbitMQ dropped from the queue for work and handed to NAME.dropped. The message stays there until
// the bridge has written down that the job is to be submitted once more.
type drop struct {
	tag    uint64
	reason string // RabbitMQ's word, see its page on dead lettering
}

// limits say for RabbitMQ's words why it dropped a job.
var limits = map[string]string{
	"expired":        "a policy with message-ttl gives jobs in this queue a time to live, and it was over",
	"maxlen":         "a policy with max-length bounds this queue, and it was full",
	"rejected":       "a consumer rejected it",
	"delivery_limit": "it was delivered too often",
}

func (d drop) text() string {
	why, known := limits[d.reason]
	if !known {
		why = "the reason is " + d.reason
	}
	return "RabbitMQ dropped it: " + why + " (rabbitmqctl list_policies)"
}

// hearDropped notes that a job was dropped.
func (l *live) hearDropped(d amqp.Delivery) (keep bool) {
	if _, twice := l.dropped[d.MessageId]; twice || d.MessageId == "" || l.q.reports.IsForgotten(d.MessageId) {
		return false
	}
	x := drop{tag: d.DeliveryTag, reason: "not told"}
	if deaths, _ := d.Headers["x-death"].([]any); len(deaths) > 0 {
		if last, _ := deaths[0].(amqp.Table); last != nil {
			x.reason, _ = last["reason"].(string)
		}
	}
	l.dropped[d.MessageId] = x
	l.q.reports.Notify()
	return true
}

// droppedAs is how RabbitMQ dropped a job, if it did.
func (l *live) droppedAs(marker string) (d drop, dropped bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d, dropped = l.dropped[marker]
	return d, dropped
}

// forgetDrop removes the message about a dropped job.
func (l *live) forgetDrop(marker string) error {
	l.mu.Lock()
	d, dropped := l.dropped[marker]
	delete(l.dropped, marker)
	l.mu.Unlock()
	if !dropped {
		return nil
	}
	return l.read.Ack(d.tag, false)
}

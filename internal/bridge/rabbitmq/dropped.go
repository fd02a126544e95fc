package rabbitmq

import amqp "github.com/rabbitmq/amqp091-go"

// drop is a job that RabbitMQ dropped from the queue for work and handed to NAME.dropped. The message stays
// there until the bridge has saved its decision to submit the job again.
type drop struct {
	tag    uint64
	reason string // RabbitMQ's word, see its page on dead lettering
}

// limits explains RabbitMQ's reasons for dropping a job.
var limits = map[string]string{
	"expired":        "a policy with message-ttl limits how long jobs stay in this queue, and that time was over",
	"maxlen":         "a policy with max-length limits this queue, and it was full",
	"rejected":       "a consumer rejected it",
	"delivery_limit": "RabbitMQ delivered it too often",
}

func (d drop) text() string {
	why, known := limits[d.reason]
	if !known {
		why = "the reason is " + d.reason
	}
	return "RabbitMQ dropped it: " + why + " (rabbitmqctl list_policies)"
}

// dropOf reads the reason why a message was dropped.
func dropOf(d *amqp.Delivery) drop {
	x := drop{tag: d.DeliveryTag, reason: "unknown"}
	if deaths, _ := d.Headers["x-death"].([]any); len(deaths) > 0 {
		if last, _ := deaths[0].(amqp.Table); last != nil {
			x.reason, _ = last["reason"].(string)
		}
	}
	return x
}

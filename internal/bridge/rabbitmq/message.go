package rabbitmq

import (
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// publishing returns the message of a report.
func publishing(r mq.Report) amqp.Publishing {
	return amqp.Publishing{
		DeliveryMode: amqp.Persistent, MessageId: r.Marker, Type: mq.ReportFormat, ContentType: "application/json",
		AppId: "fairlead", Body: r.Encode(reportLimit),
	}
}

// reportLimit is the largest size of a report.
const reportLimit = 1 << 20

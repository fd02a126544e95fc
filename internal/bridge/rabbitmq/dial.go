package rabbitmq

import (
	"context"
	"net"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// heartbeat is how often each side of a connection sends a sign of life. RabbitMQ closes a connection that
// was silent for twice as long.
const heartbeat = 10 * time.Second

// dial connects to RabbitMQ.
func dial(ctx context.Context, url, name string) (*amqp.Connection, error) {
	stop, connected := func() bool { return true }, false
	if _, err := parse(url); err != nil {
		return nil, err
	}
	c, err := amqp.DialConfig(url, amqp.Config{
		Heartbeat: heartbeat, Properties: amqp.Table{"connection_name": name},
		Dial: func(network, address string) (net.Conn, error) {
			d := net.Dialer{Timeout: 10 * time.Second}
			c, err := d.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			stop = context.AfterFunc(ctx, func() { c.Close() })
			connected = true
			// The deadline is for the handshake; the library removes it afterwards.
			return c, c.SetDeadline(time.Now().Add(15 * time.Second))
		},
	})
	stop()
	if err != nil {
		return nil, unconnected(ctx, url, connected, err)
	}
	return c, nil
}

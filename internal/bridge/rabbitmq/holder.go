package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/wait"
)

// errBusy says that another connection has the session.
var errBusy = errors.New("an earlier connection of a bridge to this queue is still open: " +
	"jobs that it sent may still arrive")

// vanished is the longest time for which a connection can last after its other side is gone, with a margin. A
// session that is held for longer belongs to another bridge.
var vanished = 3 * heartbeat

// alternate is an argument of the holder's exchange; its value names the holder of the session. RabbitMQ
// reports this value to a client that declares the exchange with another value. Nobody ever publishes to this
// exchange.
const alternate = "alternate-exchange"

// holder returns the name of the exchange that exists as long as the session.
func (o *Options) holder() string { return o.name("holder") }

// self names this process as the holder of the session.
func (o *Options) self() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return o.name(fmt.Sprintf("%d@%s", os.Getpid(), host))
}

// sign records who holds the session. The record disappears with the queue of the session, and nothing
// depends on it.
func (l *live) sign() {
	ch, err := l.Channel()
	if err != nil {
		return
	}
	defer ch.Close()
	o := &l.q.options
	if ch.ExchangeDeclare(o.holder(), amqp.ExchangeFanout, false, true, true, false,
		amqp.Table{alternate: o.self()}) == nil {
		err = ch.QueueBind(o.name("session"), "", o.holder(), false, nil)
	}
	if err != nil {
		o.Logger.Debug("it is unknown who has the session", "error", err)
	}
}

// signed returns who holds the session, or "" if that is unknown.
func (l *live) signed() string {
	ch, err := l.Channel()
	if err != nil {
		return ""
	}
	defer ch.Close()
	o := &l.q.options
	err = ch.ExchangeDeclare(o.holder(), amqp.ExchangeFanout, false, true, true, false, amqp.Table{
		alternate: o.name("nobody"),
	})
	if err == nil { // there was none, so this call made it
		ch.ExchangeDelete(o.holder(), true, false)
		return ""
	}
	_, reason := refusedBy(err)
	if m := other.FindStringSubmatch(reason); m != nil {
		return strings.TrimPrefix(quoted(m[5]), o.name(""))
	}
	return ""
}

// busy says why there is no session. At first an earlier connection may still hold it. After the time
// vanished, the error names another bridge.
func (l *live) busy() error {
	q, now := l.q, time.Now()
	if q.busySince.IsZero() {
		q.busySince = now
	}
	if now.Sub(q.busySince) < vanished {
		return errBusy
	}
	who := "another bridge"
	if pid, host, told := strings.Cut(l.signed(), "@"); told {
		who = fmt.Sprintf("the bridge that is process %s on %s", pid, host)
	}
	err := bridge.Explain(errBusy, "%s uses the queue %s of RabbitMQ at %s: a queue can have one bridge, and this bridge "+
		"waits until the other one ends; end that one, or name another queue with --queue",
		who, q.options.Queue, place(q.options.URL))
	return errors.Join(wait.ErrRefused, err)
}

// takeSession takes the session. While another connection holds the session, takeSession tries again, for two
// seconds after its own connection began.
func (l *live) takeSession(ctx context.Context) error {
	for {
		ch, err := l.Channel()
		if err != nil {
			return err
		}
		_, err = ch.QueueDeclare(l.q.options.name("session"), false, false, true, false, nil)
		ch.Close()
		var refused *amqp.Error
		if err == nil {
			l.q.busySince = time.Time{}
			l.sign()
			return nil
		}
		if !errors.As(err, &refused) || refused.Code != amqp.ResourceLocked {
			return err
		}
		if !wait.For(ctx, 50*time.Millisecond) || time.Since(l.began) > 2*time.Second {
			return l.busy()
		}
	}
}

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

// errBusy says that the session is taken.
var errBusy = errors.New("an earlier connection of a bridge to this queue is open still: what it sent may yet arrive")

// vanished is after how long nothing is left of a connection whose other side is gone, with a
// margin. What keeps the session for longer is another bridge.
var vanished = 3 * heartbeat

// alternate is the argument with which the exchange of the holder names the holder: RabbitMQ tells it to
// whoever names another one. Nothing is ever published to that exchange.
const alternate = "alternate-exchange"

// holder is the exchange that is there for as long as the session is.
func (o *Options) holder() string { return o.name("holder") }

// self is who we are, as the holder of the session.
func (o *Options) self() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return o.name(fmt.Sprintf("%d@%s", os.Getpid(), host))
}

// sign says who has the session. It goes with the session's queue, and nothing depends on it.
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
		o.Logger.Debug("who has the session cannot be told", "error", err)
	}
}

// signed is who has the session, "" if that is not told.
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
	if err == nil { // there was none, and is one now
		ch.ExchangeDelete(o.holder(), true, false)
		return ""
	}
	_, reason := refusedBy(err)
	if m := other.FindStringSubmatch(reason); m != nil {
		return strings.TrimPrefix(quoted(m[5]), o.name(""))
	}
	return ""
}

// busy is why there is no session: for a while an earlier connection may still have it.
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
	err := bridge.Explain(errBusy, "%s has the queue %s of RabbitMQ at %s: a queue can have one bridge, and this one "+
		"waits until that ends; end it, or give this one a queue of its own with --queue",
		who, q.options.Queue, place(q.options.URL))
	return errors.Join(wait.ErrRefused, err)
}

// takeSession waits until no other connection has it.
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

package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	neturl "net/url"
	"regexp"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// parse reads an address. Its errors do not contain the address, because it contains a password.
func parse(address string) (amqp.URI, error) {
	uri, err := amqp.ParseURI(address)
	var about *neturl.Error
	if errors.As(err, &about) {
		err = about.Err
	}
	if err != nil {
		return uri, bridge.Explain(
			queue.ErrInvalid, "address of RabbitMQ: %v; expected amqp://USER:PASSWORD@HOST:PORT/VHOST, with %%25 "+
				"for each %% in the password", err)
	}
	return uri, nil
}

// place returns an address for people: without user and password.
func place(address string) string {
	uri, err := parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	text := fmt.Sprintf("%s:%d", uri.Host, uri.Port)
	if uri.Vhost != "/" {
		text += "/" + uri.Vhost
	}
	return text
}

// refusedBy returns the refusal in an error, or nil, and its reason without the leading word of the protocol.
func refusedBy(err error) (*amqp.Error, string) {
	var refused *amqp.Error
	if !errors.As(err, &refused) {
		return nil, ""
	}
	word, reason, found := strings.Cut(refused.Reason, " - ")
	if !found || strings.ToUpper(word) != word {
		return refused, refused.Reason
	}
	return refused, reason
}

// unconnected explains why there is no connection. If connected, a program listens at the address.
func unconnected(ctx context.Context, address string, connected bool, err error) error {
	uri, _ := parse(address)
	at := place(address)
	if ctx.Err() != nil && !connected {
		return fmt.Errorf("RabbitMQ at %s does not answer: %w", at, context.Cause(ctx))
	}
	var outside *net.OpError
	refused, reason := refusedBy(err)
	switch {
	case refused == nil && errors.As(err, &outside) && outside.Op == "dial":
		return fmt.Errorf("RabbitMQ at %s cannot be reached (%w): is it running, and is that its address?", at,
			bridge.Cause(err))
	case refused == nil || refused.Code == amqp.FrameError || refused.Code == amqp.SyntaxError ||
		refused.Code == amqp.UnexpectedFrame || refused.Code == amqp.CommandInvalid:
		return bridge.Explain(err, "the program at %s does not answer like RabbitMQ: is this its port for AMQP? It is "+
			"5672 by default; 15672 is the port of its web pages", at)
	}
	err = errors.Join(wait.ErrRefused, err)
	switch {
	case strings.Contains(reason, "vhost"):
		return bridge.Explain(err, "RabbitMQ at %s does not let the user %s into the vhost %s (%s): name another at the "+
			"end of the address, or make it with rabbitmqctl add_vhost %s, and let the user in with rabbitmqctl "+
			"set_permissions -p %s %s", at, uri.Username, uri.Vhost, reason, uri.Vhost, uri.Vhost, uri.Username)
	case refused.Code == amqp.AccessRefused:
		return bridge.Explain(err, "RabbitMQ at %s does not let the user %s in: there is no such user, the password in the "+
			"address is wrong, or the user guest connects from another machine; check with rabbitmqctl authenticate_user %s "+
			"PASSWORD", at, uri.Username, uri.Username)
	}
	return bridge.Explain(err, "RabbitMQ at %s refuses the connection (%s)", at, reason)
}

// other matches RabbitMQ's message that a queue or exchange exists with other arguments.
var other = regexp.MustCompile(
	`inequivalent arg '([^']+)' for (queue|exchange) '([^']+)'.*?: received (.+) but current is (.+)$`)

var inQuotes = regexp.MustCompile(`'([^']*)'`)

// quoted returns the value in a phrase of RabbitMQ, such as 5 in: the value '5' of type 'long'.
func quoted(text string) string {
	if m := inQuotes.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return text
}

// explain adds the next step to a refusal.
func explain(o *Options, err error) error {
	refused, reason := refusedBy(err)
	if refused == nil {
		return err
	}
	switch refused.Code {
	case amqp.ChannelError, amqp.ConnectionForced:
		return bridge.Explain(err, "the connection to RabbitMQ at %s was lost", place(o.URL))
	case amqp.PreconditionFailed:
		return bridge.Explain(queue.ErrInvalid, "%s", differs(o, reason))
	case amqp.AccessRefused:
		uri, _ := parse(o.URL)
		return bridge.Explain(err, "RabbitMQ at %s: %s; let the user %s do that with rabbitmqctl set_permissions, as "+
			"docs/how-to/put-it-in-front-of-rabbitmq.md shows", place(o.URL), reason, uri.Username)
	case amqp.ResourceLocked:
		return bridge.Explain(err, "RabbitMQ at %s: %s; another connection uses it exclusively: end that one, or name "+
			"another queue with --queue", place(o.URL), reason)
	}
	return fmt.Errorf("RabbitMQ at %s: %w", place(o.URL), err)
}

// differs names a setting of RabbitMQ that the bridge cannot use, and how to change it.
func differs(o *Options, reason string) string {
	at := place(o.URL)
	m := other.FindStringSubmatch(reason)
	if m == nil {
		return fmt.Sprintf("RabbitMQ at %s: %s; name another queue with --queue", at, reason)
	}
	arg, kind, name, ours, theirs := m[1], m[2], m[3], quoted(m[4]), quoted(m[5])
	what := fmt.Sprintf("the %s %s exists already at RabbitMQ at %s, with %s %s, but the bridge needs %s", kind, name, at,
		arg, theirs, ours)
	if arg == "x-max-priority" && theirs != "none" {
		return fmt.Sprintf("%s: start the bridge with --priorities %s, name another queue with --queue, or delete this one "+
			"when it is empty with rabbitmqctl delete_queue %s", what, theirs, name)
	}
	if kind == "queue" {
		return fmt.Sprintf("%s: name another queue with --queue, or delete this one when it is empty with rabbitmqctl "+
			"delete_queue %s", what, name)
	}
	return fmt.Sprintf("%s: name another queue with --queue", what)
}

// is reports whether an error is a refusal with this code.
func is(err error, code int) bool {
	var refused *amqp.Error
	return errors.As(err, &refused) && refused.Code == code
}

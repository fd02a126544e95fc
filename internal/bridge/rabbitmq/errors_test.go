//go:build real

package rabbitmq_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/rabbitmq"
	"github.com/fairlead/fairlead/internal/bridge/worktest"
	"github.com/fairlead/fairlead/internal/brokertest"
	"github.com/fairlead/fairlead/internal/wait"
)

// said returns the error of a check of a queue, and whether it means that RabbitMQ refuses us.
func said(t *testing.T, o rabbitmq.Options) (text string, refused bool) {
	t.Helper()
	q := rabbitmq.Open(o)
	defer q.Close()
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	if _, err := q.Describe(ctx); err != nil {
		return err.Error(), errors.Is(err, wait.ErrRefused)
	}
	return "", false
}

// at returns an address with a change.
func at(t *testing.T, address string, change func(*url.URL)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

// TestRealErrors checks that errors about the address, the rights or the queue name the place and the next
// step, without words of the protocol.
func TestRealErrors(t *testing.T) {
	server := brokertest.SharedRabbitMQ(t)
	server.Control(t, "add_user", "ann", "secret")
	server.Control(t, "add_vhost", "lab")
	closed, other := worktest.WrongAddresses(t)
	ch := channel(t, server)
	for name, args := range map[string]amqp.Table{"plain": nil, "five": {"x-max-priority": int32(5)}} {
		if _, err := ch.QueueDeclare(name, true, false, false, false, args); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ch.QueueDeclare("passing", false, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	place := at(t, server.URL, func(u *url.URL) { u.User = nil })
	place = strings.TrimSuffix(strings.TrimPrefix(place, "amqp://"), "/")
	here := func(change func(*url.URL)) string { return at(t, server.URL, change) }
	for name, c := range map[string]struct {
		url, queue string
		want       []string
	}{
		"nobody listens": {
			here(func(u *url.URL) { u.Host = closed }), "q", []string{
				closed, "cannot be reached (connection refused)", "is it running",
			},
		},
		"another port": {
			here(func(u *url.URL) { u.Host = other }), "q", []string{
				other, "does not answer like RabbitMQ", "its port for AMQP",
			},
		},
		"no such host": {
			here(func(u *url.URL) { u.Host = "nowhere.invalid:5672" }), "q", []string{
				"nowhere.invalid:5672", "is that its address",
			},
		},
		"password": {
			here(func(u *url.URL) { u.User = url.UserPassword("ann", "amiss") }), "q", []string{
				place, "user ann", "authenticate_user ann",
			},
		},
		"no such user": {
			here(func(u *url.URL) { u.User = url.UserPassword("bob", "x") }), "q", []string{
				place, "user bob", "authenticate_user bob",
			},
		},
		"no such vhost": {
			here(func(u *url.URL) { u.Path = "/nowhere" }), "q", []string{place + "/nowhere", "add_vhost nowhere"},
		},
		"not its vhost": {
			here(func(u *url.URL) { u.Path, u.User = "/lab", url.UserPassword("ann", "secret") }), "q",
			[]string{place + "/lab", "user ann", "set_permissions -p lab ann"},
		},
		"priorities": {
			server.URL, "five", []string{
				place, "queue five", "x-max-priority 5", "needs 10", "--priorities 5", "delete_queue five",
			},
		},
		"no priorities": {server.URL, "plain", []string{place, "queue plain", "x-max-priority none", "delete_queue plain"}},
		"passing":       {server.URL, "passing", []string{place, "queue passing", "durable", "delete_queue passing"}},
	} {
		got, refused := said(t, rabbitmq.Options{URL: c.url, Queue: c.queue})
		denied := []string{"password", "no such user", "no such vhost", "not its vhost"}
		if refused != slices.Contains(denied, name) {
			t.Errorf("%s: refused is %v", name, refused)
		}
		t.Logf("%s: %s", name, got)
		helps(t, name, got, c.want)
	}
}

// helps checks that an error contains the words that help, and no words of the protocol and no password.
func helps(t *testing.T, name, got string, all []string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q lacks %q", name, got, want)
		}
	}
	for _, bad := range []string{
		"Exception", "PRECONDITION", "ACCESS_REFUSED", "NOT_ALLOWED", "fairlead: invalid", "dial tcp", "secret", "amiss",
	} {
		if strings.Contains(got, bad) {
			t.Errorf("%s: %q has %q", name, got, bad)
		}
	}
}

// TestRealCheckLeavesNothing checks that a check makes no queue and no exchange, reports that the queue is
// missing, and works while a bridge uses the queue.
func TestRealCheckLeavesNothing(t *testing.T) {
	server := brokertest.SharedRabbitMQ(t)
	describe := func(queue, want string) {
		t.Helper()
		q := rabbitmq.Open(rabbitmq.Options{URL: server.URL, Queue: queue})
		defer q.Close()
		d, err := q.Describe(t.Context())
		if all := strings.Join(d.Notes, "\n"); err != nil || !strings.Contains(all, want) ||
			(want == "") == strings.Contains(all, "does not exist") || !strings.Contains(all, "consumer_timeout") {
			t.Errorf("%s: %q, %v; want %q", queue, all, err, want)
		}
	}
	describe("new", "the queue new does not exist: the bridge makes it, durable, with x-max-priority 10")
	for _, part := range []string{"", ".receipts", ".reports", ".dropped", ".session"} {
		if _, err := channel(t, server).QueueDeclarePassive("new"+part, true, false, false, false, nil); err == nil ||
			!strings.Contains(err.Error(), "404") {
			t.Errorf("the queue new%s: %v", part, err)
		}
	}
	for _, part := range []string{".submit", ".cancel", ".dropped", ".open"} {
		if err := channel(t, server).ExchangeDeclarePassive("new"+part, "fanout", true, false, false, false,
			nil); err == nil || !strings.Contains(err.Error(), "404") {
			t.Errorf("the exchange new%s: %v", part, err)
		}
	}
	running := rabbitmq.Open(rabbitmq.Options{URL: server.URL, Queue: "used"})
	defer running.Close()
	s := worktest.Job(1)
	if r, err := running.Submit(t.Context(), []bridge.Submission{s}); err != nil || r[0].Err != nil {
		t.Fatal(r, err)
	}
	describe("used", "")
}

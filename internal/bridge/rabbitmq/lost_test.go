//go:build real

package rabbitmq_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/internal/bridge/rabbitmq"
	"github.com/fairlead/fairlead/internal/bridge/worktest"
	"github.com/fairlead/fairlead/internal/brokertest"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

func adapter(url, queue string) *rabbitmq.Queue {
	return rabbitmq.Open(rabbitmq.Options{URL: url, Queue: queue, Priorities: 5})
}

// drop ends connections, and with them everything that has not arrived.
func drop(held *brokertest.Held, _ func() bool) { held.Drop() }

// TestRealLostConfirmation checks that the bridge finds a publication whose confirmation was lost, however
// late it arrives, and reports it as absent only when it cannot arrive any more.
func TestRealLostConfirmation(t *testing.T) {
	server := brokertest.SharedRabbitMQ(t)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		name string
		lose func(*brokertest.Proxy)
		end  func(held *brokertest.Held, arrived func() bool)
		want bridge.Phase
	}{
		{"arrived, confirmation lost", (*brokertest.Proxy).Mute, drop, bridge.Pending},
		{"arrives late", (*brokertest.Proxy).Hold, (*brokertest.Held).Release, bridge.Pending},
		{"never arrives", (*brokertest.Proxy).Hold, drop, bridge.Absent},
	} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, another process: %v", c.name, again), func(t *testing.T) {
				proxy := brokertest.NewProxy(t, at.Host)
				queue := fmt.Sprint("lost-", i, again)
				address := strings.Replace(server.URL, at.Host, proxy.Address, 1)
				q := adapter(address, queue)
				defer func() { q.Close() }()
				if r := worktest.Submit(t, q, 1)[0]; r.Err != nil {
					t.Fatal(r.Err)
				}
				c.lose(proxy)
				// The marker is in the header of a message and in its body, which is sent last.
				for i, r := range worktest.SubmitUntil(t, q, func() bool { return proxy.Lost(`"marker":"lost-3"`) }, 2, 3) {
					if !errors.Is(r.Err, bridge.ErrUnsure) {
						t.Errorf("receipt %d: %v", i, r.Err)
					}
				}
				held := proxy.Pass()
				if again {
					q.Close()
					q = adapter(address, queue)
				}
				lost := []bridge.Entry{worktest.Entry(2), worktest.Entry(3)}
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				if s, err := q.Look(ctx, lost); err == nil && s[0].Phase == bridge.Absent {
					t.Errorf("before its connection has ended it is %+v", s)
				}
				c.end(held, func() bool { return len(contents(t, server, queue)) == 3 })
				for _, e := range lost {
					worktest.Await(t, q, e, c.want)
				}
				worktest.Await(t, q, worktest.Entry(1), bridge.Pending)
				if n, want := len(contents(t, server, queue)), map[bridge.Phase]int{
					bridge.Pending: 3, bridge.Absent: 1,
				}[c.want]; n != want {
					t.Errorf("%d messages are in the queue, want %d", n, want)
				}
			})
		}
	}
}

func channel(t testing.TB, server *brokertest.RabbitMQ) *amqp.Channel {
	t.Helper()
	c, err := amqp.Dial(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	ch, err := c.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

// contents returns the markers of the messages in a queue, and leaves the messages there.
func contents(t *testing.T, server *brokertest.RabbitMQ, queue string) (markers []string) {
	t.Helper()
	ch := channel(t, server)
	defer ch.Close()
	for {
		d, ok, err := ch.Get(queue, false)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return markers
		}
		task, err := mq.ReadTask(d.Body)
		if err != nil {
			t.Fatal(err)
		}
		markers = append(markers, task.Marker)
	}
}

// TestRealHalfPublished checks that the bridge makes the queue match the receipts before anybody takes work:
// a crash of the broker may leave a message in only one of the two queues.
func TestRealHalfPublished(t *testing.T) {
	server := brokertest.SharedRabbitMQ(t)
	q := adapter(server.URL, "half")
	for i, r := range worktest.Submit(t, q, 1, 2, 3, 4) {
		if r.Err != nil {
			t.Fatalf("receipt %d: %v", i, r.Err)
		}
	}
	q.Close()
	ch := channel(t, server)
	drop := func(queue string, n int) {
		t.Helper()
		for range 4 {
			d, ok, err := ch.Get(queue, false)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			if d.MessageId == worktest.Entry(n).Marker {
				d.Ack(false)
				return
			}
		}
		t.Fatalf("%d is not in %s", n, queue)
	}
	drop("half", 1)
	drop("half.receipts", 2)
	// 3 has ended, but the acknowledgement of its worker was lost.
	if err := ch.Publish("", "half.reports", false, false,
		amqp.Publishing{
			DeliveryMode: amqp.Persistent, Body: []byte(`{"fairlead":"report/1","marker":"lost-3","state":"succeeded"}`),
		}); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDeclarePassive("half.reports", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	server.Start(t)
	for range 2 { // another process finds the same
		q = adapter(server.URL, "half")
		for i, want := range []bridge.Phase{bridge.Absent, bridge.Pending, bridge.Succeeded, bridge.Pending} {
			worktest.Await(t, q, worktest.Entry(i+1), want)
		}
		q.Close()
	}
	if got := fmt.Sprint(contents(t, server, "half")); got != "[lost-2 lost-4]" {
		t.Errorf("in the queue there are %s", got)
	}
}

// TestRealOtherArguments checks that the error about an existing queue with other arguments explains the
// remedy.
func TestRealOtherArguments(t *testing.T) {
	server := brokertest.SharedRabbitMQ(t)
	if _, err := channel(t, server).QueueDeclare("mine", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	q := adapter(server.URL, "mine")
	defer q.Close()
	_, err := q.Describe(t.Context())
	if !errors.Is(err, queue.ErrInvalid) || !strings.Contains(err.Error(), "x-max-priority") ||
		!strings.Contains(err.Error(), "rabbitmqctl delete_queue mine") {
		t.Errorf("got %v", err)
	}
}

// TestRealTwoBridges checks that a second bridge to a queue learns that there is another one: at first that
// an earlier connection may be open, and then who it is. When the first bridge ends, the second one goes on.
func TestRealTwoBridges(t *testing.T) {
	rabbitmq.SetVanished(t, 3*time.Second)
	server := brokertest.SharedRabbitMQ(t)
	first, second := adapter(server.URL, "one"), adapter(server.URL, "one")
	defer second.Close()
	if _, err := first.Look(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Look(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "earlier connection") ||
		errors.Is(err, wait.ErrRefused) {
		t.Errorf("at first: %v", err)
	}
	host, _ := os.Hostname()
	want := fmt.Sprintf("the bridge that is process %d on %s uses the queue one", os.Getpid(), host)
	for end := time.Now().Add(time.Minute); ; {
		_, err := second.Look(t.Context(), nil)
		if errors.Is(err, wait.ErrRefused) && strings.Contains(err.Error(), want) &&
			strings.Contains(err.Error(), "--queue") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("at last: %v, want %q", err, want)
		}
	}
	if r := worktest.Submit(t, first, 1)[0]; r.Err != nil {
		t.Errorf("the first was disturbed: %v", r.Err)
	}
	first.Close()
	worktest.Await(t, second, worktest.Entry(1), bridge.Pending)
}

// TestRealQueueForgotten checks a queue that is gone with all confirmed messages, as after a crash in the
// seconds before RabbitMQ saves the definition of the queue. The bridge reports that the jobs are absent, and
// submits them again.
func TestRealQueueForgotten(t *testing.T) {
	server := brokertest.SharedRabbitMQ(t)
	q := adapter(server.URL, "gone")
	for i, r := range worktest.Submit(t, q, 1, 2, 3) {
		if r.Err != nil {
			t.Fatalf("receipt %d: %v", i, r.Err)
		}
	}
	q.Close()
	for _, part := range []string{"", ".receipts", ".reports"} {
		if _, err := channel(t, server).QueueDelete("gone"+part, false, false, false); err != nil {
			t.Fatal(err)
		}
	}
	q = adapter(server.URL, "gone")
	defer q.Close()
	for i, s := range looked(t, q, 1, 2, 3) {
		if s.Phase != bridge.Absent {
			t.Errorf("%d is %+v", i+1, s)
		}
	}
	for i, r := range worktest.Submit(t, q, 1, 2, 3) {
		if r.Err != nil {
			t.Errorf("receipt %d, again: %v", i, r.Err)
		}
	}
	if got := len(contents(t, server, "gone")); got != 3 {
		t.Errorf("%d are in the queue at last, want 3", got)
	}
}

// looked returns the statuses of an adapter as soon as it returns any.
func looked(t *testing.T, q *rabbitmq.Queue, numbers ...int) []bridge.Status {
	t.Helper()
	var entries []bridge.Entry
	for _, n := range numbers {
		entries = append(entries, worktest.Entry(n))
	}
	var seen []bridge.Status
	await.Until(t, "the bridge says something", func() (any, bool) {
		var err error
		seen, err = q.Look(t.Context(), entries)
		return err, err == nil
	})
	return seen
}

// BenchmarkSubmit measures how fast the bridge publishes jobs, and compares it with a plain client that
// publishes the same messages to one queue with the same number of unconfirmed messages.
func BenchmarkSubmit(b *testing.B) {
	const many = 100
	server := brokertest.NewRabbitMQ(b)
	for _, who := range []string{"bridge", "client"} {
		b.Run(who, func(b *testing.B) {
			s := worktest.Job(1)
			text, err := mq.NewTask(&s).Encode()
			if err != nil {
				b.Fatal(err)
			}
			ch := channel(b, server)
			if _, err := ch.QueueDeclare("plain", true, false, false, false,
				amqp.Table{"x-max-priority": int32(5)}); err != nil {
				b.Fatal(err)
			}
			if err := ch.Confirm(false); err != nil {
				b.Fatal(err)
			}
			q := adapter(server.URL, "bench")
			defer q.Close()
			all := make([]bridge.Submission, many)
			for i := range all {
				all[i] = worktest.Job(i)
			}
			b.ResetTimer()
			for n := 0; n < b.N; n += many {
				if who == "bridge" {
					if _, err := q.Submit(b.Context(), all); err != nil {
						b.Fatal(err)
					}
					continue
				}
				var last *amqp.DeferredConfirmation
				for range all {
					if last, err = ch.PublishWithDeferredConfirm("", "plain", true, false,
						amqp.Publishing{DeliveryMode: amqp.Persistent, Priority: 5, Body: text}); err != nil {
						b.Fatal(err)
					}
				}
				last.Wait()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

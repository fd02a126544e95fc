//go:build real

package rabbitmq_test

import (
	"fmt"
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
)

// TestRealDropped checks that a job that RabbitMQ drops, because of a policy of the queue or because a
// consumer rejected it, is absent, with the reason, even for a bridge that is started again. When the job is
// forgotten, nothing is left of it.
func TestRealDropped(t *testing.T) {
	server := brokertest.SharedRabbitMQ(t)
	for _, c := range []struct{ queue, policy, says string }{
		{"drop-expired", `{"message-ttl":1}`, "a policy with message-ttl"},
		{"drop-maxlen", `{"max-length":1}`, "a policy with max-length"},
		{"drop-rejected", "", "a consumer rejected it"},
	} {
		t.Run(c.queue, func(t *testing.T) {
			q := adapter(server.URL, c.queue)
			defer func() { q.Close() }()
			if c.policy != "" {
				server.Control(t, "set_policy", c.queue, "^"+c.queue+"$", c.policy, "--apply-to", "queues")
			}
			for _, n := range []int{1, 2} { // a queue with room for one drops the first of two
				if r := worktest.Submit(t, q, n)[0]; r.Err != nil {
					t.Fatal(r.Err)
				}
			}
			if c.policy == "" {
				d, ok, err := channel(t, server).Get(c.queue, false)
				if err != nil || !ok {
					t.Fatal(ok, err)
				}
				if err := d.Reject(false); err != nil {
					t.Fatal(err)
				}
			}
			gone := worktest.Entry(1)
			for range 2 {
				gone.ID = gone.Marker
				if s := worktest.Await(t, q, gone, bridge.Absent); !strings.Contains(s.Says, c.says) {
					t.Errorf("it says %q, want %q", s.Says, c.says)
				}
				q.Close()
				q = adapter(server.URL, c.queue)
			}
			worktest.Await(t, q, gone, bridge.Absent)
			if err := q.Forget(t.Context(), []bridge.Entry{gone, worktest.Entry(2)}); err != nil {
				t.Fatal(err)
			}
			q.Close()
			await.Until(t, "nothing is left of it", func() (any, bool) {
				left, err := channel(t, server).QueueDeclarePassive(c.queue+".dropped", true, false, false, false, nil)
				return fmt.Sprint(left, err), err == nil && left.Messages == 0 && left.Consumers == 0
			})
		})
	}
}

// TestRealQueueWithoutDeadLetters checks that the bridge can use a queue that somebody else made, and that
// the check names the missing argument.
func TestRealQueueWithoutDeadLetters(t *testing.T) {
	server := brokertest.SharedRabbitMQ(t)
	if _, err := channel(t, server).QueueDeclare("theirs", true, false, false, false,
		amqp.Table{"x-max-priority": int32(5)}); err != nil {
		t.Fatal(err)
	}
	q := adapter(server.URL, "theirs")
	defer q.Close()
	if r := worktest.Submit(t, q, 1)[0]; r.Err != nil {
		t.Fatal(r.Err)
	}
	worktest.Await(t, q, worktest.Entry(1), bridge.Pending)
	d, err := q.Describe(t.Context())
	if notes := strings.Join(d.Notes, "\n"); err != nil || !strings.Contains(notes,
		"the queue theirs exists without x-dead-letter-exchange") {
		t.Errorf("the check says %q, %v", notes, err)
	}
}

// TestRealQueueDeleted checks a bridge whose queue somebody deletes. Within seconds the jobs that waited in
// it are absent; a job that a worker has begun still runs; new submissions go to the queue that the bridge
// makes again.
func TestRealQueueDeleted(t *testing.T) {
	rabbitmq.SetExamined(t, 100*time.Millisecond)
	server := brokertest.SharedRabbitMQ(t)
	q := adapter(server.URL, "deleted")
	defer q.Close()
	for _, r := range worktest.Submit(t, q, 1, 2) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	begun := worktest.Entry(3)
	if r := worktest.Submit(t, q, 3)[0]; r.Err != nil {
		t.Fatal(r.Err)
	}
	told := mq.Report{Marker: begun.Marker, State: mq.Started, Worker: "w", Began: time.Now()}.Encode(1 << 10)
	if err := channel(t, server).Publish("", "deleted.reports", false, false, amqp.Publishing{Body: told}); err != nil {
		t.Fatal(err)
	}
	begun.ID = begun.Marker
	worktest.Await(t, q, begun, bridge.Running)
	if _, err := channel(t, server).QueueDelete("deleted", false, false, false); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2} {
		e := worktest.Entry(n)
		e.ID = e.Marker
		worktest.Await(t, q, e, bridge.Absent)
	}
	worktest.Await(t, q, begun, bridge.Running)
	if r := worktest.Submit(t, q, 4)[0]; r.Err != nil {
		t.Fatal(r.Err)
	}
	if got := fmt.Sprint(contents(t, server, "deleted")); got != "[lost-4]" {
		t.Errorf("in the queue there are %s", got)
	}
}

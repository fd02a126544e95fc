//go:build real

package brokertest_test

import (
	"testing"
	"time"

	"github.com/beanstalkd/go-beanstalk"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/brokertest"
)

// TestRealBeanstalkd checks that a job survives a kill with a binlog, and does not without one.
func TestRealBeanstalkd(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *brokertest.Beanstalkd{
		"binlog": brokertest.NewBeanstalkd, "forgetful": brokertest.NewForgetfulBeanstalkd,
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t)
			c := dial(t, b)
			id, err := c.Put([]byte("x"), 1, 0, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			b.Kill()
			b.Start(t)
			_, err = dial(t, b).Peek(id)
			if kept := err == nil; kept != (name == "binlog") {
				t.Errorf("after a kill the job is there: %v (%v)", kept, err)
			}
		})
	}
}

func dial(t *testing.T, b *brokertest.Beanstalkd) *beanstalk.Conn {
	t.Helper()
	c, err := beanstalk.Dial("tcp", b.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestRealRabbitMQ checks that a persistent message that was confirmed survives a kill and a stop.
func TestRealRabbitMQ(t *testing.T) {
	r := brokertest.NewRabbitMQ(t)
	begun := time.Now()
	publish(t, r)
	r.Sync(t)
	r.Kill()
	r.Start(t)
	expect(t, r, 1)
	r.Stop()
	r.Start(t)
	expect(t, r, 1)
	t.Logf("two restarts took %v", time.Since(begun).Round(time.Millisecond))
}

func channel(t *testing.T, r *brokertest.RabbitMQ) *amqp.Channel {
	t.Helper()
	c, err := amqp.Dial(r.URL)
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

func publish(t *testing.T, r *brokertest.RabbitMQ) {
	t.Helper()
	ch := channel(t, r)
	if _, err := ch.QueueDeclare("q", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	confirm, err := ch.PublishWithDeferredConfirm("", "q", true, false, amqp.Publishing{
		DeliveryMode: amqp.Persistent, Body: []byte("x"),
	})
	if err != nil || !confirm.Wait() {
		t.Fatal("not confirmed: ", err)
	}
}

func expect(t *testing.T, r *brokertest.RabbitMQ, n int) {
	t.Helper()
	q, err := channel(t, r).QueueDeclarePassive("q", true, false, false, false, nil)
	if err != nil || q.Messages != n {
		t.Errorf("%d messages (%v), want %d", q.Messages, err, n)
	}
}

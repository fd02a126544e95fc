//go:build real

package rabbitmq_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/rabbitmq"
	"github.com/fairlead/fairlead/internal/bridge/worktest"
	"github.com/fairlead/fairlead/internal/brokertest"
)

// TestRealLongJob checks that a job that runs for longer than RabbitMQ's consumer_timeout fails with this
// cause, and does not start again and again.
func TestRealLongJob(t *testing.T) {
	server := brokertest.SharedRabbitMQ(t)
	patience := func(timeout, tick int) {
		server.Control(t, "eval", fmt.Sprintf("application:set_env(rabbit, consumer_timeout, %d), "+
			"application:set_env(rabbit, channel_tick_interval, %d).", timeout, tick))
	}
	patience(1000, 500)
	defer patience(1800000, 60000) // RabbitMQ's defaults, in milliseconds
	o := rabbitmq.Options{URL: server.URL, Queue: "long", Logger: worktest.Logger(t)}
	work(t, o, 1)
	q := rabbitmq.Open(o)
	defer q.Close()
	file := filepath.Join(t.TempDir(), "starts")
	s := worktest.Job(1, "/bin/sh", "-c", `echo start >> "$0"; sleep 600`, file)
	if r, err := q.Submit(t.Context(), []bridge.Submission{s}); err != nil || r[0].Err != nil {
		t.Fatal(r, err)
	}
	got := worktest.Await(t, q, worktest.Entry(1), bridge.Failed)
	if got.ExitCode != -1 || !strings.Contains(got.Error, "consumer_timeout of 1s") {
		t.Errorf("got %+v", got)
	}
	if starts, err := os.ReadFile(file); err != nil || string(starts) != "start\n" {
		t.Errorf("it started: %q, %v", starts, err)
	}
	s = worktest.Job(2, "/bin/true") // the worker goes on
	if r, err := q.Submit(t.Context(), []bridge.Submission{s}); err != nil || r[0].Err != nil {
		t.Fatal(r, err)
	}
	worktest.Await(t, q, worktest.Entry(2), bridge.Succeeded)
}

//go:build real

package beanstalkd_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/beanstalkd"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/internal/bridge/worktest"
	"github.com/fairlead/fairlead/internal/brokertest"
)

// open returns an adapter to the server at address.
func open(t *testing.T, address string) *beanstalkd.Queue {
	q := beanstalkd.Open(beanstalkd.Options{Address: address, Tube: "jobs", Logger: worktest.Logger(t)})
	t.Cleanup(func() { q.Close() })
	return q
}

func look(t *testing.T, q *beanstalkd.Queue, e ...bridge.Entry) []bridge.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := q.Look(ctx, e)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drop ends connections, and with them everything that has not arrived.
func drop(held *brokertest.Held, _ func() bool) { held.Drop() }

// TestRealLostReply checks that the bridge finds a put whose answer was lost, however late it arrives, and
// reports it as absent only when it cannot arrive any more.
func TestRealLostReply(t *testing.T) {
	for _, c := range []struct {
		name string
		lose func(*brokertest.Proxy)
		end  func(held *brokertest.Held, arrived func() bool)
		want bridge.Phase
	}{
		{"arrived, answer lost", (*brokertest.Proxy).Mute, drop, bridge.Pending},
		{"arrives late", (*brokertest.Proxy).Hold, (*brokertest.Held).Release, bridge.Pending},
		{"never arrives", (*brokertest.Proxy).Hold, drop, bridge.Absent},
	} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, another process: %v", c.name, again), func(t *testing.T) {
				server := brokertest.NewBeanstalkd(t)
				proxy := brokertest.NewProxy(t, server.Address)
				q := open(t, proxy.Address)
				if r := worktest.Submit(t, q, 1)[0]; r.Err != nil {
					t.Fatal(r.Err)
				}
				c.lose(proxy)
				for i, r := range worktest.SubmitUntil(t, q, func() bool { return proxy.Lost("lost-2") }, 2, 3) {
					if errors.Is(r.Err, bridge.ErrUnsure) != (i == 0) || r.Err == nil {
						t.Errorf("receipt %d: %v; the first is unsure, the second was not sent", i, r.Err)
					}
				}
				held := proxy.Pass()
				if again {
					q.Close()
					q = open(t, proxy.Address)
				}
				lost := worktest.Entry(2)
				if s := look(t, q, lost)[0]; s.Phase == bridge.Absent {
					t.Errorf("before its connection has ended it is %+v", s)
				}
				c.end(held, func() bool { return count(t, server, "jobs") == 2 })
				s := worktest.Await(t, q, lost, c.want)
				if c.want == bridge.Pending && s.ID == "" {
					t.Errorf("found without a number: %+v", s)
				}
				if s := worktest.Await(t, q, worktest.Entry(3), bridge.Absent); s.ID != "" {
					t.Errorf("what was not sent is %+v", s)
				}
				if n := count(t, server, "jobs"); n != map[bridge.Phase]int{bridge.Pending: 2, bridge.Absent: 1}[c.want] {
					t.Errorf("%d jobs are in the tube", n)
				}
			})
		}
	}
}

func client(t *testing.T, server *brokertest.Beanstalkd) *beanstalk.Conn {
	t.Helper()
	c, err := beanstalk.Dial("tcp", server.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// count returns how many jobs are ready in a tube.
func count(t *testing.T, server *brokertest.Beanstalkd, tube string) (n int) {
	t.Helper()
	stats, err := beanstalk.NewTube(client(t, server), tube).Stats()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Sscan(stats["current-jobs-ready"], &n)
	return n
}

// TestRealForgetfulServer checks that the bridge notices that a server without a binlog loses everything in a
// restart: it does not confuse numbers that are given again with earlier ones.
func TestRealForgetfulServer(t *testing.T) {
	server := brokertest.NewForgetfulBeanstalkd(t)
	q := open(t, server.Address)
	e := []bridge.Entry{worktest.Entry(1), worktest.Entry(2)}
	for i, r := range worktest.Submit(t, q, 1, 2) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		e[i].ID = r.ID
	}
	server.Kill()
	server.Start(t)
	for at := uint64(0); at < 20; { // until the numbers are given again
		var err error
		if at, err = client(t, server).Put([]byte("other"), 0, 0, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	for _, lost := range append(e, worktest.Entry(1)) {
		worktest.Await(t, q, lost, bridge.Absent)
	}
	if r := worktest.Submit(t, q, 1)[0]; r.Err != nil || r.ID == e[0].ID {
		t.Errorf("sent again: %+v", r)
	}
	worktest.Await(t, q, worktest.Entry(1), bridge.Pending)
}

// TestRealWorkerOfOnesOwn checks that any program that keeps to the format can be the worker. If it ends
// between its report and the deletion, the job is over nevertheless, and the bridge deletes it when it
// forgets the job.
func TestRealWorkerOfOnesOwn(t *testing.T) {
	server := brokertest.NewBeanstalkd(t)
	q := open(t, server.Address)
	e := worktest.Entry(1)
	e.ID = worktest.Submit(t, q, 1)[0].ID
	worktest.Await(t, q, e, bridge.Pending)
	c := client(t, server)
	_, body, err := beanstalk.NewTubeSet(c, "jobs").Reserve(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	task, err := mq.ReadTask(body)
	if err != nil || task.Marker != e.Marker {
		t.Fatalf("got %+v, %v", task, err)
	}
	worktest.Await(t, q, e, bridge.Running)
	if _, err := beanstalk.NewTube(c, "jobs.reports").Put(
		fmt.Appendf(nil, `{"fairlead":"report/1","marker":%q,"state":"failed","exit_code":9}`, task.Marker), 0, 0,
		time.Minute); err != nil {
		t.Fatal(err)
	}
	if s := worktest.Await(t, q, e, bridge.Failed); s.ExitCode != 9 || s.ID != e.ID {
		t.Errorf("got %+v", s)
	}
	c.Close()
	await.True(t, "the job comes back", func() bool { return count(t, server, "jobs") == 1 })
	if err := q.Forget(t.Context(), []bridge.Entry{e}); err != nil {
		t.Fatal(err)
	}
	for _, tube := range []string{"jobs", "jobs.reports"} {
		stats, err := beanstalk.NewTube(client(t, server), tube).Stats()
		if err == nil && (stats["current-jobs-ready"] != "0" || stats["current-jobs-buried"] != "0") {
			t.Errorf("in tube %s: %v", tube, stats)
		}
	}
}

// TestRealCancelLater checks that a process other than the one that submitted a job can cancel it while it runs.
func TestRealCancelLater(t *testing.T) {
	server := brokertest.NewBeanstalkd(t)
	work(t, beanstalkd.Options{Address: server.Address, Tube: "jobs"}, 1)
	q := open(t, server.Address)
	s := worktest.Job(1)
	s.Job.Argv = []string{"/bin/sleep", "600"}
	if r, err := q.Submit(t.Context(), []bridge.Submission{s}); err != nil || r[0].Err != nil {
		t.Fatal(r, err)
	}
	worktest.Await(t, q, worktest.Entry(1), bridge.Running)
	c := client(t, server)
	await.Until(t, "the worker listens", func() (any, bool) {
		tubes, err := c.ListTubes()
		return tubes, err == nil && slices.Contains(tubes, "jobs.cancel.lost-1")
	})
	q.Close()
	q = open(t, server.Address)
	await.Until(t, "beanstalkd sees that the other connection is closed", func() (any, bool) {
		err := q.Cancel(t.Context(), []bridge.Entry{worktest.Entry(1)})
		if err != nil && !strings.Contains(err.Error(), "still open") {
			t.Fatal(err)
		}
		return err, err == nil
	})
	worktest.Await(t, q, worktest.Entry(1), bridge.Cancelled)
}

//go:build real

package beanstalkd_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/beanstalkd"
	"github.com/fairlead/fairlead/internal/bridge/worktest"
	"github.com/fairlead/fairlead/internal/brokertest"
)

// TestRealErrors checks that the error about a wrong address names the next step, whatever listens there.
func TestRealErrors(t *testing.T) {
	closed, other := worktest.WrongAddresses(t)
	for address, want := range map[string]string{
		closed:                  "cannot be reached (connection refused): is it running",
		other:                   "does not answer like beanstalkd",
		"nowhere.invalid:11300": "is that its address?",
	} {
		q := beanstalkd.Open(beanstalkd.Options{Address: address, Tube: "jobs"})
		defer q.Close()
		ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
		defer cancel()
		_, described := q.Describe(ctx)
		_, looked := q.Look(ctx, nil)
		_, submitted := q.Submit(ctx, []bridge.Submission{worktest.Job(1)})
		for _, err := range []error{described, looked, submitted} {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), address) ||
				strings.Contains(err.Error(), "dial tcp") {
				t.Errorf("%s: %v", address, err)
			}
		}
		t.Log(described)
	}
}

// TestRealCheckLeavesNothing checks that a check makes no tube, kicks no report, and reports the state of the
// server.
func TestRealCheckLeavesNothing(t *testing.T) {
	server := brokertest.NewForgetfulBeanstalkd(t)
	c := client(t, server)
	reports := beanstalk.NewTube(c, "jobs.reports")
	id, err := reports.Put([]byte("{}"), 0, 0, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := beanstalk.NewTubeSet(c, "jobs.reports").Reserve(time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := c.Bury(id, 0); err != nil {
		t.Fatal(err)
	}
	q := beanstalkd.Open(beanstalkd.Options{Address: server.Address, Tube: "jobs"})
	defer q.Close()
	d, err := q.Describe(t.Context())
	all := strings.Join(d.Notes, "\n")
	if err != nil || !strings.Contains(all, "the tube jobs does not exist") ||
		!strings.Contains(all, "writes no binlog") {
		t.Errorf("got %q, %v", all, err)
	}
	tubes, err := c.ListTubes()
	slices.Sort(tubes)
	if err != nil || strings.Join(tubes, " ") != "default jobs.reports" {
		t.Errorf("tubes are %v, %v", tubes, err)
	}
	if stats, err := c.StatsJob(id); err != nil || stats["state"] != "buried" || stats["kicks"] != "0" {
		t.Errorf("the report is %v, %v", stats, err)
	}
	kept := brokertest.NewBeanstalkd(t)
	q = beanstalkd.Open(beanstalkd.Options{Address: kept.Address, Tube: "default"})
	defer q.Close()
	if d, err := q.Describe(t.Context()); err != nil || len(d.Notes) != 0 {
		t.Errorf("with a binlog, and a tube that is there: %q, %v", d.Notes, err)
	}
}

// TestRealRefusedSession checks that the bridge closes a connection on which the server refuses to open a session.
// Otherwise each try would leave one that counts as a session of another bridge.
func TestRealRefusedSession(t *testing.T) {
	server := brokertest.NewForgetfulBeanstalkd(t)
	server.Drain(t)
	q := open(t, server.Address)
	for range 3 {
		_, err := q.Submit(t.Context(), []bridge.Submission{worktest.Job(1)})
		if err == nil || !strings.Contains(err.Error(), "draining") {
			t.Errorf("submitted while the server drains: %v", err)
		}
	}
	c := client(t, server)
	await.True(t, "no connection watches the tube of the session", func() bool {
		tubes, err := c.ListTubes()
		return err == nil && !slices.Contains(tubes, "jobs.session")
	})
}

//go:build campaign

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
)

// TestCampaignOutage takes the server, and then its database, away for ten leases. The running task must
// continue in its first attempt.
func TestCampaignOutage(t *testing.T) {
	const lease = 2 * time.Second
	outage := func() { time.Sleep(10 * lease) }
	t.Run("server", func(t *testing.T) {
		r := newRig(t, lease)
		outlasts(t, r, func() {
			r.server.kill()
			outage()
			r.serve()
		})
	})
	t.Run("server on PostgreSQL", func(t *testing.T) {
		r := newRig(t, lease)
		r.db = pgtest.OwnCluster(t).URL()
		outlasts(t, r, func() {
			r.server.kill()
			outage()
			r.serve()
		})
	})
	t.Run("database", func(t *testing.T) {
		r, c := newRig(t, lease), pgtest.OwnCluster(t)
		r.db = c.URL()
		outlasts(t, r, func() {
			c.Halt()
			outage()
			if err := c.Run(); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("lock", func(t *testing.T) {
		r, c := newRig(t, lease), pgtest.OwnCluster(t)
		r.db = c.URL()
		outlasts(t, r, func() {
			conn, err := pgx.Connect(t.Context(), c.URL())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE fairlead.lease, fairlead.job, fairlead.task"); err != nil {
				t.Fatal(err)
			}
			outage()
		})
	})
}

// outlasts runs a task during an outage, and lets it end afterwards.
func outlasts(t *testing.T, r *rig, outage func()) {
	t.Helper()
	r.serve()
	a := r.start("a", "work", "--server", r.socket, "--name", "a", "--cpus", "1",
		"--dir", filepath.Join(r.dir, "agent-a"), "--any-user", "--log", "info")
	r.mu.Lock()
	r.agents["a"] = a
	r.mu.Unlock()
	begun, end := filepath.Join(r.dir, "begun"), filepath.Join(r.dir, "end")
	script := fmt.Sprintf("echo $FAIRLEAD_ATTEMPT >>%s; until [ -e %s ]; do sleep 0.1; done", begun, end)
	id := r.submit(api.Spec{Argv: []string{"sh", "-c", script}})
	r.until("the task runs", func() bool {
		text, _ := os.ReadFile(begun)
		return len(text) > 0
	})
	outage()
	if err := os.WriteFile(end, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var k api.Task
	r.until("the job ends", func() bool {
		j, err := r.direct.Jobs.Get(t.Context(), id)
		if err != nil || !queue.State(j.Job.State).Ended() {
			return false
		}
		k = j.Tasks[0]
		return true
	})
	text, err := os.ReadFile(begun)
	if err != nil {
		t.Fatal(err)
	}
	if k.State != string(queue.Succeeded) || k.Attempt != 1 || k.Losses != 0 || string(text) != "1\n" {
		t.Errorf("the task is %+v, and these attempts began: %q; want one, the first, which succeeds", k, text)
	}
}

package agent

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/internal/process"
	"github.com/fairlead/fairlead/queue"
)

// lapsing runs f with an agent that has one task, whose lease lasts ttl, and returns how the task ended. The process is
// real, but the agent's clock is virtual: f runs in a synctest bubble while the agent watches the lease.
func lapsing(t *testing.T, ttl time.Duration, f func(t *testing.T, a *Agent, killed func() bool)) queue.Outcome {
	runner, err := process.NewRunner()
	if err != nil {
		daemon.Skip(t, err)
	}
	defer runner.Close()
	p, err := runner.Start(process.Spec{Argv: []string{"/bin/sleep", "1000"}, Dir: t.TempDir(), Mark: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		k := &task{process: p, until: time.Now().Add(ttl)}
		a := &Agent{
			Machine: &Machine{log: slog.New(slog.DiscardHandler)},
			ttl:     ttl, tasks: map[queue.Ref]*task{{JobID: 1, Attempt: 1}: k}, due: make(chan struct{}, 1),
		}
		go a.renew(ctx)
		f(t, a, func() bool {
			synctest.Wait()
			a.mu.Lock()
			defer a.mu.Unlock()
			return k.until.IsZero() && k.back
		})
	})
	return p.Wait()
}

// TestKillsBeforeTheLeaseEnds checks that, if nobody renews the lease of a task, the agent kills the task in the last
// tenth of the lease, before the server may give the task to another agent.
func TestKillsBeforeTheLeaseEnds(t *testing.T) {
	for _, ttl := range []time.Duration{300 * time.Millisecond, 6 * time.Second, time.Minute, time.Hour} {
		t.Run(ttl.String(), func(t *testing.T) {
			o := lapsing(t, ttl, func(t *testing.T, a *Agent, killed func() bool) {
				time.Sleep(ttl * 8 / 10)
				if killed() {
					t.Error("it is killed though there is time to renew the lease")
				}
				time.Sleep(ttl*2/10 - time.Millisecond)
				if !killed() {
					t.Error("it runs on though its lease is over")
				}
			})
			if o.State != queue.Cancelled || o.Cause != "the lease could not be renewed in time" {
				t.Errorf("it ended as %+v", o)
			}
		})
	}
}

// TestOutlastsTheServer checks that a task continues as long as no server can give it to another agent, for ten leases
// in this test. The agent kills it one lease after the last sign that no server listens, and at once if another server
// may give it away.
func TestOutlastsTheServer(t *testing.T) {
	const ttl = time.Minute
	for _, sole := range []bool{true, false} {
		t.Run(fmt.Sprint("sole ", sole), func(t *testing.T) {
			lapsing(t, ttl, func(t *testing.T, a *Agent, killed func() bool) {
				a.sole = sole
				for range 60 {
					time.Sleep(ttl / 6)
					a.outlast(time.Now())
				}
				if killed() == sole {
					t.Errorf("after ten leases it is killed: %v", !sole)
				}
				time.Sleep(ttl * 8 / 10)
				if sole && killed() {
					t.Error("it is killed less than a lease after the last sign")
				}
				time.Sleep(ttl*2/10 - time.Millisecond)
				if !killed() {
					t.Error("it runs on a lease after the last sign")
				}
				a.outlast(time.Now()) // too late
				if !killed() {
					t.Error("a task whose lease is over has one again")
				}
			})
		})
	}
}

// TestNobodyListens checks which errors show that no server listens.
func TestNobodyListens(t *testing.T) {
	ask := func(c *api.Client, err error) error {
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Status(t.Context())
		return err
	}
	gone := filepath.Join(t.TempDir(), "gone")
	l, err := net.Listen("unix", gone)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close() // like a server that was killed: the file stays
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "https://" + port.Addr().String()
	port.Close()
	for name, err := range map[string]error{
		"a socket of nobody": ask(api.Dial(gone)),
		"no socket":          ask(api.Dial(gone + "-too")),
		"a port of nobody":   ask(api.DialTLS(address, func(string) (*tls.Config, error) { return &tls.Config{}, nil })),
	} {
		if !nobodyListens(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	hangUp := served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			c.Close()
		}
	}))
	if err := ask(api.Dial(hangUp)); err == nil || nobodyListens(err) {
		t.Errorf("a connection that is lost: %v", err)
	}
}

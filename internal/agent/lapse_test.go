package agent

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/process"
	"github.com/fairlead/fairlead/queue"
)

// TestKillsBeforeTheLeaseEnds: a task whose lease nobody renews is killed in the last tenth of its lease, before
// the server may give it to somebody else. The process is real, and the clock of the agent is virtual.
func TestKillsBeforeTheLeaseEnds(t *testing.T) {
	for _, ttl := range []time.Duration{300 * time.Millisecond, 6 * time.Second, time.Minute, time.Hour} {
		t.Run(ttl.String(), func(t *testing.T) {
			runner, err := process.NewRunner()
			if err != nil {
				t.Skip(err)
			}
			defer runner.Close()
			p, err := runner.Start(process.Spec{Argv: []string{"/bin/sleep", "1000"}, Dir: t.TempDir(), Mark: t.Name()})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				k := &task{process: p, until: time.Now().Add(ttl)}
				a := &Agent{
					Machine: &Machine{log: slog.New(slog.DiscardHandler)},
					ttl:     ttl, tasks: map[queue.Ref]*task{{JobID: 1, Attempt: 1}: k}, news: make(chan struct{}, 1),
				}
				killed := func() bool {
					synctest.Wait()
					a.mu.Lock()
					defer a.mu.Unlock()
					return k.until.IsZero() && k.back
				}
				go a.renew(ctx)
				time.Sleep(ttl * 8 / 10)
				if killed() {
					t.Error("it is killed though there is time to renew the lease")
				}
				time.Sleep(ttl*2/10 - time.Millisecond)
				if !killed() {
					t.Error("it runs on though its lease is over")
				}
				cancel()
			})
			if o := p.Wait(); o.State != queue.Cancelled || o.Cause != "the lease could not be renewed in time" {
				t.Errorf("it ended as %+v", o)
			}
		})
	}
}

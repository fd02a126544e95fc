package bridge_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/bridgetest"
)

// TestOldAttempt checks a bridge that was displaced and comes back when the server has decided on later
// attempts. It does not report the end of its entry as the end of the present attempt. The entry leaves the
// QS, whether it still runs or has ended.
func TestOldAttempt(t *testing.T) {
	for name, endsAway := range map[string]bool{"it runs still": false, "it has ended meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, time.Minute)
			first, third := make(chan struct{}), make(chan struct{})
			r.qs.Slots = 5
			r.qs.Run = func(ctx context.Context, s bridge.Submission) bridgetest.Ran {
				code := 1
				switch s.Ref.Attempt {
				case 1:
					select {
					case <-first:
					case <-ctx.Done():
					}
				case 3:
					<-third
				case 4:
					code = 0
				}
				return bridgetest.Ran{ExitCode: code}
			}
			as := func(ledger string) func(*bridge.Options) {
				return func(o *bridge.Options) {
					groups(o)
					o.Dir, o.TakeOver = filepath.Join(r.dir, ledger), true
				}
			}
			r.start(as("a"))
			id := r.submit("tries", api.Spec{Pool: "physics", Argv: []string{"false"}, Retries: 2, BackoffSeconds: 0.5})
			old := r.inQS(1)[0].Marker
			r.stop()
			r.start(as("b"))
			r.inQS(3) // the second attempt has failed, the third runs
			close(third)
			r.ends(id, "waiting")
			r.stop()
			if endsAway {
				close(first)
			}
			r.start(as("a"))
			j := r.ends(id, "succeeded")
			if a := j.Tasks[0].Attempt; a != 4 {
				t.Errorf("the attempt %d succeeded: %+v", a, j.Tasks[0])
			}
			all := r.inQS(4)
			if last := all[len(all)-1]; last.Ref.Attempt != 4 {
				t.Errorf("the last submission is of attempt %d", last.Ref.Attempt)
			}
			want := bridge.Cancelled
			if endsAway {
				want = bridge.Failed
			}
			r.until("the old entry is over", func() bool {
				st, err := r.qs.Adapter().Look(t.Context(), []bridge.Entry{{Marker: old}})
				return err == nil && st[0].Phase == want
			})
			r.markersDiffer()
		})
	}
}

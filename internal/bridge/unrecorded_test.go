package bridge_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// refusesJob is a store that refuses the end of one job.
type refusesJob struct {
	*memory.Store
	job, refusals atomic.Int64
}

func (s *refusesJob) Finish(ctx context.Context, all []queue.Result) ([]queue.Verdict, error) {
	for _, r := range all {
		if r.JobID == s.job.Load() {
			s.refusals.Add(1)
			return nil, errors.New("planted")
		}
	}
	return s.Store.Finish(ctx, all)
}

// TestKeepsEndsThatAreNotRecorded checks that the bridge repeats the report of an end that the server could not record,
// and reports the other ends meanwhile.
func TestKeepsEndsThatAreNotRecorded(t *testing.T) {
	store := &refusesJob{Store: memory.New("cpu")}
	r := newRigOn(t, store, time.Minute)
	r.gate("bad")
	r.qs.Slots = 2
	r.start(func(o *bridge.Options) { o.Slots = 2 })
	bad := r.submit("bad", api.Spec{})
	store.job.Store(bad)
	r.inQS(1)
	r.open("bad")
	r.until("refusals", func() bool { return store.refusals.Load() > 1 })
	r.ends(r.submit("good", api.Spec{}), "succeeded")
	store.job.Store(0)
	if j := r.ends(bad, "succeeded"); j.Tasks[0].Attempt != 1 || j.Tasks[0].Losses != 0 {
		t.Errorf("the job ended as %+v", j.Tasks[0])
	}
}

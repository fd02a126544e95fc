package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/queue"
)

// TestThousandPoolsAreOneShare: of two users with equal shares, one names a thousand pools, with every priority. With a
// right to their own pool only, that user gets half; with a right to make pools, the user gets nearly everything.
func TestThousandPoolsAreOneShare(t *testing.T) {
	if testing.Short() {
		t.Skip("much arithmetic, and nothing at once")
	}
	everything := access.Pool{
		Submit: []access.Subject{access.Everybody}, Create: []string{access.Anything}, Priorities: []string{access.Anything},
	}
	for _, c := range []struct {
		rights      map[string]access.Pool
		least, most float64
	}{{nil, 0.49, 0.51}, {map[string]access.Pool{"": everything}, 0.98, 1}} {
		synctest.Test(t, func(t *testing.T) {
			if part := partOfGreedy(t, c.rights); part < c.least || part > c.most || math.IsNaN(part) {
				t.Errorf("with the rights %v the greedy user gets %.3f, want %v to %v", c.rights, part, c.least, c.most)
			}
		})
	}
}

// partOfGreedy has two users submit a minute of work at a time into a cluster of one node, and one of them uses a
// thousand pools. It returns this user's part of the tasks.
func partOfGreedy(t *testing.T, rights map[string]access.Pool) float64 {
	const tasks = 200
	var mu sync.Mutex
	ran := map[string]int{}
	count := func(ctx context.Context, l *fairlead.Lease) error {
		mu.Lock()
		ran[l.Job.User]++
		mu.Unlock()
		return enginetest.Lasting(ctx, l)
	}
	o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
	o.Shares.Access.Pools = rights
	loop, stop := start(t, o, 1, count)
	defer stop()
	jobs := func(user string, n int, change func(i int, j *fairlead.Job)) {
		t.Helper()
		all := make([]fairlead.Job, n)
		for i := range all {
			all[i] = fairlead.Job{User: user, Kind: "work", Payload: []byte("1m"), Limit: time.Minute}
			change(i, &all[i])
		}
		by := &access.Principal{Kind: access.User, Name: user, UID: 1000}
		subs, err := loop.Intake.SubmitWith(t.Context(), all, engine.SubmitOptions{By: by})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range subs {
			if s.Err != nil && !errors.Is(s.Err, queue.ErrForbidden) {
				t.Fatal(s.Err)
			}
		}
	}
	jobs("honest", tasks, func(int, *fairlead.Job) {})
	jobs("greedy", tasks, func(int, *fairlead.Job) {})
	priorities := []string{"", "very_high", "high", "normal", "low"}
	jobs("greedy", 1000, func(i int, j *fairlead.Job) {
		j.Pool, j.Priority, j.Requestor = fmt.Sprint("p", i), priorities[i%5], fmt.Sprint("r", i)
	})
	time.Sleep(tasks * time.Minute)
	mu.Lock()
	defer mu.Unlock()
	return float64(ran["greedy"]) / float64(ran["greedy"]+ran["honest"])
}

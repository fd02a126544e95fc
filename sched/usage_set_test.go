package sched_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestUsageSetAndTakenBack: an administrator sets the usage of a waiting pool, and takes that back. That gives the pool
// no claim to the whole machine: under fair the pool gets the position of the least served of the others.
func TestUsageSetAndTakenBack(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s, err := sched.New(sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{})}, now, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 4}, now)
	key := s.Key(nil)
	pools := map[string]sched.PoolID{"ann": s.Pool("ann"), "bob": s.Pool("bob")}
	for id := int64(1); id <= 800; id++ {
		pool := pools["ann"]
		if id%2 == 0 {
			pool = pools["bob"]
		}
		s.Add(sched.Job{ID: id, Pool: pool, Key: key, Priority: 2, Tasks: 1}, now)
	}
	var d sched.Decision
	var running []sched.RunID
	started := map[int64]int{} // by whether the id is even
	for i := range 100 {
		now = now.Add(10 * time.Second)
		for _, run := range running {
			s.Finish(run, now, true)
		}
		running = running[:0]
		switch i {
		case 40:
			s.Memory().SetUsed(pools["ann"], 36_000, now)
		case 41:
			s.Memory().SetUsed(pools["ann"], 10, now)
		}
		for more := true; more; more = d.More {
			s.Step(now, 0, &d)
			for _, st := range d.Starts {
				running = append(running, st.Run)
				if i > 41 {
					started[st.Job%2]++
				}
			}
		}
	}
	if anns, bobs := started[1], started[0]; anns+bobs != 4*58 || max(anns, bobs)-min(anns, bobs) > 4 {
		t.Errorf("afterwards %d tasks of ann and %d of bob started", anns, bobs)
	}
}

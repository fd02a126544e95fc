package sched_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead/sched"
)

// TestKeptRoomThatHasComeIsUsed: a job whose planned start follows only from time limits starts at that instant. Under
// load and drf its pool ties with the pool of the narrow tasks when its node is empty, and the narrow tasks would go
// first.
func TestKeptRoomThatHasComeIsUsed(t *testing.T) {
	where := site{1, 8, false}
	work := mix{narrow: 300, min: 20 * time.Second, max: 80 * time.Second, jobs: 4, wide: time.Minute}
	for _, name := range []string{"load", "drf", "fair"} {
		for _, backfill := range []sched.Backfill{sched.EASY, sched.Conservative} {
			for seed := range uint64(4) {
				t.Run(fmt.Sprintf("%s+%v/%d", name, backfill, seed), func(t *testing.T) {
					c := contestOf(t, name, backfill, where, work, "exact", seed)
					c.run(epoch.Add(5 * time.Minute))
					first := c.add("wide", where.wide(), work.wide, work.wide)
					c.wide[first] = true
					for range work.jobs - 1 {
						c.add("wide", where.wide(), work.wide, work.wide)
					}
					c.begin()
					kept := c.Read().KeptFor(first)
					if kept == nil || kept.Predicted || kept.Held {
						t.Fatalf("the first wide job has no promised start, but %+v", kept)
					}
					c.run(epoch.Add(24 * time.Hour))
					if start := epoch.Add(c.starts[0]); !start.Equal(kept.From) {
						t.Errorf("it starts %v after it was told", start.Sub(kept.From))
					}
				})
			}
		}
	}
}

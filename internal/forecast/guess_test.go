package forecast_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
)

// TestGuessesAreMarked: an estimate says that it is a guess if it rests on a task of a pool in which none has ended, or
// on one that runs for longer than all that have. While the tasks are like the ones that ended, it is none.
func TestGuessesAreMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := start(t, engine.LoopOptions{Shares: fairlead.DefaultShares()}, 1, enginetest.Lasting)
		defer stop()
		submit := func(user, runs string) int64 {
			return enginetest.Submit(t, loop, fairlead.Job{User: user, Payload: []byte(runs)})[0]
		}
		guess := func(id int64) bool {
			a := ask(t, loop, id)
			if marked := strings.Contains(a.Text(), "; a guess, because "); a.Start.Replays == 0 || marked != a.Start.Guess {
				t.Fatalf("the estimate is %+v\n%s", a.Start, a.Text())
			}
			return a.Start.Guess
		}
		for range 3 {
			submit("ann", "10m")
			time.Sleep(11 * time.Minute)
		}
		submit("ann", "20m")
		time.Sleep(time.Minute)
		waits := submit("ann", "10m")
		time.Sleep(time.Minute)
		if guess(waits) {
			t.Error("while a task runs like all before it, the estimate is called a guess")
		}
		time.Sleep(10 * time.Minute)
		if !guess(waits) {
			t.Error("while a task outlasts all before it, the estimate is not called a guess")
		}
		time.Sleep(time.Hour)
		submit("bob", "10m")
		time.Sleep(time.Minute)
		waits = submit("ann", "10m")
		time.Sleep(time.Minute)
		if !guess(waits) {
			t.Error("while a task of a pool without history runs, the estimate is not called a guess")
		}
	})
}

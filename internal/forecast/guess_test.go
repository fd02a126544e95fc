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

// TestGuessesAreMarked: an estimate says that it is a guess if it rests on a task of a pool in which few tasks have
// ended, or on a task that runs longer than most of those. While the tasks are like many that ended, it is no guess.
func TestGuessesAreMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := start(t, engine.LoopOptions{Shares: fairlead.DefaultShares()}, 1, enginetest.Lasting)
		defer stop()
		submit := func(user, runs string) int64 {
			return enginetest.Submit(t, loop, fairlead.Job{User: user, Payload: []byte(runs)})[0]
		}
		guess := func(id int64) bool {
			a := ask(t, loop, id)
			marked := strings.Contains(a.Text(), "; a guess, because the run time")
			if a.Start.Replays == 0 || marked != a.Start.Guess {
				t.Fatalf("the estimate is %+v\n%s", a.Start, a.Text())
			}
			return a.Start.Guess
		}
		for i := range 10 {
			submit("ann", "10m")
			if i == 3 { // three tasks have ended
				waits := submit("ann", "10m")
				time.Sleep(time.Minute)
				a := ask(t, loop, waits)
				width := a.Start.Late.Sub(*a.Start.Early)
				want := "is known from only 3 recent tasks"
				if !strings.Contains(a.Text(), want) || width < 10*time.Minute {
					t.Errorf("the range is %v wide, and the answer does not say %q:\n%s", width, want, a.Text())
				}
				time.Sleep(10 * time.Minute)
			}
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

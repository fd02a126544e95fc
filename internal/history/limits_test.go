package history_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/sched"
)

// TestLimitCurves: the used amount of a license and the starts under a rate are recorded in steps, for ended and for
// running tasks. The answer also has the times at which running tasks return their licenses.
func TestLimitCurves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Licenses = map[string]int64{"matlab": 4}
		o.Shares.Sched.Rates = map[string]sched.Rate{"mail": {Count: 2, Per: time.Minute}}
		loop, stop := enginetest.Start(t, o, 8, enginetest.Lasting)
		defer stop()
		begin := time.Now()
		one := func(payload string, limit time.Duration, n int64) {
			enginetest.Submit(t, loop, fairlead.Job{User: "ann", Payload: []byte(payload), Limit: limit,
				Licenses: fairlead.Amounts{"matlab": n}})
			synctest.Wait()
		}
		one("30m", time.Hour, 1)   // has ended
		one("3h", 4*time.Hour, 2)  // runs
		one("3h", 10*time.Hour, 1) // runs
		for range 5 {
			enginetest.Submit(t, loop, fairlead.Job{User: "ann", Payload: []byte("1s"), Rates: []string{"mail"}})
		}
		time.Sleep(2 * time.Hour)
		var used, starts float64
		for _, c := range history.New(loop).LimitSeries(6 * time.Hour) {
			for _, s := range c.Past {
				switch {
				case s.From.Before(begin) || s.Until.After(time.Now()) || !s.Until.After(s.From):
					t.Errorf("%s: a step is %+v", c.Name, s)
				case c.Rate:
					starts += s.Used * math.Max(1, math.Round(s.Until.Sub(s.From).Seconds()/c.StepSeconds))
				default:
					used += s.Used * s.Until.Sub(s.From).Hours()
				}
			}
			if c.Rate {
				if c.Capacity != 2*c.StepSeconds/60 || len(c.Ahead) != 0 {
					t.Errorf("the rate is %+v", c)
				}
				continue
			}
			if c.Capacity != 4 || len(c.Ahead) != 2 || c.Ahead[0].Used != 3 || c.Ahead[1].Used != 1 ||
				!c.Ahead[0].Until.Equal(begin.Add(4*time.Hour)) || !c.Ahead[1].Until.Equal(begin.Add(10*time.Hour)) {
				t.Errorf("the license is %+v", c)
			}
		}
		if math.Abs(used-6.5) > 0.01 || starts != 5 {
			t.Errorf("%v hours of the license, want 6.5, and %v starts, want 5", used, starts)
		}
		for range 7 {
			enginetest.Submit(t, loop, fairlead.Job{User: "ann", Payload: []byte("1s"), Rates: []string{"mail"}})
		}
		one("10m", 0, 1) // unknown how long
		for _, c := range history.New(loop).LimitSeries(time.Hour) {
			switch last := len(c.Ahead) - 1; {
			case c.Rate && (last != 0 || time.Until(c.Ahead[0].Until) != 5*30*time.Second):
				t.Errorf("five wait for the rate: %+v", c.Ahead)
			case !c.Rate && (last != 2 || c.Ahead[0].Used != 4 || c.Ahead[last].Used != 1 ||
				!c.Ahead[last].Until.IsZero()):
				t.Errorf("one has no limit: %+v", c.Ahead)
			}
		}
	})
}

// TestLimitPeaks: besides the mean of a step, the history of a license has the largest amount in use, for ended and for
// running tasks.
func TestLimitPeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Licenses = map[string]int64{"matlab": 5}
		loop, stop := enginetest.Start(t, o, 8, enginetest.Lasting)
		defer stop()
		peak := func() (most, used float64) {
			for _, s := range history.New(loop).LimitSeries(6 * time.Hour)[0].Past {
				most, used = max(most, s.Peak), max(used, s.Used)
			}
			return most, used
		}
		for range 5 {
			enginetest.Submit(t, loop, fairlead.Job{User: "ann", Payload: []byte("1s"),
				Licenses: fairlead.Amounts{"matlab": 1}})
		}
		time.Sleep(time.Hour)
		if most, used := peak(); most != 5 || used > 0.1 {
			t.Errorf("five of one second had %v in use at most, and %v on average; want 5, and hardly any", most, used)
		}
		time.Sleep(48 * time.Hour)
		enginetest.Submit(t, loop, fairlead.Job{User: "ann", Payload: []byte("1h"),
			Licenses: fairlead.Amounts{"matlab": 3}})
		synctest.Wait()
		time.Sleep(time.Second)
		if most, used := peak(); most != 3 || used > 3 {
			t.Errorf("one that runs has 3: %v in use at most, %v on average", most, used)
		}
	})
}

package forecast_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/views"
)

func forecastText(f *forecast.Forecast) string {
	var b strings.Builder
	for _, p := range f.Pools {
		fmt.Fprintf(&b, "%s%q %.0f%% -> %.0f%%, %g -> %g fair, starts %d, stops %d\n",
			strings.Repeat(" ", p.Depth), p.Path, 100*p.Before.Share, 100*p.After.Share, p.Before.FairNow,
			p.After.FairNow, p.Starts, p.Stops)
	}
	fmt.Fprintln(&b, f.Before, f.After)
	return b.String()
}

// TestForecastConfiguration: a fork of the scheduler forecasts the effects of another configuration. The configuration
// has these effects once it is applied, and the original is not affected by the forecast.
func TestForecastConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shares := enginetest.Shares(t, "pools: {a: {weight: 3, max_running: 2}, b: {weight: 1, max_running: 1}}")
		loop, stop := start(t, engine.LoopOptions{Shares: shares}, 8, enginetest.Endless)
		defer stop()
		enginetest.Submit(t, loop, fairlead.Job{Pool: "a", Array: "1-10"}, fairlead.Job{Pool: "b", Array: "1-10"})
		synctest.Wait()
		next := enginetest.Shares(t, "pools: {a: {weight: 1, max_running: 2}, b: {weight: 3}, c: {weight: 4}}")
		before := views.Pools(t.Context(), loop)
		got, err := forecast.New(loop).Forecast(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		want := `"" 100% -> 100%, 3 -> 8 fair, starts 5, stops 0
 "a" 75% -> 12%, 2 -> 2 fair, starts 0, stops 0
 "b" 25% -> 38%, 1 -> 6 fair, starts 5, stops 0
 "c" 0% -> 50%, 0 -> 0 fair, starts 0, stops 0
[] [b]
`
		if text := forecastText(got); text != want {
			t.Errorf("got\n%swant\n%s", text, want)
		}
		if after := views.Pools(t.Context(), loop); !reflect.DeepEqual(lasting(before), lasting(after)) {
			t.Errorf("the loop itself changed:\n%+v\n%+v", before, after)
		}

		if err := loop.Configure(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, p := range views.Pools(t.Context(), loop) {
			i := slices.IndexFunc(got.Pools, func(f forecast.PoolForecast) bool { return f.Path == p.Path })
			if i < 0 || got.Pools[i].After.Share != p.Share || got.Pools[i].After.Weight != p.Weight {
				t.Errorf("pool %q has %+v, the forecast was %+v", p.Path, p, got.Pools)
			}
			if p.Path == "b" && p.Tasks != 6 {
				t.Errorf("%d tasks of b run; the forecast was 5 more than 1", p.Tasks)
			}
		}
	})
}

// lasting returns the values that do not change over time.
func lasting(pools []views.PoolView) (text []string) {
	for _, p := range pools {
		text = append(text, fmt.Sprint(p.Path, p.Weight, p.Share, p.Tasks, p.Waiting, p.MaxRunning, p.Configured))
	}
	return text
}

// TestForecastOrder checks who goes first before and after the change, and a configuration that could not be applied.
func TestForecastOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shares := enginetest.Shares(t, "policy: fifo\npools: {a: {}, b: {}}")
		loop, stop := start(t, engine.LoopOptions{Shares: shares}, 1, enginetest.Endless)
		defer stop()
		enginetest.Submit(t, loop, fairlead.Job{Pool: "a", Array: "1-3"})
		time.Sleep(time.Minute) // virtual time
		enginetest.Submit(t, loop, fairlead.Job{Pool: "b", Array: "1-3"})
		synctest.Wait()
		got, err := forecast.New(loop).Forecast(t.Context(),
			enginetest.Shares(t, "policy: fair\npools: {a: {}, b: {}}"))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got.Before, got.After) != "[a b] [b a]" || got.Unranked {
			t.Errorf("order %v, then %v", got.Before, got.After)
		}
		got, err = forecast.New(loop).Forecast(t.Context(),
			enginetest.Shares(t, "policy: multifactor\npools: {a: {}, b: {}}"))
		if err != nil || !got.Unranked {
			t.Errorf("under multifactor: unranked %v, %v", got, err)
		}
		bad := enginetest.Shares(t, "pools: {a: {}}")
		bad.Sched.Root.Policy = "no such policy"
		if _, err := forecast.New(loop).Forecast(t.Context(), bad); err == nil {
			t.Error("the forecast accepted shares that cannot be put in force")
		}
	})
}

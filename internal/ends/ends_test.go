package ends_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/ends"
	"github.com/fairlead/fairlead/queue"
)

var start = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

// TestLastHour: ends leave the count of the last hour after an hour, and the count of the last day after a day.
func TestLastHour(t *testing.T) {
	var tally ends.Tally
	for m := range 30 * 60 { // for 30 hours, a failure every minute on a, and a success every other minute on b
		now := start.Add(time.Duration(m) * time.Minute)
		tally.Add("a", "ann", ends.Exit, now)
		if m%2 == 0 {
			tally.Add("b", "bob", ends.Succeeded, now)
		}
		tally.Add("b", "bob", ends.Cancelled, now)
	}
	now := start.Add(30*time.Hour - time.Second)
	nodes, users, whole := tally.LastHour(now)
	if want := map[string]ends.Count{"a": {Ended: 60, Failed: 60}, "b": {Ended: 30}}; !maps.Equal(nodes, want) {
		t.Errorf("by node %v, want %v", nodes, want)
	}
	if a, b := users["a"]["ann"], users["b"]["bob"]; a != nodes["a"] || b != nodes["b"] || len(users) != 2 || !whole {
		t.Errorf("by user %v, whole: %v", users, whole)
	}
	if got, want := tally.DayBefore(now), (ends.Count{Ended: 24 * 90, Failed: 24 * 60}); got != want {
		t.Errorf("the day before: %v, want %v", got, want)
	}
	before := tally.Totals()
	tally.Forget("a", now)
	nodes, users, whole = tally.LastHour(now)
	if len(nodes) != 1 || nodes["b"].Ended != 30 || len(users) != 1 || whole || !maps.Equal(tally.Totals(), before) {
		t.Errorf("without the last hour of a: %v, %v, and in total %v", nodes, users, tally.Totals())
	}
	if nodes, users, whole := tally.LastHour(now.Add(2 * time.Hour)); len(nodes) > 0 || len(users) > 0 || !whole {
		t.Errorf("two hours later %v, %v", nodes, users)
	}
	sums := tally.Totals()
	want := map[ends.Key]int64{{"a", ends.Exit}: 1800, {"b", ends.Succeeded}: 900, {"b", ends.Cancelled}: 1800}
	if !maps.Equal(sums, want) {
		t.Errorf("since the start %v, want %v", sums, want)
	}
}

// TestManyNames: a thousand nodes are counted separately, and all later ones together. It is the same for ten thousand
// users on nodes.
func TestManyNames(t *testing.T) {
	var tally ends.Tally
	for i := range 1500 {
		tally.Add(fmt.Sprint("n", i), "ann", ends.Lost, start)
	}
	for i := range 10_000 {
		tally.Add("n1", fmt.Sprint("u", i), ends.Lost, start)
	}
	nodes, users, _ := tally.LastHour(start.Add(time.Second))
	if got := nodes["other"]; len(nodes) != 1001 || got.Failed != 500 {
		t.Errorf("%d names, other %v", len(nodes), got)
	}
	if got := users["n1"]["other"]; len(users["n1"]) != 9001 || got.Failed != 1001 {
		t.Errorf("%d users of n1, other %v", len(users["n1"]), got)
	}
}

// TestClockSetBack: ends that seem older than the latest ones are counted at the time of the latest.
func TestClockSetBack(t *testing.T) {
	var tally ends.Tally
	tally.Add("a", "ann", ends.Exit, start)
	tally.Add("a", "ann", ends.Exit, start.Add(-10*time.Minute))
	if nodes, _, _ := tally.LastHour(start.Add(time.Second)); nodes["a"].Failed != 2 {
		t.Errorf("%v", nodes)
	}
}

// TestCauses: each outcome has one cause.
func TestCauses(t *testing.T) {
	for want, o := range map[ends.Cause]queue.Outcome{
		ends.Succeeded: {State: queue.Succeeded},
		ends.Cancelled: {State: queue.Cancelled, Signal: "terminated"},
		ends.Exit:      {State: queue.Failed, ExitCode: 1},
		ends.Signal:    {State: queue.Failed, Signal: "killed", ExitCode: 137},
		ends.Other:     {State: queue.Failed, Cause: "time limit of 1h"},
		ends.Refused:   {State: queue.Failed, Refused: queue.RefusedNow},
	} {
		if got := ends.Of(o); got != want || got.Failed() == (want == ends.Succeeded || want == ends.Cancelled) {
			t.Errorf("%+v is %s, want %s", o, got, want)
		}
	}
}

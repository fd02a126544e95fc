package words

import (
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/views"
)

// TestFairnessLine checks the line below the table of shares.
func TestFairnessLine(t *testing.T) {
	doc := &api.Shares{Unit: "cpu", Summary: api.Summary{Free: map[string]int64{"cpu": 16}}}
	doc.Fairness.Day = views.FairnessWhole{Seconds: 84_600, Jain: 0.9352, Served: 0.905, Worst: "biology",
		WorstServed: 0.8104}
	want := "fairness: served 90.5%, least biology 81.0%, Jain 0.94 over 24h · borrowed now: nothing · idle 16 cpu"
	if got := Fairness(doc); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	doc.Fairness.Day = views.FairnessWhole{Seconds: 11_520.4, Jain: 1, Served: 1, WorstServed: 1}
	for _, pool := range []string{"a", "b", "c", "d", "e"} {
		doc.Fairness.Borrowed = append(doc.Fairness.Borrowed, views.Borrowed{Pool: pool, From: "z", Units: 2.5})
	}
	want = "fairness: served 100.0%, Jain 1.00 over 3h12m · borrowed now: a 2.5 of z, b 2.5 of z, " +
		"c 2.5 of z, and 2 more · idle 16 cpu"
	if got := Fairness(doc); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestOwed checks hours with their sign.
func TestOwed(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0", 17: "0", 3600: "+1.00", -5400: "-1.50", -43200: "-12.0", 4e6: "+1111.1"} {
		if got := Owed(seconds); got != want {
			t.Errorf("%v slot-seconds are %s, want %s", seconds, got, want)
		}
	}
}

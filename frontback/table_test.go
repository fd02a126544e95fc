package frontback_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/why"
)

var epoch = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

// work makes a book whose benefit is units of work, which the tables state.
func work(t testing.TB, s frontback.Settings) *frontback.Book {
	t.Helper()
	if s.Benefit == nil {
		s.Benefit = benefit(t, "work", frontback.Parameters{})
	}
	b, err := frontback.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func benefit(t testing.TB, name string, p frontback.Parameters) frontback.Benefit {
	t.Helper()
	f, err := frontback.Builtin().New(name, p)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func job(id int64, group string, units float64) frontback.Job {
	return frontback.Job{ID: id, Group: group, Estimate: frontback.Use{Work: units}}
}

func submit(t testing.TB, b *frontback.Book, j frontback.Job, now time.Time) frontback.Decision {
	t.Helper()
	d, err := b.Submit(j, now)
	if err != nil {
		t.Fatal(err)
	}
	verified(t, d)
	return d
}

func end(t testing.TB, b *frontback.Book, id int64, how frontback.Outcome, units float64,
	now time.Time) frontback.Correction {
	t.Helper()
	c, err := b.End(id, how, &frontback.Use{Work: units}, now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// verified recomputes a decision from its JSON.
func verified(t testing.TB, d frontback.Decision) {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var read frontback.Decision
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if checks := frontback.Verify(&read); !why.Verified(checks) {
		t.Errorf("%s\n%+v", text, checks)
	}
}

// three returns the groups of the worked examples.
func three() frontback.Settings {
	return frontback.Settings{
		Groups: []frontback.Group{{Name: "physics", Weight: 50}, {Name: "biology", Weight: 30},
			{Name: "chemistry", Weight: 20}},
		Priority: []string{"daq", "calib"}, // data taking goes before calibration
	}
}

// none marks a priority group, which has no part in the sum.
const none = -1

// table lists 30 submissions that were worked out by hand. Each line states the benefits of the group and of
// all groups before (B[g], all), and the share with the job as a quotient: (B[g] + work) / (all + work). The
// share is compared with 0.5, 0.3 and 0.2.
var table = []struct {
	group     string
	work      float64
	had, all  float64
	over, sum float64 // the share is over / sum
	place     string
	priority  int64
}{
	{"physics", 4, 0, 0, 4, 4, "back", 0},       //  1: 1.000 > 0.5; physics 4
	{"biology", 3, 0, 4, 3, 7, "back", 0},       //  2: 0.429 > 0.3; biology 3
	{"chemistry", 1, 0, 7, 1, 8, "front", 1},    //  3: 0.125; chemistry 1
	{"physics", 2, 4, 8, 6, 10, "back", 0},      //  4: 0.600; physics 6
	{"daq", 5, none, 10, 0, 0, "above", 3},      //  5: no part of all
	{"chemistry", 2, 1, 10, 3, 12, "back", 0},   //  6: 0.250; chemistry 3
	{"biology", 1, 3, 12, 4, 13, "back", 0},     //  7: 0.308; biology 4
	{"physics", 1, 6, 13, 7, 14, "front", 1},    //  8: 0.500, a tie: front; physics 7
	{"physics", 1, 7, 14, 8, 15, "back", 0},     //  9: 0.533; physics 8
	{"calib", 2, none, 15, 0, 0, "above", 2},    // 10
	{"chemistry", 5, 3, 15, 8, 20, "back", 0},   // 11: 0.400; chemistry 8
	{"biology", 2, 4, 20, 6, 22, "front", 1},    // 12: 0.273; biology 6
	{"biology", 1, 6, 22, 7, 23, "back", 0},     // 13: 0.304; biology 7
	{"physics", 3, 8, 23, 11, 26, "front", 1},   // 14: 0.423; physics 11
	{"physics", 4, 11, 26, 15, 30, "front", 1},  // 15: 0.500, a tie; physics 15. Job 11 took 1, not 5: chemistry 4
	{"chemistry", 1, 4, 26, 5, 27, "front", 1},  // 16: 0.185; chemistry 5
	{"chemistry", 1, 5, 27, 6, 28, "back", 0},   // 17: 0.214; chemistry 6. Job 15 fails: physics 11
	{"physics", 2, 11, 24, 13, 26, "front", 1},  // 18: 0.500, a tie; physics 13
	{"daq", 1, none, 26, 0, 0, "above", 3},      // 19
	{"biology", 2, 7, 26, 9, 28, "back", 0},     // 20: 0.321; biology 9
	{"physics", 2, 13, 28, 15, 30, "front", 1},  // 21: 0.500, a tie; physics 15
	{"chemistry", 0, 6, 30, 6, 30, "front", 1},  // 22: 0.200, a tie; takes nothing
	{"biology", 0, 9, 30, 9, 30, "front", 1},    // 23: 0.300, a tie. Job 20 is withdrawn: biology 7
	{"biology", 2, 7, 28, 9, 30, "front", 1},    // 24: 0.300, a tie; biology 9
	{"biology", 1, 9, 30, 10, 31, "back", 0},    // 25: 0.323; biology 10
	{"chemistry", 9, 6, 31, 15, 40, "back", 0},  // 26: 0.375; chemistry 15
	{"physics", 10, 15, 40, 25, 50, "front", 1}, // 27: 0.500, a tie; physics 25
	{"calib", 3, none, 50, 0, 0, "above", 2},    // 28. Job 26 took 19, not 9: chemistry 25
	{"biology", 10, 10, 60, 20, 70, "front", 1}, // 29: 0.286; biology 20
	{"chemistry", 1, 25, 70, 26, 71, "back", 0}, // 30: 0.366; chemistry 26
}

// endings are the ends of jobs after the submission with that number.
var endings = map[int64]struct {
	job        int64
	how        frontback.Outcome
	used       float64
	correction frontback.Correction
}{
	15: {11, frontback.Done, 1, frontback.Correction{Job: 11, Group: "chemistry", Charged: 5, Received: 1}},
	17: {15, frontback.Failed, 3, frontback.Correction{Job: 15, Group: "physics", Charged: 4}},
	23: {20, frontback.Withdrawn, 0, frontback.Correction{Job: 20, Group: "biology", Charged: 2}},
	28: {26, frontback.Done, 19, frontback.Correction{Job: 26, Group: "chemistry", Charged: 9, Received: 19}},
}

// TestTable checks the decisions of the table.
func TestTable(t *testing.T) {
	b := work(t, three())
	for i, row := range table {
		n := int64(i + 1)
		d := submit(t, b, job(n, row.group, row.work), epoch)
		if d.Place != row.place || d.Priority != row.priority {
			t.Errorf("%d: %s, priority %d; by hand %s, priority %d", n, d.Place, d.Priority, row.place, row.priority)
		}
		if row.had != none {
			x := d.Terms
			if float64(x["received"]) != row.had || float64(x["all"]) != row.all || float64(x["benefit"]) != row.work ||
				float64(d.Share) != row.over/row.sum {
				t.Errorf("%d: %s; by hand (%v + %v) / (%v + %v) = %v / %v", n, d.Text(), row.had, row.work, row.all, row.work,
					row.over, row.sum)
			}
		}
		if e, ends := endings[n]; ends {
			if c := end(t, b, e.job, e.how, e.used, epoch); c != e.correction {
				t.Errorf("the end of job %d: %+v, by hand %+v", e.job, c, e.correction)
			}
		}
	}
	for i, want := range []float64{25, 20, 26, 5, 6} { // physics, biology, chemistry, calib, daq
		if s := b.Standings(epoch)[i]; s.Benefit != want || !s.Priority && s.Share != want/71 {
			t.Errorf("at the end %+v, by hand %v of 71", s, want)
		}
	}
}

// TestText checks the sentences about decisions.
func TestText(t *testing.T) {
	b := work(t, three())
	submit(t, b, job(1, "physics", 70), epoch)
	for i, want := range []string{
		"job 2 of biology goes to the front (priority 1): with it biology has (0 + 30) / (70 + 30) = 0.3, not above its 0.3.",
		"job 3 of biology goes to the back (priority 0): with it biology has (30 + 0.5) / (100 + 0.5) = 0.303, above its 0.3.",
		"job 4 of daq goes before all fair-share groups: daq is a priority group (priority 3).",
	} {
		d := submit(t, b, job(int64(i+2), []string{"biology", "biology", "daq"}[i], []float64{30, 0.5, 1}[i]), epoch)
		if got := d.Text(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

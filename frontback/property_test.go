package frontback_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/frontback"
)

// ledger is the slow and obvious version of a book: it keeps everything that ever happened.
type ledger struct {
	settings frontback.Settings
	open     map[int64]frontback.Held
	ended    []receipt
}

type receipt struct {
	group  string
	at     time.Time
	amount float64
}

func (l *ledger) benefit(group string, now time.Time) float64 {
	total := 0.0
	receipts := slices.Clone(l.ended)
	for _, h := range l.open {
		switch {
		case h.Group != group:
		case h.Stage == "running":
			total += h.Charge
		case h.Stage == "charged":
			receipts = append(receipts, receipt{group, h.Since, h.Charge})
		}
	}
	for _, r := range receipts {
		age := now.Sub(r.at)
		switch {
		case r.group != group, l.settings.Window > 0 && age >= l.settings.Window:
		case l.settings.HalfLife > 0:
			total += r.amount * math.Pow(0.5, age.Hours()/l.settings.HalfLife.Hours())
		default:
			total += r.amount
		}
	}
	return total
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(a)) }

// drawn draws settings.
func drawn(t *rapid.T) frontback.Settings {
	s := three()
	s.Benefit = func(u frontback.Use, _ string) float64 { return u.Work }
	for i := range s.Groups {
		s.Groups[i].Weight = float64(rapid.IntRange(i/2, 10).Draw(t, "weight") + 1 - min(i, 1))
	}
	switch rapid.IntRange(0, 2).Draw(t, "memory") {
	case 0:
		s.Window = 10 * time.Hour
	case 1:
		s.HalfLife = 3 * time.Hour
	}
	s.AtStart = rapid.Bool().Draw(t, "at start")
	s.KeepFailed = rapid.Bool().Draw(t, "keep failed")
	return s
}

var groups = []string{"physics", "biology", "chemistry", "daq", "calib"}

// TestBookIsTheLedger runs random lives of jobs through a book and the ledger. Both must have the same
// benefits, never below 0, and decisions must follow from these. Fractions sum to 1, and so do shares unless
// all benefits are 0. A restored book must equal the first one.
func TestBookIsTheLedger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawn(t)
		b, err := frontback.New(s)
		if err != nil {
			t.Fatal(err)
		}
		l := &ledger{settings: s, open: map[int64]frontback.Held{}}
		now := epoch
		for n := range int64(rapid.IntRange(1, 50).Draw(t, "events")) {
			now = now.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "minutes")) * time.Minute)
			if len(l.open) == 0 || rapid.Bool().Draw(t, "submit") {
				l.submit(t, b, n, now)
			} else {
				l.move(t, b, now)
			}
			check(t, b, l, now)
			if rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
				b = restored(t, s, b)
				check(t, b, l, now)
			}
		}
	})
}

func (l *ledger) submit(t *rapid.T, b *frontback.Book, id int64, now time.Time) {
	j := job(id, rapid.SampledFrom(groups).Draw(t, "group"), float64(rapid.IntRange(0, 100).Draw(t, "work"))/10)
	received, all := l.benefit(j.Group, now), 0.0
	for _, g := range l.settings.Groups {
		all += l.benefit(g.Name, now)
	}
	d, err := b.Submit(j, now)
	if err != nil {
		t.Fatal(err)
	}
	if d.Place != frontback.Above {
		if !near(float64(d.Terms["received"]), received) || !near(float64(d.Terms["all"]), all) {
			t.Fatalf("%s; the ledger has %v of %v", d.Text(), received, all)
		}
		if front := d.Share <= d.Fraction; front != (d.Place == frontback.Front) {
			t.Fatal(d.Text())
		}
	}
	h := frontback.Held{Job: id, Group: j.Group, Charge: j.Estimate.Work, Stage: "charged", Since: now}
	if l.settings.AtStart && d.Place == frontback.Back {
		h.Stage = "free"
	}
	l.open[id] = h
}

// move starts or ends a job.
func (l *ledger) move(t *rapid.T, b *frontback.Book, now time.Time) {
	var ids []int64
	for id := range l.open {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	h := l.open[rapid.SampledFrom(ids).Draw(t, "job")]
	if rapid.Bool().Draw(t, "start") {
		if err := b.Start(h.Job, now); err != nil {
			t.Fatal(err)
		}
		h.Stage = "running"
		l.open[h.Job] = h
		return
	}
	how := rapid.SampledFrom([]frontback.Outcome{frontback.Done, frontback.Failed, frontback.Withdrawn}).Draw(t, "how")
	used := float64(rapid.IntRange(0, 150).Draw(t, "used")) / 10
	if _, err := b.End(h.Job, how, &frontback.Use{Work: used}, now); err != nil {
		t.Fatal(err)
	}
	delete(l.open, h.Job)
	if how == frontback.Done || how == frontback.Failed && l.settings.KeepFailed {
		l.ended = append(l.ended, receipt{h.Group, now, used})
	}
}

func check(t *rapid.T, b *frontback.Book, l *ledger, now time.Time) {
	var fractions, shares, all float64
	for _, s := range b.Standings(now) {
		if want := l.benefit(s.Group, now); !near(s.Benefit, want) || s.Benefit < 0 {
			t.Fatalf("%+v, the ledger has %v", s, want)
		}
		if !s.Priority {
			fractions += s.Fraction
			shares += s.Share
			all += s.Benefit
		}
	}
	if !near(fractions, 1) || all > 0 && !near(shares, 1) || all == 0 && shares != 0 {
		t.Fatalf("fractions %v, shares %v of %v", fractions, shares, all)
	}
}

func restored(t *rapid.T, s frontback.Settings, b *frontback.Book) *frontback.Book {
	text, err := json.Marshal(b.State())
	if err != nil {
		t.Fatal(err)
	}
	var state frontback.State
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	again, err := frontback.Restore(s, state)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// TestRefundRestores checks that a job that is submitted and then fails leaves no trace, not even a bit.
func TestRefundRestores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawn(t)
		s.KeepFailed = false
		with, err := frontback.New(s)
		if err != nil {
			t.Fatal(err)
		}
		without, _ := frontback.New(s)
		// Sums of sixteenths are exact, so an amount that is taken back leaves nothing behind.
		amount := rapid.Map(rapid.IntRange(0, 16e6), func(n int) float64 { return float64(n) / 16 })
		id := int64(0)
		for range rapid.IntRange(0, 8).Draw(t, "others") {
			j := job(id, rapid.SampledFrom(groups).Draw(t, "group"), amount.Draw(t, "work"))
			for _, b := range []*frontback.Book{with, without} {
				if _, err := b.Submit(j, epoch); err != nil {
					t.Fatal(err)
				}
				if id%2 == 0 {
					if _, err := b.End(id, frontback.Done, nil, epoch.Add(time.Minute)); err != nil {
						t.Fatal(err)
					}
				}
			}
			id++
		}
		at := epoch.Add(time.Hour)
		if _, err := with.Submit(job(id, "physics", amount.Draw(t, "work")), at); err != nil {
			t.Fatal(err)
		}
		later := at.Add(time.Duration(rapid.IntRange(0, 1e6).Draw(t, "seconds")) * time.Second)
		how := rapid.SampledFrom([]frontback.Outcome{frontback.Failed, frontback.Withdrawn}).Draw(t, "how")
		if _, err := with.End(id, how, &frontback.Use{Work: 7}, later); err != nil {
			t.Fatal(err)
		}
		without.Standings(at)
		a, b := with.Standings(later), without.Standings(later)
		for i := range a {
			if !near(a[i].Benefit, b[i].Benefit) || s.HalfLife == 0 && a[i] != b[i] {
				t.Fatalf("%+v, without the job %+v", a[i], b[i])
			}
		}
	})
}

// TestOrderDoesNotMatter checks that the same jobs in another order give the same benefits.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawn(t)
		s.AtStart = false
		var jobs []frontback.Job
		for i := range rapid.IntRange(1, 30).Draw(t, "jobs") {
			jobs = append(jobs, job(int64(i), rapid.SampledFrom(groups).Draw(t, "group"),
				float64(rapid.IntRange(0, 1e7).Draw(t, "work"))/10))
		}
		var first []frontback.Standing
		for round, order := range [][]frontback.Job{jobs, rapid.Permutation(jobs).Draw(t, "order")} {
			b, err := frontback.New(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range order {
				if _, err := b.Submit(j, epoch); err != nil {
					t.Fatal(err)
				}
			}
			for _, j := range order {
				if j.ID%3 > 0 {
					if _, err := b.End(j.ID, frontback.Outcome(j.ID%3-1), nil, epoch); err != nil {
						t.Fatal(err)
					}
				}
			}
			got := b.Standings(epoch)
			if round == 0 {
				first = got
			} else if !slices.Equal(got, first) {
				t.Fatalf("%+v, in the first order %+v", got, first)
			}
		}
	})
}

// TestLimitsAgree checks that a window and a half-life that are longer than the history forget nothing, and
// that very short ones forget all jobs that have ended.
func TestLimitsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const long = 200 * 365 * 24 * time.Hour
		settings := []frontback.Settings{{}, {Window: long}, {HalfLife: long}, {Window: time.Nanosecond},
			{HalfLife: time.Nanosecond}}
		var books []*frontback.Book
		for _, s := range settings {
			s.Groups, s.Benefit = two().Groups, func(u frontback.Use, _ string) float64 { return u.Work }
			b, err := frontback.New(s)
			if err != nil {
				t.Fatal(err)
			}
			books = append(books, b)
		}
		now := epoch
		for n := range int64(rapid.IntRange(1, 20).Draw(t, "jobs")) {
			now = now.Add(time.Duration(rapid.IntRange(1, 60).Draw(t, "seconds")) * time.Second)
			j, ends := job(n, groups[0], float64(rapid.IntRange(0, 100).Draw(t, "work"))), rapid.Bool().Draw(t, "ends")
			j.Group = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "group")
			for _, b := range books {
				if _, err := b.Submit(j, now); err != nil {
					t.Fatal(err)
				}
				if ends {
					if _, err := b.End(n, frontback.Done, nil, now); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		now = now.Add(time.Second)
		all, window, half := books[0].Standings(now), books[1].Standings(now), books[2].Standings(now)
		short, gone := books[3].Standings(now), books[4].Standings(now)
		for i := range all {
			if all[i] != window[i] || math.Abs(all[i].Benefit-half[i].Benefit) > 1e-6*all[i].Benefit {
				t.Fatalf("%+v, %+v, %+v", all[i], window[i], half[i])
			}
			if short[i] != gone[i] {
				t.Fatalf("%+v, %+v", short[i], gone[i])
			}
		}
	})
}

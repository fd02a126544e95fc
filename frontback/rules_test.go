package frontback_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/why"
)

func two() frontback.Settings {
	return frontback.Settings{Groups: []frontback.Group{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}}
}

// TestD1DecidedAtOnce checks that a job gets its priority when it is submitted, whatever is in the QS, and
// that no job is held.
func TestD1DecidedAtOnce(t *testing.T) {
	b := work(t, three())
	for n := range int64(1000) {
		d := submit(t, b, job(n, []string{"physics", "biology", "chemistry", "daq", "calib"}[n%5], 1), epoch)
		if d.Place == "" || d.Job != n {
			t.Fatalf("job %d: %+v", n, d)
		}
	}
	before := b.Standings(epoch)
	if _, err := b.Decide(job(1, "physics", 1), epoch); err != nil { // Decide only answers
		t.Fatal(err)
	}
	for i, s := range b.Standings(epoch) {
		if s != before[i] {
			t.Errorf("%+v, before %+v", s, before[i])
		}
	}
	if _, err := b.Submit(job(7, "physics", 1), epoch); !errors.Is(err, frontback.ErrKnownJob) {
		t.Error(err)
	}
	if _, err := b.Submit(job(2000, "law", 1), epoch); err == nil ||
		!strings.Contains(err.Error(), "known: daq, calib, physics, biology, chemistry") {
		t.Error(err)
	}
}

// TestD2FrontWithinTheFraction checks that a job goes to the front if its group has at most its fraction, the
// job included. A tie goes to the front.
func TestD2FrontWithinTheFraction(t *testing.T) {
	for _, c := range []struct {
		a, b, job float64 // benefits of the groups, and of a job of a
		place     string
	}{
		{0, 0, 1, "back"},  // a would have all the benefits
		{0, 0, 0, "front"}, // 0 of 0
		{0, 5, 5, "front"}, // 5 of 10
		{0, 5, 5.001, "back"},
		{4, 5, 1, "front"},
		{5, 5, 1, "back"},
		{5, 5, 0, "front"},
		{6, 5, 0, "back"},
		{0.1, 0.3, 0.2, "front"},
		{0.25, 0.5, 0.25, "front"},
	} {
		b := work(t, two())
		submit(t, b, job(1, "a", c.a), epoch)
		submit(t, b, job(2, "b", c.b), epoch)
		if d := submit(t, b, job(3, "a", c.job), epoch); d.Place != c.place {
			t.Errorf("%+v: %s", c, d.Text())
		}
	}
	s := two()
	s.Groups[1].Weight = 0
	b := work(t, s)
	if d := submit(t, b, job(1, "a", 3), epoch); d.Place != "front" { // a has the fraction 1
		t.Error(d.Text())
	}
	if d := submit(t, b, job(2, "b", 1e-9), epoch); d.Place != "back" {
		t.Error(d.Text())
	}
}

// TestD3PriorityGroups checks that priority groups stand above the front in their order, and do not change
// the shares.
func TestD3PriorityGroups(t *testing.T) {
	s := three()
	for _, levels := range [][]int64{nil, {100, 200, 300, 400}, {4000, 3000, 2000, 1000}} {
		s.Levels = levels
		b := work(t, s)
		submit(t, b, job(1, "daq", 1e6), epoch)
		var got []int64
		for i, j := range []frontback.Job{job(2, "physics", 1), job(3, "biology", 0), job(4, "calib", 1), job(5, "daq", 1)} {
			d := submit(t, b, j, epoch)
			if want := []string{"back", "front", "above", "above"}[i]; d.Place != want {
				t.Errorf("%s; want %s", d.Text(), want)
			}
			got = append(got, d.Priority)
		}
		if levels == nil {
			levels = []int64{0, 1, 2, 3}
		}
		for i := range got {
			if got[i] != levels[i] {
				t.Errorf("priorities %v, want %v", got, levels)
			}
		}
	}
	for _, levels := range [][]int64{{1, 2, 3}, {1, 2, 2, 3}, {1, 3, 2, 4}, {4, 3, 5, 6}} {
		s.Levels = levels
		s.Benefit = benefit(t, "fixed", frontback.Parameters{})
		if _, err := frontback.New(s); err == nil {
			t.Errorf("levels %v are taken", levels)
		}
	}
}

// TestD4BenefitFunctions checks each function on the same use, their parameters, and a registered function.
func TestD4BenefitFunctions(t *testing.T) {
	use := frontback.Use{Seconds: 100, CPUSeconds: 350, Processes: 4, Work: 7,
		Resources: map[string]float64{"cpu": 4, "memory": 8}}
	functions := frontback.Builtin()
	err := functions.Register("tape", func(p frontback.Parameters) (frontback.Benefit, error) {
		return func(u frontback.Use, group string) float64 { return u.Resources["cpu"] + float64(len(group)) }, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		p    frontback.Parameters
		want float64
	}{
		{"cpu_time", frontback.Parameters{}, 350},
		{"cpu_time", frontback.Parameters{Amount: 2}, 700},
		{"resources", frontback.Parameters{Weights: map[string]float64{"cpu": 1, "memory": 0.25}}, 600}, // (4 + 2) x 100
		{"processes", frontback.Parameters{Amount: 3}, 12},
		{"work", frontback.Parameters{}, 7},
		{"work", frontback.Parameters{Groups: map[string]float64{"bio": 0.5}}, 3.5},
		{"work", frontback.Parameters{Groups: map[string]float64{"law": 0.5}}, 7},
		{"fixed", frontback.Parameters{Amount: 5}, 5},
		{"tape", frontback.Parameters{Groups: map[string]float64{"bio": 2}}, 14}, // (4 + 3) x 2
	} {
		f, err := functions.New(c.name, c.p)
		if err != nil {
			t.Fatal(err)
		}
		if got := f(use, "bio"); got != c.want {
			t.Errorf("%s %+v: %v, want %v", c.name, c.p, got, c.want)
		}
	}
	if frontback.Builtin()["tape"] != nil {
		t.Error("what is registered in one map is in all")
	}
	if err := functions.Register("work", functions["tape"]); err == nil {
		t.Error("a name is taken twice")
	}
	for name, p := range map[string]frontback.Parameters{"disk": {}, "resources": {}, "work": {Amount: -1},
		"fixed": {Groups: map[string]float64{"a": -1}}} {
		if _, err := functions.New(name, p); err == nil {
			t.Errorf("%s %+v is taken", name, p)
		}
	}
	b := work(t, frontback.Settings{Groups: two().Groups, Benefit: func(frontback.Use, string) float64 { return -1 }})
	if _, err := b.Submit(job(1, "a", 1), epoch); err == nil {
		t.Error("a benefit below 0 is taken")
	}
}

// TestD5D6Queues checks the preconditions of the algorithm against several queueing systems, with the
// priorities of these systems.
func TestD5D6Queues(t *testing.T) {
	s := three()
	slurm := frontback.Queue{Name: "slurm", Ages: frontback.No, Obeys: frontback.Yes, Lowest: 1, Highest: 1<<32 - 2}
	beanstalkd := frontback.Queue{Name: "beanstalkd", Ages: frontback.No, Obeys: frontback.Yes, Lowest: 0,
		Highest: 1<<32 - 1, SmallFirst: true}
	rabbit := frontback.Queue{Name: "rabbitmq", Ages: frontback.No, Obeys: frontback.Yes, Lowest: 0, Highest: 3}
	aged, mute, plain := slurm, slurm, slurm
	aged.Ages, mute.Ages, mute.Obeys, plain.Obeys = frontback.Yes, frontback.Unknown, frontback.Unknown, frontback.No
	for _, c := range []struct {
		queue  frontback.Queue
		levels []int64
		broken []bool
		says   string
	}{
		{slurm, []int64{1000, 2000, 3000, 4000}, nil, ""},
		{slurm, nil, []bool{true}, "takes priorities from 1 to"},
		{beanstalkd, []int64{4000, 3000, 2000, 1000}, nil, ""},
		{beanstalkd, nil, []bool{true}, "turn them round"},
		{rabbit, nil, nil, ""},
		{rabbit, []int64{1, 2, 3, 4}, []bool{true}, "rabbitmq takes priorities from 0 to 3, the levels need 1 to 4"},
		{aged, []int64{1, 2, 3, 4}, []bool{true}, "turn its ageing off"},
		{plain, []int64{1, 2, 3, 4}, []bool{true}, "an account that may set them"},
		{mute, []int64{1, 2, 3, 4}, []bool{false, false}, "does not tell"},
	} {
		s.Levels = c.levels
		doubts := s.Doubts(c.queue)
		if len(doubts) != len(c.broken) {
			t.Errorf("%s %v: %+v", c.queue.Name, c.levels, doubts)
			continue
		}
		for i, d := range doubts {
			if d.Broken != c.broken[i] || !strings.Contains(d.Text, c.says) {
				t.Errorf("%s %v: %+v, want %q", c.queue.Name, c.levels, d, c.says)
			}
		}
	}
}

// TestWindow checks that the book forgets charges and ended jobs after an hour, but no running jobs.
func TestWindow(t *testing.T) {
	s := two()
	s.Window = time.Hour
	b := work(t, s)
	submit(t, b, job(1, "a", 8), epoch)
	submit(t, b, job(2, "b", 2), epoch)
	has := func(after time.Duration, a, other float64) {
		t.Helper()
		if got := b.Standings(epoch.Add(after)); got[0].Benefit != a || got[1].Benefit != other {
			t.Errorf("after %v: %+v", after, got)
		}
	}
	has(time.Hour-1, 8, 2)
	has(time.Hour, 0, 0) // both jobs wait
	if err := b.Start(2, epoch.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	has(2*time.Hour, 0, 2)
	has(5*time.Hour, 0, 2)                                       // job 2 runs all the time
	end(t, b, 1, frontback.Done, 9, epoch.Add(5*time.Hour))      // its start was not reported
	end(t, b, 2, frontback.Withdrawn, 0, epoch.Add(5*time.Hour)) // it cannot have run
	has(5*time.Hour, 9, 0)
	has(6*time.Hour-1, 9, 0)
	has(6*time.Hour, 0, 0)
}

// TestHalfLife checks that a charge halves at each half-life while its job waits, and the benefit of an ended
// job from its end on.
func TestHalfLife(t *testing.T) {
	s := two()
	s.HalfLife = time.Hour
	b := work(t, s)
	submit(t, b, job(1, "a", 6), epoch)
	submit(t, b, job(2, "b", 1), epoch)
	if err := b.Start(2, epoch); err != nil { // it counts in full
		t.Fatal(err)
	}
	at := epoch.Add(time.Hour)
	if got := b.Standings(at)[0].Benefit; got != 3 { // charge of 6, halved once
		t.Errorf("a has %v, want 3", got)
	}
	end(t, b, 1, frontback.Done, 8, at)
	// After an hour a has 4 of 5, after three 1 of 2: a job that takes nothing ties.
	for _, c := range []struct {
		hours int
		a     float64
		place string
	}{{0, 8, "back"}, {1, 4, "back"}, {3, 1, "front"}, {2, 1, "front"}} { // the last instant goes back: nothing changes
		now := at.Add(time.Duration(c.hours) * time.Hour)
		d, err := b.Decide(job(9, "a", 0), now)
		if err != nil || float64(d.Terms["received"]) != c.a || d.Place != c.place {
			t.Errorf("after %d hours: %s %v", c.hours, d.Text(), err)
		}
	}
}

// TestFailures checks that a failure gives back the whole charge, or with KeepFailed the unused part.
func TestFailures(t *testing.T) {
	for keep, want := range map[bool]float64{false: 0, true: 3} {
		s := two()
		s.KeepFailed = keep
		b := work(t, s)
		submit(t, b, job(1, "a", 5), epoch)
		submit(t, b, job(2, "a", 5), epoch)
		end(t, b, 1, frontback.Failed, 3, epoch)
		if got := b.Standings(epoch)[0].Benefit; got != 5+want {
			t.Errorf("keep %v: %v", keep, got)
		}
		end(t, b, 2, frontback.Withdrawn, 3, epoch) // it never started
		if got := b.Standings(epoch)[0].Benefit; got != want {
			t.Errorf("keep %v: %v", keep, got)
		}
	}
	b := work(t, two())
	submit(t, b, job(1, "a", 5), epoch)
	if c, err := b.End(1, frontback.Done, nil, epoch); err != nil || c.Received != 5 { // use unknown
		t.Error(c, err)
	}
	if _, err := b.End(1, frontback.Done, nil, epoch); !errors.Is(err, frontback.ErrUnknownJob) {
		t.Error(err)
	}
}

// TestAtStart checks that jobs at the back count from their starts.
func TestAtStart(t *testing.T) {
	s := two()
	s.AtStart = true
	b := work(t, s)
	has := func(want float64) {
		t.Helper()
		if got := b.Standings(epoch)[0].Benefit; got != want {
			t.Errorf("a has %v, want %v", got, want)
		}
	}
	submit(t, b, job(1, "b", 5), epoch) // back: 5 of 5
	submit(t, b, job(2, "a", 5), epoch) // back: 5 of 5, as b has received nothing
	has(0)
	for range 2 {
		if err := b.Start(1, epoch); err != nil {
			t.Fatal(err)
		}
	}
	submit(t, b, job(3, "a", 5), epoch) // front: 5 of 10
	has(5)
	if err := b.Start(2, epoch); err != nil {
		t.Fatal(err)
	}
	has(10)
	submit(t, b, job(4, "a", 1), epoch) // back
	if c := end(t, b, 4, frontback.Done, 2, epoch); c.Charged != 0 || c.Received != 2 {
		t.Errorf("a job that was never seen to start: %+v", c)
	}
	has(12)
	if err := b.Start(4, epoch); !errors.Is(err, frontback.ErrUnknownJob) {
		t.Error(err)
	}
}

// TestVerifyFindsLies checks that Verify notices a change of any number in a decision.
func TestVerifyFindsLies(t *testing.T) {
	b := work(t, three())
	submit(t, b, job(1, "physics", 7), epoch)
	for name, lie := range map[string]func(d *frontback.Decision){
		"received": func(d *frontback.Decision) { d.Terms["received"]++ },
		"all":      func(d *frontback.Decision) { d.Terms["all"]++ },
		"benefit":  func(d *frontback.Decision) { d.Terms["benefit"]++ },
		"share":    func(d *frontback.Decision) { d.Share /= 2 },
		"place":    func(d *frontback.Decision) { d.Place = "back" },
		"priority": func(d *frontback.Decision) { d.Priority++ },
		"fraction": func(d *frontback.Decision) { d.Fraction = 0.1 },
		"formula":  func(d *frontback.Decision) { d.Formula = "received / benefit" },
		"levels":   func(d *frontback.Decision) { d.Levels = d.Levels[1:] },
	} {
		d, err := b.Decide(job(2, "biology", 3), epoch) // 3 of 10
		if err != nil {
			t.Fatal(err)
		}
		verified(t, d)
		lie(&d)
		if why.Verified(frontback.Verify(&d)) {
			t.Errorf("a lie about %s passes", name)
		}
	}
}

// TestSettings checks that errors name the mistake in the settings.
func TestSettings(t *testing.T) {
	fixed := benefit(t, "fixed", frontback.Parameters{})
	good := frontback.Settings{Groups: two().Groups, Benefit: fixed}
	for want, change := range map[string]func(*frontback.Settings){
		"no benefit function":      func(s *frontback.Settings) { s.Benefit = nil },
		"choose one":               func(s *frontback.Settings) { s.Window, s.HalfLife = 1, 1 },
		"below 0":                  func(s *frontback.Settings) { s.Window = -1 },
		"no groups":                func(s *frontback.Settings) { s.Groups = nil },
		`group "a"`:                func(s *frontback.Settings) { s.Priority = []string{"a"} },
		`group ""`:                 func(s *frontback.Settings) { s.Priority = []string{""} },
		"the weight -1":            func(s *frontback.Settings) { s.Groups = []frontback.Group{{Name: "a", Weight: -1}} },
		"all fair-share groups":    func(s *frontback.Settings) { s.Groups = []frontback.Group{{Name: "a"}} },
		"neither rise all the way": func(s *frontback.Settings) { s.Levels = []int64{1, 1} },
	} {
		s := good
		change(&s)
		if _, err := frontback.New(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := frontback.New(frontback.Settings{Priority: []string{"daq"}, Benefit: fixed}); err != nil {
		t.Errorf("priority groups alone: %v", err)
	}
}

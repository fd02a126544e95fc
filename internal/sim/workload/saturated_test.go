package workload

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func saturated() Saturated {
	return Saturated{
		Procs: 120, Users: 60, Weights: []float64{1, 2, 4}, Sizes: []int{1}, Lengths: Exponential,
		Mean: 60, Span: 3600, Backlog: 2, Seed: 1,
	}
}

// TestEveryUserHasWork checks that each user has Backlog times the work to which its weight entitles it.
func TestEveryUserHasWork(t *testing.T) {
	s := saturated()
	s.Sizes = []int{1, 3}
	jobs, err := s.Make()
	if err != nil {
		t.Fatal(err)
	}
	var work [61]float64
	for _, j := range jobs {
		if j.Submit != 0 || j.Run < 1 || j.Estimate != j.Run {
			t.Fatalf("%+v", j)
		}
		work[j.User] += float64(j.Run) * float64(j.Procs)
	}
	for u := 1; u <= 60; u++ {
		want := 2 * s.Weight(u) / 140 * 120 * 3600 // the weights add up to 20 x 7
		if work[u] < want || work[u] > want+60*3*12 {
			t.Errorf("user %d has %.0f processor-seconds, want %.0f and at most a job more", u, work[u], want)
		}
	}
}

func TestLengths(t *testing.T) {
	s := saturated()
	jobs, _ := s.Make()
	seconds := mean(jobs, func(j Job) (float64, bool) { return float64(j.Run), true })
	variance := mean(jobs, func(j Job) (float64, bool) { return math.Pow(float64(j.Run)-seconds, 2), true })
	near(t, "mean of exponential lengths", seconds, 60, 1.5)
	near(t, "their spread over their mean", math.Sqrt(variance)/seconds, 1, 0.03)

	s.Lengths = Constant
	jobs, _ = s.Make()
	for _, j := range jobs {
		if j.Run != 60 {
			t.Fatalf("a job of %d s among constant ones", j.Run)
		}
	}
	s.Lengths = OneToTen
	jobs, _ = s.Make()
	for _, j := range jobs {
		if want := int64(60 + 540*((j.User+1)%2)); j.Run != want {
			t.Fatalf("user %d has a job of %d s, want %d", j.User, j.Run, want)
		}
	}
}

// TestUsersAreMixed checks that a part of the jobs has work of the users in the ratio of their weights.
func TestUsersAreMixed(t *testing.T) {
	jobs, _ := saturated().Make()
	if !slices.ContainsFunc(jobs[:60], func(j Job) bool { return j.User == 60 }) {
		t.Error("the last user has none of the first jobs")
	}
	first := jobs[:len(jobs)/4]
	heavy := mean(first, func(j Job) (float64, bool) {
		if j.User%3 == 0 {
			return 1, true
		}
		return 0, true
	})
	near(t, "part of the users of weight 4", heavy, 4.0/7, 0.03)
}

func TestSaturatedOptionsAreChecked(t *testing.T) {
	for what, change := range map[string]func(*Saturated){
		"processor":   func(s *Saturated) { s.Procs = 0 },
		"user":        func(s *Saturated) { s.Users = 0 },
		"weights":     func(s *Saturated) { s.Weights = []float64{0} },
		"sizes":       func(s *Saturated) { s.Sizes = []int{121} },
		"lengths":     func(s *Saturated) { s.Lengths = "odd" },
		"mean":        func(s *Saturated) { s.Mean = 0 },
		"time":        func(s *Saturated) { s.Span = 0 },
		"backlog":     func(s *Saturated) { s.Backlog = 0.5 },
		"shorter tim": func(s *Saturated) { s.Span = 1e15 },
	} {
		s := saturated()
		change(&s)
		if _, err := s.Make(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// TestTickEndsTheMaking checks that Tick reports the progress and that its error stops the generation.
func TestTickEndsTheMaking(t *testing.T) {
	enough := errors.New("enough")
	for what, make := range map[string]func(Tick) ([]Job, error){
		"saturated": func(tick Tick) ([]Job, error) {
			s := saturated()
			s.Tick = tick
			return s.Make()
		},
		"lublin": func(tick Tick) ([]Job, error) {
			return Lublin{Procs: 8, Jobs: 50_000, Types: Both, Users: 1, Tick: tick}.Make()
		},
	} {
		seen := 0
		_, err := make(func(jobs int) error {
			seen = jobs
			return enough
		})
		if !errors.Is(err, enough) || seen != 10_000 {
			t.Errorf("%s: after %d jobs: %v", what, seen, err)
		}
	}
}

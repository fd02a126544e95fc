package share

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"
)

// Pool is one node of the configured tree of shares.
type Pool struct {
	Name    string
	Weight  float64 // the share is the weight over the siblings' sum; 0: none, if the policy supports that
	Policy  string  // divides the pool among its children; "" inherits from the pool above
	Options Options // of Policy

	// Factor and AssocFactor, from 0 to 1, enter the priority of jobs in and below the pool under the policy
	// multifactor; nil inherits from the pool above.
	Factor, AssocFactor *float64

	Min        map[string]int64 // guaranteed while it has work, per resource
	Max        map[string]int64 // never exceeded, per resource
	Reclaim    Reclaim          // when tasks of other pools are stopped for it
	MaxRunning int              // tasks at the same time; 0 is no limit
	JobRunning int              // tasks of one job at the same time; 0 is no limit

	Time    time.Duration // time limit of jobs that set none; 0 inherits, [Never] is none
	MaxTime time.Duration // largest time limit of a job; 0 inherits

	Starter Starter // for pools below it that are created on demand

	Pools []Pool
}

// All yields the pools below p with their paths, parents first.
func (p *Pool) All() iter.Seq2[string, *Pool] {
	return func(yield func(string, *Pool) bool) { p.walk("", yield) }
}

func (p *Pool) walk(path string, yield func(string, *Pool) bool) bool {
	for i := range p.Pools {
		c := &p.Pools[i]
		at := Join(path, c.Name)
		if !yield(at, c) || !c.walk(at, yield) {
			return false
		}
	}
	return true
}

// Using returns the path of the first pool, p or one below it, that names one of the policies.
func (p *Pool) Using(policies ...string) (path string, uses bool) {
	if slices.Contains(policies, p.Policy) {
		return "", true
	}
	for at, c := range p.All() {
		if slices.Contains(policies, c.Policy) {
			return at, true
		}
	}
	return "", false
}

// Find returns the configured pool at path, or nil.
func (p *Pool) Find(path string) *Pool {
	if path == "" {
		return p
	}
	head, rest, _ := strings.Cut(path, "/")
	for i := range p.Pools {
		if p.Pools[i].Name == head {
			return p.Pools[i].Find(rest)
		}
	}
	return nil
}

// Check returns an error if the numbers of one pool, without its children, are invalid.
func (p *Pool) Check() error {
	if err := CheckWeightOrNone(p.Weight); err != nil {
		return err
	}
	for r, least := range p.Min {
		if most, ok := p.Max[r]; ok && least > most {
			return fmt.Errorf("min %s %d is above max %s %d", r, least, r, most)
		}
	}
	return nil
}

// CheckWeightOrNone is CheckWeight, but also accepts 0, which entitles a pool to nothing. Not every policy
// supports such weights.
func CheckWeightOrNone(w float64) error {
	switch {
	case w == 0:
		return nil
	case w < 0 && !math.IsInf(w, 0):
		return fmt.Errorf("weight must be >= 0, got %v", w)
	}
	return CheckWeight(w)
}

// MaxWeight is the largest weight, so that sums and quotients of weights stay exact enough to compare.
const MaxWeight = 1e9

// CheckWeight returns an error if w cannot be a weight.
func CheckWeight(w float64) error {
	switch {
	case math.IsNaN(w) || math.IsInf(w, 0):
		return fmt.Errorf("weight must be a number, got %v", w)
	case w <= 0:
		return fmt.Errorf("weight must be > 0, got %v", w)
	case w > MaxWeight || w < 1/MaxWeight:
		return fmt.Errorf("weight must be between 1e-9 and 1e9, got %v", w)
	}
	return nil
}

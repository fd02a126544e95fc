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
	Weight  float64 // the share is the weight over the siblings' weights; 0 is none, where the policy knows that
	Policy  string  // how it divides among its children; "" is the pool's above
	Options Options // of Policy

	// Factor and AssocFactor count for the jobs in and below the pool under the policy
	// multifactor, from 0 to 1; nil is that of the pool above.
	Factor, AssocFactor *float64

	Min        map[string]int64 // guaranteed while it has work, per resource
	Max        map[string]int64 // never exceeded, per resource
	Reclaim    Reclaim          // when others' tasks are stopped for it
	MaxRunning int              // tasks at once; 0 is no limit
	JobRunning int              // tasks of one job at once; 0 is no limit

	Time    time.Duration // limit of jobs that name none; 0 is that of the pool above, [Never] none
	MaxTime time.Duration // largest limit of a job; 0 is that of the pool above

	Starter Starter // for pools below it that are made on demand

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

// Using returns the path of the first pool, p or one below it, that names one of some policies.
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

// CheckWeightOrNone takes 0 besides: entitled to nothing. Not every policy can divide by
// such weights.
func CheckWeightOrNone(w float64) error {
	switch {
	case w == 0:
		return nil
	case w < 0 && !math.IsInf(w, 0):
		return fmt.Errorf("weight must be >= 0, got %v", w)
	}
	return CheckWeight(w)
}

// MaxWeight bounds a weight, so that sums and quotients of weights stay exact
// enough to compare.
const MaxWeight = 1e9

// CheckWeight says why w cannot be a weight.
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

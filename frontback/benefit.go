package frontback

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Use holds the resources that a job uses: estimated when it is submitted, measured when it has ended.
type Use struct {
	Seconds    float64            `json:"seconds,omitempty"`     // run time
	CPUSeconds float64            `json:"cpu_seconds,omitempty"` // CPU time of all its processes
	Processes  float64            `json:"processes,omitempty"`
	Work       float64            `json:"work,omitempty"`      // in units that the administrator chooses
	Resources  map[string]float64 `json:"resources,omitempty"` // held while it runs
}

// Benefit is B(j, g) of the source: the benefit that a group receives when its job runs. It must not be below
// 0.
type Benefit func(u Use, group string) float64

// Parameters are the parameters of a benefit function that an administrator sets.
type Parameters struct {
	// Amount is the benefit of one unit: a second, a process, a unit of work, a job. 0 means 1.
	Amount float64 `json:"amount,omitempty"`
	// Weights are the benefits of one unit of each resource, held for a second.
	Weights map[string]float64 `json:"weights,omitempty"`
	// Groups are factors of the benefit of jobs of a group; the default is 1.
	Groups map[string]float64 `json:"groups,omitempty"`
}

// Maker makes a benefit function from its parameters.
type Maker func(p Parameters) (Benefit, error)

// Functions maps names to benefit functions.
type Functions map[string]Maker

// Builtin returns the functions that come with the package, in a new map:
//
//	cpu_time   CPU time:                       CPUSeconds x amount
//	resources  weighted sum of resources:      Seconds x sum of (Resources[r] x weights[r])
//	processes  number of processes:            Processes x amount
//	work       units of work, however defined: Work x amount
//	fixed      the same for every job:         amount
func Builtin() Functions {
	return Functions{
		"cpu_time":  counting(func(u Use) float64 { return u.CPUSeconds }),
		"processes": counting(func(u Use) float64 { return u.Processes }),
		"work":      counting(func(u Use) float64 { return u.Work }),
		"fixed":     counting(func(Use) float64 { return 1 }),
		"resources": weighted,
	}
}

// Register adds a function under a new name. The function gets estimates as well as measured use.
func (f Functions) Register(name string, m Maker) error {
	switch {
	case name == "" || m == nil:
		return fmt.Errorf("frontback: a benefit function needs a name and what makes it")
	case f[name] != nil:
		return fmt.Errorf("frontback: there is a benefit function %q already: choose another name", name)
	}
	f[name] = m
	return nil
}

// Names returns the names of the functions, sorted.
func (f Functions) Names() []string { return slices.Sorted(maps.Keys(f)) }

// New makes the function with this name.
func (f Functions) New(name string, p Parameters) (Benefit, error) {
	m := f[name]
	if m == nil {
		return nil, fmt.Errorf("frontback: no benefit function %q; known: %s", name, strings.Join(f.Names(), ", "))
	}
	if !counts(p.Amount) {
		return nil, fmt.Errorf("frontback: %s: the amount %v is not a number from 0 on", name, p.Amount)
	}
	for _, of := range []map[string]float64{p.Weights, p.Groups} {
		for _, key := range slices.Sorted(maps.Keys(of)) {
			if !counts(of[key]) {
				return nil, fmt.Errorf("frontback: %s: %v for %q is not a number from 0 on", name, of[key], key)
			}
		}
	}
	b, err := m(p)
	if err != nil {
		return nil, fmt.Errorf("frontback: %s: %w", name, err)
	}
	if len(p.Groups) == 0 {
		return b, nil
	}
	return func(u Use, group string) float64 {
		if factor, named := p.Groups[group]; named {
			return b(u, group) * factor
		}
		return b(u, group)
	}, nil
}

// counts reports whether a number can be a benefit.
func counts(x float64) bool { return x >= 0 && x <= maxBenefit }

func counting(of func(Use) float64) Maker {
	return func(p Parameters) (Benefit, error) {
		amount := p.Amount
		if amount == 0 {
			amount = 1
		}
		return func(u Use, _ string) float64 { return of(u) * amount }, nil
	}
}

// weighted adds in the order of the names, so that the same use always gives the same number.
func weighted(p Parameters) (Benefit, error) {
	if len(p.Weights) == 0 {
		return nil, fmt.Errorf("no weights: name what a unit of each resource counts")
	}
	names, weights := slices.Sorted(maps.Keys(p.Weights)), maps.Clone(p.Weights)
	return func(u Use, _ string) float64 {
		total := 0.0
		for _, name := range names {
			total += float64(u.Resources[name] * weights[name])
		}
		return total * u.Seconds
	}, nil
}

// maxBenefit limits benefits and weights, so that their sums stay finite.
const maxBenefit = math.MaxFloat64 / (1 << 64)

package cluster

import (
	"maps"
	"strings"
)

// Amounts maps names of resources (cpu, mem, gpu, slots, ...) to whole amounts.
type Amounts map[string]int64

// WithTypes adds to amounts of typed resources (gpu:a100) those of the resource itself
// (gpu): a node with four of a type has four, and a task that asks for two of a type takes
// two of all. An amount of the resource that is larger already stays: there are some of
// which the type was not said.
//
// On a node with several types a task that asks for any of them takes none of a certain
// type. So typed and untyped tasks always fit together as counted: whoever hands out the
// things themselves gives each typed task its own and the others the rest.
func WithTypes(a Amounts) Amounts {
	var out Amounts
	var sums map[string]int64
	for name, n := range a {
		if base, _, typed := strings.Cut(name, ":"); typed && n > 0 {
			if sums == nil {
				sums = map[string]int64{}
			}
			sums[base] += n
		}
	}
	for base, n := range sums {
		if a[base] < n {
			if out == nil {
				out = maps.Clone(a)
			}
			out[base] = n
		}
	}
	if out == nil {
		return a
	}
	return out
}

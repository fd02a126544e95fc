package cluster

import (
	"maps"
	"strings"
)

// Amounts maps names of resources (cpu, mem, gpu, slots, ...) to integer amounts.
type Amounts map[string]int64

// WithTypes adds the amounts of typed resources (gpu:a100) to the amount of the base resource (gpu). So a node
// with four GPUs of a type has four GPUs, and a task that asks for two of a type takes two GPUs. A larger amount
// of the base resource stays, because the type of some may be unspecified.
//
// On a node with several types, an untyped request takes no specific type. So typed and untyped tasks always fit
// together if the counts fit. The program that assigns the devices gives each typed task devices of its type, and
// gives the other tasks the remaining devices.
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

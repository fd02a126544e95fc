// Package policy holds the rules by which a pool divides among its children, one
// file each with its formula and a worked example on top. What a rule is asked, and
// when, is package sched's; what it counts with, package usage's.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock.
package policy

import (
	"maps"
	"slices"

	"github.com/fairlead/fairlead/sched"
)

// Options are the settings of the policies that have any.
type Options struct {
	// ShortlistPools and ShortlistJobs are how many pools a step of a lottery draws,
	// and how many jobs it takes from each; 0 is 5 and 10.
	ShortlistPools, ShortlistJobs int
}

// All returns the policies by the names that a configuration uses.
func All(o Options) map[string]sched.Policy {
	return map[string]sched.Policy{
		"fair":    Fair{},
		"fifo":    Fifo{},
		"lottery": newLottery(o),
	}
}

// Names are the names of all policies, sorted.
func Names() []string { return slices.Sorted(maps.Keys(All(Options{}))) }

// Package policy holds the rules that divide a pool among its children, one
// file each with its formula and a worked example on top. What a rule is asked, and
// when, is package sched's; what it counts with, package usage's.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock.
package policy

// Options are the settings of policies that hold for the whole configuration.
type Options struct {
	// ShortlistPools and ShortlistJobs are how many pools a step of a lottery draws,
	// and how many jobs it takes from each; 0 is 5 and 10.
	ShortlistPools, ShortlistJobs int
}

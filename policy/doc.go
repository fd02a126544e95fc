// Package policy holds the rules that divide a pool among its children. Each rule has its own file, which opens
// with its formula and a worked example. Package sched decides when to ask a rule; package usage counts the
// service.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock.
package policy

// Options are the policy settings that apply to the whole configuration.
type Options struct {
	// ShortlistPools is how many pools a step of a lottery draws, and ShortlistJobs how many jobs it takes from
	// each; 0 means 5 and 10.
	ShortlistPools, ShortlistJobs int
}

// Package policy holds the rules that divide a pool among its children. Each rule has its own file, which opens
// with its formula and a worked example. Package sched calls the rules; package usage records the service.
//
// To add a rule, implement one of the interfaces of sched/policy.go, implement replay.Rule so that why --verify can
// recompute its keys, and add a row to makers. Children with equal keys go by Tie, the smallest first, and then by age.
//
// The package has no input or output, no clock, no goroutine and no lock.
package policy

// Options are the policy settings that apply to the whole configuration.
type Options struct {
	// ShortlistPools is how many pools a step of a lottery draws, and ShortlistJobs how many jobs it takes from
	// each; 0 means 5 and 10.
	ShortlistPools, ShortlistJobs int
}

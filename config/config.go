package config

import (
	"slices"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// Config is a configuration that was read and checked.
type Config struct {
	Shares allocation.Config
	Server Server

	// Shares already contains the following settings. They are repeated here so that [Config.YAML] can
	// write them.

	Rules       []share.Rule // of Shares.PlacementRules; nil is none
	Shortlist   Shortlist    // of the policy lottery
	Multifactor Multifactor
	Licenses    map[string]int64
	Rates       map[string]Rate

	// Problems holds the warnings. Hints holds suggestions, which only config check reports.
	Problems Problems
	Hints    Problems

	name, text string // of the file, to be read again with settings
	hidden     string // the text without passwords
	root       *node  // as it was given, settings included, without passwords
}

// Shortlist says how many pools and jobs the policy lottery draws in a step.
type Shortlist struct{ Pools, Jobs int }

// Report returns all problems and hints of the configuration, in the order of the file.
func (c *Config) Report() Problems {
	return slices.SortedStableFunc(slices.Values(slices.Concat(c.Problems, c.Hints)), byPlace)
}

// Multifactor says how the policy multifactor computes the priority of a job.
type Multifactor struct {
	sched.Multifactor
	Rules []share.SiteRule // of Shares.Site
}

// Rate limits how many tasks start per time.
type Rate struct {
	sched.Rate          // whose burst is never 0
	Kinds      []string // of jobs that are subject to it without naming it
}

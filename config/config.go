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

	// What follows is in force by way of Shares; it is here so that [Config.YAML] can
	// write it.

	Rules       []share.Rule // of Shares.Placement; nil is none
	Shortlist   Shortlist    // of the policy lottery
	Multifactor Multifactor
	Licenses    map[string]int64
	Rates       map[string]Rate

	// Problems are the warnings that were found. Hints are for those who ask what could
	// be better, by config check.
	Problems Problems
	Hints    Problems

	name, text string // of the file, to be read again with settings
	hidden     string // the text without passwords
	root       *node  // as it was given, settings included, without passwords
}

// Shortlist is how much a step of the policy lottery draws.
type Shortlist struct{ Pools, Jobs int }

// Report is all that there is to say about the configuration, in the order of the file.
func (c *Config) Report() Problems {
	return slices.SortedStableFunc(slices.Values(slices.Concat(c.Problems, c.Hints)), byPlace)
}

// Multifactor is what the policy multifactor counts for a job.
type Multifactor struct {
	sched.Multifactor
	Rules []share.SiteRule // of Shares.Site
}

// Rate is a number of starts in a time.
type Rate struct {
	sched.Rate          // whose burst is never 0
	Kinds      []string // of jobs that are subject to it without naming it
}

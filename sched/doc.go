// Package sched decides what runs next: it holds the state of a scheduler, takes
// events in, and hands decisions out.
//
// A [Scheduler] is a state machine. The caller tells it what happened (jobs began
// to wait or were withdrawn, tasks ended, nodes came and went, the configuration
// changed) and asks with [Scheduler.Step] what to start; the [Decision] says, for
// every start, by which numbers it was chosen, and when time alone could change the
// answer. The live loop and the simulator drive the same machine.
//
// A step walks down the tree of pools. At each pool its [Policy] says which child
// goes first; a leaf gives its next job. What a gate blocks (a cap, a request that
// fits nowhere now, a begin time) is parked there and costs nothing until the gate
// opens. A decision costs O(depth x log children), however many jobs wait.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock, so a
// Scheduler is for one goroutine at a time. Time and randomness are arguments. Jobs
// are known by number, pool and count only, never by what they do.
package sched

// Package sched decides what runs next: it holds the state of a scheduler, takes
// events in, and hands decisions out.
//
// A [Scheduler] is a state machine. The caller tells it what happened (jobs began
// to wait or were withdrawn, tasks ended, nodes came and went, the configuration
// changed) and asks with [Scheduler.Step] what to start; the [Decision] says, for
// every start, which numbers decided it, and when time alone could change the
// answer. The live loop and the simulator drive the same machine.
//
// A step walks down the tree of pools. At each pool its [Policy] says which child
// goes first; a leaf gives its next job. A job that a gate blocks (a cap, a request that
// fits nowhere now, a begin time) is parked there and costs nothing until the gate
// opens. A decision costs O(depth x log children), however many jobs wait.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock, so a
// Scheduler is for one goroutine at a time. Time and randomness are arguments. Jobs
// are known by number, pool and count only, never by what they do.
//
// A Scheduler consists of parts with fields and methods of their own. Each knows
// only the parts that it stands on (see wire in scheduler.go). The files can be read one after another, none
// uses a later one: pool.go, policy.go, inner.go and line.go have the data; tree.go to
// intake.go the parts, from the tree of pools to the jobs that come; scheduler.go puts
// them together. Above it are the events and step.go, and the files that only read: view.go,
// explain.go, gateview.go, preview.go and forecast.go.
package sched

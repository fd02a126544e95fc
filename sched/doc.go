// Package sched decides what runs next: it holds the state of a scheduler, takes
// events in, and returns decisions.
//
// A [Scheduler] is a state machine. The caller reports events (jobs began to wait or were
// withdrawn, tasks ended, nodes came and went, the configuration changed) and asks with
// [Scheduler.Step] which tasks to start. The [Decision] gives, for every start, the numbers
// that decided it, and when time alone could change the answer. The live engine and the
// simulator drive the same machine.
//
// A step walks down the tree of pools. At each pool its [Policy] chooses the child that goes
// first; a leaf pool gives its next job. A job behind a closed gate (a maximum, a request that
// fits nowhere now, a begin time) is parked there and costs nothing until the gate opens. A
// decision costs O(depth x log children), however many jobs wait.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock, so only one
// goroutine at a time may use a Scheduler. Time and randomness are arguments. The scheduler
// knows jobs by number, pool and count only, never by their content.
//
// A Scheduler consists of parts with their own fields and methods. Each part knows only the
// parts that it depends on (see wire in scheduler.go). The files can be read in order, and none
// uses a later one: pool.go, policy.go, inner.go and line.go have the data; tree.go to intake.go
// have the parts, from the tree of pools to the intake of jobs; scheduler.go puts them together.
// Above these are the events, step.go, and the files that only read: view.go, explain.go,
// gateview.go, preview.go and forecast.go.
package sched

// Package sched decides what runs next: it holds the state of a scheduler, takes
// events in, and returns decisions.
//
// A [Scheduler] is a state machine. The caller reports events (jobs began to wait or were
// withdrawn, tasks ended, nodes came and went, the configuration changed) and asks with
// [Scheduler.Step] which tasks to start. The [Decision] gives, for every start, the numbers
// that decided it. It also gives the next instant at which time alone could change the decision.
// The live engine and the simulator drive the same scheduler.
//
// A step walks down the tree of pools. At each pool its [Policy] chooses the child that goes
// first; a leaf pool gives its next job. A job behind a closed gate (a maximum, a request that
// fits nowhere now, a begin time) is parked there and costs nothing until the gate opens. A
// decision costs O(depth x log children), however many jobs wait.
//
// The package is pure: it has no input or output, no clock, no goroutine and no lock. So only one
// goroutine at a time may use a Scheduler. Time and randomness are arguments. Of a job the
// scheduler knows its number, its pool, its request and its number of tasks, never its content.
//
// A Scheduler consists of parts with their own fields and methods. Each part knows only the
// parts that it depends on (see wire in scheduler.go). The files can be read in order, and none
// uses a later one. First come the data: pool.go, policy.go, inner.go and subqueue.go. Then come the
// parts, in the order of wire: the tree of pools first, the intake of jobs last. scheduler.go puts
// them together. The kinds of gates (kinds.go) and the backfill rules (rule.go) are tables. Above them
// are the files of the events, step.go, and the files that only read:
// view.go, explain.go, gateview.go, preview.go and forecast.go.
//
// Three things are made to be added to, each by one type and one row of a table:
//
//   - a policy, which orders the children of a pool: implement [Keyed] or another interface of policy.go in
//     package policy, and add it to its table makers. [Config.NewPolicy] finds it by name.
//   - a gate, a reason for which jobs wait although there is room: implement gateKind (gate.go) and add it to
//     newKinds. rategate.go is a model of a gate that time opens, licensegate.go of one that the end of a task
//     opens.
//   - a backfill rule, which says who takes free room: implement backfillRule (rule.go) and add it to rules.
//     firstfit.go is a model without a plan, easy.go with one.
//
// kinds_test.go adds one of each, with curfewgate_test.go and worstfit_test.go.
package sched

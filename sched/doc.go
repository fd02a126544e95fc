// Package sched decides what runs next: it holds the state of a scheduler, takes
// events in, and returns decisions.
//
// A [Scheduler] is a state machine. The caller reports events (jobs began to wait or were
// withdrawn, tasks ended, nodes came and went, the configuration changed) and asks with
// [Scheduler.Step] which tasks to start. The [Decision] gives, for every start, the numbers
// that decided it. It also says when to call Step again if no event comes before.
// The live engine and the simulator drive the same scheduler.
//
// A step walks down the tree of pools. At each pool its [Policy] chooses the child that goes
// first; a leaf pool gives its next job. A job behind a closed gate (a maximum, a request that
// fits nowhere now, a begin time) is parked there and costs nothing until the gate opens. A
// decision costs O(depth x log children), however many jobs wait.
//
// The package is pure: it has no input or output, no clock, no goroutine and no lock. So only one
// goroutine at a time may use a Scheduler. Time and randomness are arguments. The scheduler knows the
// number, the pool, the request and the number of tasks of a job, never its content.
//
// A Scheduler consists of parts with their own fields and methods. Each part knows only the
// parts that it depends on (see wire in scheduler.go). The files can be read in order: each
// depends only on earlier ones. First come the data: pool.go, policy.go, inner.go and subqueue.go. Then come the
// parts, in the order of wire: the tree of pools first, the intake of jobs last. scheduler.go puts
// them together. The kinds of gates (kinds.go) and the backfill rules (rule.go) are tables. Above them
// are the files of the events, step.go, and the files that only read:
// view.go, explain.go, gateview.go, preview.go and forecast.go.
//
// There are three points of extension. Each needs a type in a file of its own and a row of a table:
//
//   - a policy orders the children of a pool. Implement [Keyed] or another interface of policy.go in a new file of
//     package policy, and add a row to its table makers; [Config.NewPolicy] finds it by that name. Also implement
//     replay.Rule in that file; otherwise the command "fairlead why --verify" cannot check the policy. A rule sees only
//     why.PoolEvidence, so build the key from numbers that a [Pool] has as well.
//   - a gate is a reason for which jobs wait although there is room. Implement gateKind (gate.go), give it a number
//     in pool.go (see gate), and add a row to newKinds (kinds.go). A kind that time opens also implements clockKind
//     (rategate.go is a model), and one that the end of a task opens implements endKind (licensegate.go);
//     pausegate.go is a model of a gate of pools.
//   - a backfill rule says who takes free room, and on which node. Implement backfillRule (rule.go), give it a number
//     (see [Backfill]), and add a row to rules: then users can name it. firstfit.go is a model without a plan,
//     easy.go with one.
//
// Some tests compare the names of all policies, gates and rules with golden files. After a change, run
// go test ./config ./cmd/fairlead -update to write these files and the reference anew. kinds_test.go, with
// curfewgate_test.go and worstfit_test.go, adds an example of each.
package sched

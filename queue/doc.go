// Package queue holds the nouns of the life of a job, and the contract of the stores that keep jobs:
// [Job], [Task], [Lease], [Outcome], [Store] with its optional interfaces, and the errors that all of
// these return. It also says which jobs are well formed, without knowing any configuration.
//
// Nothing in here decides, waits or does input or output. A store implements [Store]; the loop in the
// package above leases, renews and finishes by it. The root package has aliases for what a program
// with jobs of its own needs.
package queue

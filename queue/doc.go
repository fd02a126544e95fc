// Package queue defines the types of a job's life, and the contract of the stores that keep jobs. It has [Job], [Task],
// [Lease], [Outcome], and [Store] with its optional interfaces and the errors that stores return. It also checks the
// form of jobs, without any configuration.
//
// The package makes no decisions, never blocks, and does no input or output. A store implements [Store]; package
// internal/engine leases, renews and finishes tasks through it. The root package has aliases for the types that a
// program with its own jobs needs.
package queue

// Package engine is the life of a job in this process: the [Client] that submits and changes jobs, the
// [Loop] that keeps the core up to date with a store, starts tasks by shares, leases them and hands them
// to workers. Packages above it read its [State] to explain, forecast and report.
//
// It knows nouns of package queue, shares of package allocation and the core of package sched. HTTP,
// files and processes may not come in, because their packages stand above it. The root package offers the part
// that a program with jobs of its own needs.
package engine

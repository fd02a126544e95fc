// Package sim runs a workload through the scheduler in virtual time, and measures what
// came of it: when each job ran, how long users waited, how far each of them was from its
// share. The scheduler is the very one that a server runs, package sched, as it is.
//
// Time is in whole seconds. In each second in which something happens, first all jobs end
// that end in it, then all are submitted that are submitted in it, in order of their
// numbers, and then the scheduler makes one step. Nothing is polled: between two events
// no time passes. The same workload, configuration and seed give the same schedule.
//
// It imports floor 1 only, beside the reader of traces: that it compiles proves that the
// core needs no clock, no store and no network. What is read from files, and where
// results go, is left to the caller.
package sim

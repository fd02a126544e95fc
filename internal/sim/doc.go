// Package sim runs a workload through the scheduler in virtual time and measures the result. It measures
// when each job ran, how long users waited, and how far each user was from its share. It uses package
// sched unchanged, the scheduler that a server runs.
//
// Time is in whole seconds. In each second with an event, the jobs of that second first end. Then the jobs
// of that second are submitted, in the order of their numbers. Then the scheduler makes one step. Nothing
// is polled: the clock jumps from event to event. The same workload, configuration and seed give the same
// schedule.
//
// Package sim imports floor 1 only, and the reader of traces: the fact that it compiles proves that the
// core needs no clock, no store and no network. The caller reads the files and writes the results.
package sim

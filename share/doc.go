// Package share says who is entitled to what: the tree of pools with weights,
// minima and maxima, the rules that place a job into a pool, and the division of a
// capacity among claims. Reading it from a file is left to package config, counting
// what was consumed to package usage, and deciding to package sched.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock.
package share

// Package share says who is entitled to how much. It has the tree of pools with weights, minima and maxima, the
// rules that place a job into a pool, and the division of a capacity among claims. Package config reads the tree
// from a file, package usage counts the usage, and package sched decides.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock.
package share

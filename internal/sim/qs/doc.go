// Package qs simulates a queueing system that somebody else runs, and package frontback in
// front of it: jobs come, are put at the front, at the back or above both, and workers take
// the one of the highest priority, among equals the one that came first. A job that runs is
// not stopped for another.
//
// Time is virtual. At each instant first jobs end, then jobs are submitted in the order of
// their numbers, and then free workers take waiting jobs. Nothing but this order and the
// priorities decides who runs, as the queueing system knows nothing of groups.
//
// It stands on floor 1 alone.
package qs

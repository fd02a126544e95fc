// Package qs simulates a foreign queueing system with package frontback in front of it. Jobs arrive and are
// put at the front, at the back or above both. Free workers take the job with the highest priority or, among
// equals, the job that arrived first. A running job is not stopped for another.
//
// Time is virtual. At each instant first jobs end, then jobs are submitted in the order of their numbers, and
// then free workers take waiting jobs. Only this order and the priorities decide who runs, because the
// queueing system knows nothing of groups.
//
// Package qs imports floor 1 alone.
package qs

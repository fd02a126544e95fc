// Package frontback decides where a job goes in a queueing system (QS) that somebody else
// runs: to the front or to the back, so that groups receive their fractions of a benefit,
// or above both if it is of a priority group ("Generic Fair Share Scheduling Using
// Priority-Based Queuing").
//
// The rule of the source, for a job j of the fair-share group g:
//
//	p = B[g] + B(j, g) > b[g] ? p_b : p_f
//
// b[g] is a fraction, and so is the value that is compared with it:
//
//	share = (B[g] + B(j, g)) / (sum of all B + B(j, g))     front if share <= b[g]
//
// The sum is over the fair-share groups: they divide among themselves what priority groups
// leave, and a priority group that receives much does not bring all of them to the front.
//
// Example: physics 0.5, biology 0.3, chemistry 0.2; they have received 50, 26 and 20. A job
// of biology that takes 4: (26 + 4) / (96 + 4) = 0.3, not above 0.3, so it goes to the front.
// The next one: (30 + 4) / (100 + 4) = 0.327, to the back.
//
// A [Book] keeps what the groups have received. It is part of floor 1: no input or output,
// no clock, no goroutine, no lock. Carrying jobs into a QS, and following them there, is
// left to others.
package frontback

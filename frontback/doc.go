// Package frontback decides where a job goes in a queueing system (QS) that others run: to the front or to
// the back, so that groups receive their fractions of a benefit. A job of a priority group goes above both.
// ("Generic Fair Share Scheduling Using Priority-Based Queuing".)
//
// The rule of the source, for a job j of the fair-share group g:
//
//	p = B[g] + B(j, g) > b[g] ? p_b : p_f
//
// b[g] is a fraction, so the value that is compared with it is one as well:
//
//	share = (B[g] + B(j, g)) / (sum of all B + B(j, g))     front if share <= b[g]
//
// The sum is over the fair-share groups: they divide among themselves the benefit that priority groups leave.
// So a priority group that receives much does not move all of them to the front.
//
// Example: physics 0.5, biology 0.3, chemistry 0.2; they have received 50, 26 and 20. A job of biology takes
// 4: (26 + 4) / (96 + 4) = 0.3, which is not above 0.3, so it goes to the front. The next one: (30 + 4) /
// (100 + 4) = 0.327, so it goes to the back.
//
// A [Book] keeps the benefits that the groups have received. The package is part of floor 1: no input or
// output, no clock, no goroutine, no lock. Other packages submit jobs to a QS and follow them there.
package frontback

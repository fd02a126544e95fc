// Package replay recomputes answers of why from the printed numbers alone. [Verify] puts the printed terms
// into the printed formulas, and sorts the children by the results. Then it starts tasks one by one from
// the [why.Evidence] until the job of the question starts.
//
// It shares no code with the scheduler: the package imports only package why. Each policy brings its own
// [Rule], which sees only a [Choice], that is, only printed numbers.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock.
package replay

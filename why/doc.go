// Package why holds the numbers behind a decision, as data and as text.
//
// A policy states its rule once, as a [Formula], and keeps the terms that it computed with beside the result,
// in [Terms]. An [Answer] collects them for one job. Package why/replay recomputes an answer from these
// numbers alone. This package knows formulas and numbers; other packages know where the numbers come from.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock.
package why

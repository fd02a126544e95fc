// Package why holds the numbers behind a decision, as data and as text.
//
// A policy states its rule once, as a [Formula]; the terms it computed with are
// kept beside the result in [Terms]; an [Answer] collects them for one job. Package
// why/replay recomputes an answer from nothing but these numbers. This package
// knows formulas and numbers, and leaves to others where the numbers come from.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock.
package why

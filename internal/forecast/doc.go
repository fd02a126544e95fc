// Package forecast says when jobs will start, and what would become of them if something were
// different: it plays the future on copies of the scheduler. It also puts the whole answer to "why"
// together, because an estimate is a part of it. It changes nothing.
package forecast

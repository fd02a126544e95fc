// Package forecast predicts when jobs will start, and what would happen to them if something were different: it plays
// the future on copies of the scheduler. It also assembles the whole answer to "why", because that includes an
// estimate. It changes nothing.
package forecast

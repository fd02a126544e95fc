// Package forecast predicts when jobs will start, and how a change would affect them: it plays the future on copies
// of the scheduler. It also assembles the whole answer to "why", because that includes an estimate. It changes
// nothing.
package forecast

// Package explain says why jobs wait, in which order they go, and what goes before them: functions
// over the state of a loop, and an Explainer with what they remember. It decides nothing and
// changes nothing. What needs a look into the future is in package forecast, above it.
package explain

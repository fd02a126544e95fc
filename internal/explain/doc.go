// Package explain says why jobs wait, in which order they start, and which jobs are ahead of them: functions over the
// state of an engine, and an Explainer with their caches. It decides nothing and changes nothing. Package forecast,
// above it, predicts the future.
package explain

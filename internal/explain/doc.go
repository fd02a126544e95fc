// Package explain says why jobs wait, in which order they start, and which jobs are ahead of them. It has functions
// that read the state of an engine, and an Explainer that caches their results. It decides nothing and changes nothing.
// Package forecast, which uses it, predicts the future.
package explain

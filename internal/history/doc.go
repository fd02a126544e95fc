// Package history records the values of an engine's pools over time, keeps them in the store, and reads them and the
// recent tasks. It decides nothing.
package history

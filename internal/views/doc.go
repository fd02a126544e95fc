// Package views describes the present state of pools, nodes and tasks, as commands, pages and the API show it. It reads
// the state of an engine and keeps nothing: package explain says why something waits, and package history reads the
// past from the store.
package views

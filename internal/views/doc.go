// Package views tells how pools, nodes and tasks fare at this instant, as commands, pages and the API
// show it. It reads the state of a loop and keeps nothing: why something waits is told by another
// room, and what was is read from the store.
package views

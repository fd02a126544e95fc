// Package history takes down how the pools of a loop fare, keeps it in the store, and reads it and
// what ran lately. It decides nothing.
package history

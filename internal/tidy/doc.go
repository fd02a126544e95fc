// Package tidy holds the rules of the house as tests: which package may import which,
// what floor 1 must not touch, how long a function may be. They are read as a policy,
// and fail with the place and the rule.
package tidy

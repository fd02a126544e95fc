// Package tidy holds the rules of the house as tests: which package may import which,
// what floor 1 must not touch, how long a function may be, how many files of a package may
// lead to one another. They are read as a policy, and fail with the place and the rule.
// What is still larger than its limit stands in testdata/limits.txt, whose numbers only fall.
package tidy

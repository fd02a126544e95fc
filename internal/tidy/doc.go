// Package tidy holds the rules of the project as tests. The rules are about the imports that a package may
// have, the forbidden parts of floor 1, the length of functions, and circles between the files of a
// package. The tests can be read as a policy; if one fails, it names the place and the rule. The file
// testdata/limits.txt lists the exceptions that are still larger than a limit; their numbers only fall.
package tidy

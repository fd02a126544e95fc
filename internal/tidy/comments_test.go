package tidy

import (
	"cmp"
	"regexp"
	"strings"
	"testing"
)

// headless matches comments whose sentences hide their subject: a reader has to read them twice.
var headless = regexp.MustCompile(`// .*\b(what (is|was|are|were|may|has|waits|runs|can|must)|` +
	`of which|by which|those that|so (many|much|long) )`)

// TestCommentsArePlain counts the comment lines of each package, tests included, that match headless.
func TestCommentsArePlain(t *testing.T) {
	lines := map[string]int{}
	for _, file := range goFiles(t, true) {
		pkg := cmp.Or(packageOf(file), "fairlead")
		lines[pkg] += 0
		for line := range strings.Lines(read(t, file)) {
			if headless.MatchString(line) {
				lines[pkg]++
			}
		}
	}
	limit{"headless", atMost(0), "name the subject, such as the waiting jobs in place of what waits"}.hold(t, lines)
}

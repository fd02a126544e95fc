package tidy

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// aPath matches a file or a folder of the repository, as pages write it.
var aPath = regexp.MustCompile(`^[a-z]+(/[A-Za-z0-9_.*-]*)+$`)

// TestContributorsFindTheFiles checks that the paths in CONTRIBUTING.md and in the map of the code exist.
func TestContributorsFindTheFiles(t *testing.T) {
	for _, page := range []string{"CONTRIBUTING.md", "docs/design.md"} {
		named := 0
		for _, m := range code.FindAllStringSubmatch(fence.ReplaceAllString(read(t, page), ""), -1) {
			if !aPath.MatchString(m[1]) {
				continue
			}
			named++
			path := filepath.Join(root, strings.TrimSuffix(strings.TrimSuffix(m[1], "..."), "/"))
			if found, err := filepath.Glob(path); err != nil || len(found) == 0 {
				t.Errorf("%s: there is no %s: name the place where it is now", page, m[1])
			}
		}
		if named < 10 {
			t.Errorf("%s names %d paths only", page, named)
		}
	}
}

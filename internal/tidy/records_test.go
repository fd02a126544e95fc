package tidy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// record matches the beginning of a decision record, and its sections.
var record = regexp.MustCompile(`(?s)^# (\d+)\. ([^\n]+)\n\nDate: (2\d{3}-\d\d-\d\d[^.]*)\. Status: ` +
	`(accepted|replaced by \d+)\.\n\n## Context\n.+\n## Decision\n.+\n## Consequences\n`)

// TestDecisionsAreRecords checks that each design decision is a numbered record of one form, and is in the
// index.
func TestDecisionsAreRecords(t *testing.T) {
	dir := filepath.Join(root, "docs", "design")
	index := read(t, filepath.Join("docs", "design", "README.md"))
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range entries {
		number, _, numbered := strings.Cut(e.Name(), "-")
		if !numbered || !strings.HasSuffix(e.Name(), ".md") {
			continue
		}
		seen++
		parts := record.FindStringSubmatch(read(t, filepath.Join("docs", "design", e.Name())))
		if parts == nil {
			t.Errorf("docs/design/%s does not have the form of a record: title, date, status, three sections", e.Name())
			continue
		}
		if strings.TrimLeft(number, "0") != parts[1] {
			t.Errorf("docs/design/%s has the number %s in its title", e.Name(), parts[1])
		}
		line := "| [" + number + "](" + e.Name() + ") | " + parts[2] + " | " + parts[3] + " |"
		if !strings.Contains(index, line) {
			t.Errorf("docs/design/README.md lacks the line\n%s", line)
		}
	}
	if n := strings.Count(index, "\n| ["); n != seen {
		t.Errorf("docs/design/README.md lists %d records, but the cluster has only %d", n, seen)
	}
}

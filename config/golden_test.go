package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/golden"
)

// TestReports reads the pages of testdata/reports. Each case is a line "== name", a file, a line "--", and the output
// of config check for the file.
func TestReports(t *testing.T) {
	pages, err := filepath.Glob("testdata/reports/*.txt")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, page, reports(t, string(text)))
		})
	}
}

// reports returns the page with the current reports.
func reports(t *testing.T, page string) string {
	t.Helper()
	head, rest, _ := strings.Cut(page, "== ")
	var b strings.Builder
	b.WriteString(head)
	for c := range strings.SplitSeq(rest, "\n== ") {
		name, body, ok := strings.Cut(c, "\n")
		input, _, split := strings.Cut(body, "\n--\n")
		if !ok || !split {
			t.Fatalf("case %q has no line --", name)
		}
		if b.Len() > len(head) {
			b.WriteString("\n")
		}
		b.WriteString("== " + name + "\n" + input + "\n--\n" + report(t, name, input))
	}
	return b.String()
}

// report returns the report on a file.
func report(t *testing.T, name, input string) string {
	t.Helper()
	c, err := config.Parse("fairlead.yaml", []byte(input))
	if err == nil {
		return c.Report().Text() + "ok\n"
	}
	var found config.Problems
	if !errors.As(err, &found) {
		t.Errorf("%s: the error is a %T", name, err)
	}
	return found.Text()
}

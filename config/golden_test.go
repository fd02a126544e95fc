package config_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/config"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestReports reads the pages of testdata/reports. Each case is a line "== name", a
// file, a line "--", and what config check says about the file.
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
			golden(t, page, reports(t, string(text)))
		})
	}
}

// reports returns the page with the reports as they are now.
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

// report is what there is to say about a file.
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

// golden compares got with a file of testdata, or writes it there.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update rewrites it. Got:\n%s", path, firstDifference(got, string(want)))
	}
}

// firstDifference is the neighbourhood of the first line that differs.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(g) && i < len(w) && g[i] == w[i] {
		i++
	}
	return strings.Join(g[max(0, i-5):min(len(g), i+8)], "\n")
}

// Package golden compares the output of tests with files in their testdata.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"
)

// Update is set by -update: Check then rewrites files instead of comparing.
var Update = flag.Bool("update", false, "rewrite testdata")

// Check compares got with the file at path, or writes it there with -update.
func Check(t *testing.T, path, got string) {
	t.Helper()
	if *Update {
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
		t.Errorf("%s differs; -update rewrites it. Got:\n%s", path, difference(got, string(want)))
	}
}

// difference returns the lines of got around the first one that differs.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(g) && i < len(w) && g[i] == w[i] {
		i++
	}
	return strings.Join(g[max(0, i-5):min(len(g), i+8)], "\n")
}

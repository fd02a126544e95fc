package tidy

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
)

// limitsFile lists everything that is larger than its limit: lines of a measure, a name and a number, sorted.
// A number may only fall. Several people lower numbers at the same time, so .gitattributes merges the file
// line by line; of two numbers for one name the larger one counts until -update rewrites the file.
const limitsFile = "testdata/limits.txt"

const updateLimits = "go test ./internal/tidy -update"

// limit is one measure. It is a ratchet: the recorded numbers may only fall.
type limit struct {
	measure string
	most    func(name string) int // the maximum without a line in limitsFile
	instead string                // advice in place of exceeding it
}

// atMost allows the same number everywhere.
func atMost(n int) func(string) int { return func(string) int { return n } }

// hold compares the measured numbers with the limit and with limitsFile. With -update it lowers the numbers
// of the file; it raises none and adds none. It returns the names that exceed both.
func (l limit) hold(t *testing.T, measured map[string]int) (over []string) {
	t.Helper()
	known, twice := readLimits(t)
	if *golden.Update {
		for name, n := range known[l.measure] {
			if now := measured[name]; now <= l.most(name) {
				delete(known[l.measure], name)
			} else {
				known[l.measure][name] = min(n, now)
			}
		}
		writeLimits(t, known)
	}
	for _, name := range twice {
		if strings.HasPrefix(name, l.measure+" ") && !*golden.Update {
			t.Errorf("%s has two lines for %s: %s keeps the right one", limitsFile, name, updateLimits)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(measured)) {
		n := measured[name]
		old, is := known[l.measure][name]
		if n > max(old, l.most(name)) {
			over = append(over, name)
		}
		switch {
		case is && n > old:
			t.Errorf("%s %s is %d and was %d: %s (only code that moved here from another place may raise its line in %s)",
				l.measure, name, n, old, l.instead, limitsFile)
		case is && n < old:
			t.Errorf("%s %s is %d and was %d: write the new number with %s", l.measure, name, n, old, updateLimits)
		case !is && n > l.most(name):
			t.Errorf("%s %s is %d, at most %d: %s", l.measure, name, n, l.most(name), l.instead)
		}
	}
	for name := range known[l.measure] {
		if _, is := measured[name]; !is {
			t.Errorf("%s %s is gone: write that with %s", l.measure, name, updateLimits)
		}
	}
	return over
}

// readLimits reads limitsFile, and the names that occur twice in it.
func readLimits(t *testing.T) (known map[string]map[string]int, twice []string) {
	t.Helper()
	known = map[string]map[string]int{}
	text, err := os.ReadFile(limitsFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if len(f) != 3 {
			t.Fatalf("%s: %q is not a measure, a name and a number", limitsFile, line)
		}
		n, err := strconv.Atoi(f[2])
		if err != nil {
			t.Fatal(err)
		}
		if known[f[0]] == nil {
			known[f[0]] = map[string]int{}
		}
		if old, is := known[f[0]][f[1]]; is {
			twice = append(twice, f[0]+" "+f[1])
			n = max(n, old)
		}
		known[f[0]][f[1]] = n
	}
	return known, twice
}

func writeLimits(t *testing.T, known map[string]map[string]int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# What is larger than internal/tidy allows. The numbers may only fall: " + updateLimits + "\n")
	for _, measure := range slices.Sorted(maps.Keys(known)) {
		for _, name := range slices.Sorted(maps.Keys(known[measure])) {
			fmt.Fprintln(&b, measure, name, known[measure][name])
		}
	}
	if err := os.WriteFile(limitsFile, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

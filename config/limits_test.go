package config_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/config"
)

// endless is no exact bound: only a run time that grows with the square of the text, or a loop that does not end,
// exceeds it.
const endless = time.Minute

// measured parses a text and returns how long that took, and the error.
func measured(text string) (time.Duration, error) {
	start := time.Now()
	_, err := config.Parse("f", []byte(text))
	return time.Since(start), err
}

// TestHostile gives files that are designed to keep a reader busy. Each has to be refused soon.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic on long texts")
	}
	t.Parallel()
	const n = 1 << 20
	bomb := "a: &a [x, x]\n"
	for c := 'b'; c <= 'z'; c++ {
		bomb += fmt.Sprintf("%c: &%[1]c [*%c, *%[2]c]\n", c, c-1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"large", strings.Repeat("#", 2*n), "larger than 1 MiB"},
		{"brackets", strings.Repeat("[", 1e6), "deeper than 64 levels"},
		{"pairs of brackets", strings.Repeat("[", n/2) + strings.Repeat("]", n/2), "deeper than 64 levels"},
		{"braces", strings.Repeat(`{"a":`, n/5), "deeper than 64 levels"},
		{"dashes", strings.Repeat("- ", n/2), "deeper than 64 levels"},
		{"names", strings.Repeat("a: ", n/3), "a second colon"},
		{"indentation", staircase(n), "deeper than 64 levels"},
		{"complex names", strings.Repeat("? ", n/2), "deeper than 64 levels"},
		{"a chain of aliases", chain(100), "deeper than 64 levels"},
		{"a value in itself", "pools: &a {b: {c: *a}}", "f:1:19: the alias *a is part of its own value"},
		{"a bomb", bomb, "f:15:8: the aliases (*) down to here expand to more than 100000 values"},
		{"anchors", strings.Repeat("&a ", n/9), "f:1:4: unexpected text"},
		{"tags", strings.Repeat("!a ", n/9), "f:1:4: unexpected text"},
		{"tags of values", numbered(n, "", "f%d: !a\n", ""), "tags (!) are not supported"},
		{"directives", numbered(n, "", "%%TAG !a%d! tag:a\n", ""), "directives are not supported"},
		{"documents", strings.Repeat("---\n", n/4), "f:2:1: a second document"},
		{"merge keys", strings.Repeat("<<: a\n", n/6), "merge keys"},
		{"not UTF-8", "a: \xff\xfe" + strings.Repeat(" ", 1000), "f:1:4: the file is not UTF-8 from here on"},
		{"UTF-16", "\xff\xfep\x00o\x00", "f:1:1: the file is not UTF-8"},
		{"zero byte", "policy: fair\n\x00", "f:2:1: the file holds the control character U+0000"},
		{"escape", "policy: \x1b[31m", "f:1:9: the file holds the control character U+001B"},
		{"another end of line", "policy: \u2028", "f:1:9: the file holds the control character U+2028"},
		{"no character", "policy: \uffff", "f:1:9: the file holds the control character U+FFFF"},
	} {
		took, err := measured(c.text)
		var found config.Problems
		if !errors.As(err, &found) || !strings.Contains(found.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		if took > endless {
			t.Errorf("%s: took %v", c.name, took)
		}
		if r := found.Text(); len(r) > 1<<10 {
			t.Errorf("%s: the report has %d bytes", c.name, len(r))
		}
	}
}

// chain nests values with aliases.
func chain(length int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x]\n")
	for i := range length {
		fmt.Fprintf(&b, "a%d: &a%[1]d [*a%d]\n", i+1, i)
	}
	return b.String()
}

// staircase indents each line deeper than the one before.
func staircase(size int) string {
	var b strings.Builder
	for i := 0; b.Len()+i+3 < size; i++ {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// TestBusy gives files of the maximum size, and of half that, that are read to the end: the time has to grow in
// proportion to the size, and the report must not grow.
func TestBusy(t *testing.T) {
	if testing.Short() {
		t.Skip("much work, and nothing at once")
	}
	t.Parallel() // together with other slow tests
	const n = 1 << 19
	for _, c := range []struct{ name, text string }{
		{"unknown fields", numbered(n, "", "f%d: 1\n", "")},
		{"pools", numbered(2*n, "pools:\n", "  p%d: {weight: 1}\n", "")},
		{"pools with notes", numbered(n, "pools:\n", "  # the next\n  p%d: # note\n    weight: 1 # as all\n", "")},
		{"pools that are the same", numbered(n, "pools:\n  a: &a {max: {cpu: -1}}\n", "  p%d: *a\n", "")},
		{"pools on one line", numbered(n, "{pools: {", "p%d: {share: 1%%},", "}}")},
		{"too many rules", numbered(n, "placement:\n", "- {user: u%d, pool: a}\n", "")},
		{"rules", numbered(24_000, "placement:\n", "- {user: u%d, pool: a}\n", "")},
		{"wrong rules", numbered(24_000, "placement:\n", "- {user: (%d, pool: a}\n", "")},
		{"rules into a closed tree", numbered(n, "pools:\n", "  pool-with-a-rather-long-name-%d:\n", "") +
			numbered(5e4, "placement:\n", "- {user: u%d, pool: pool-with-a-rather-long-nam}\n", "")},
		{"expressions", numbered(60_000, "placement:\n", `- {user: "%d((a{30}){30}){1,1}[\\pL]{10}", pool: a}`+"\n", "")},
		{"the same name", strings.Repeat("a: 1\n", n/5)},
		{"empty lists", "placement: [" + strings.Repeat("[],", n/3-20) + "]"},
		{"lists of nothing", "pools: [" + strings.Repeat("~,", n/2-20) + "]"},
		{"tabs", "pools: {" + strings.Repeat("\t", n-20) + "}"},
		{"blanks and tabs", strings.Repeat(" \t", n/2-20)},
		{"tabs in quotes", "policy: \"" + strings.Repeat("\t", n-20) + "\""},
		{"escapes", "policy: \"" + strings.Repeat(`\t`, n/2-20) + "\""},
		{"quotes", "policy: '" + strings.Repeat("''", n/2-20) + "'"},
		{"colons", "policy: " + strings.Repeat(":a", n/2-20)},
		{"hashes", "policy: " + strings.Repeat("a#", n/2-20)},
		{"text block", "policy: |\n" + strings.Repeat(" a\n", n/3-20)},
		{"blank lines", strings.Repeat("\n", 2*n-20) + "a: 1"},
		{"comments", strings.Repeat("#\n", n/2)},
		{"a duration", "half_life: " + strings.Repeat("9", n-20)},
		{"units", "half_life: " + strings.Repeat("1h", n/2-20)},
		{"wide characters", "policy: " + strings.Repeat("世", n/3-20)},
		{"resources", numbered(n, "pools: {a: {min: {", "r%d: 1, ", "}}}")},
	} {
		took, err := measured(c.text)
		var found config.Problems
		if errors.As(err, &found) {
			if r := found.Text(); len(r) > 100<<10 {
				t.Errorf("%s: the report has %d KiB", c.name, len(r)>>10)
			}
		}
		t.Logf("%s: %v", c.name, took.Round(time.Millisecond))
		if took > endless {
			t.Errorf("%s: took %v", c.name, took)
		}
	}
}

// numbered repeats a line with a growing number.
func numbered(size int, head, line, tail string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; b.Len()+len(line)+len(tail)+10 < size; i++ {
		fmt.Fprintf(&b, line, i)
	}
	return b.String() + tail
}

// TestManyProblems checks that an error is never lost among warnings.
func TestManyProblems(t *testing.T) {
	var b strings.Builder
	b.WriteString("pools:\n")
	for i := range 500 {
		fmt.Fprintf(&b, "  p%d: {max_running: 0}\n", i)
	}
	c, err := config.Parse("f", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.Problems); n != 101 || c.Problems[n-1].Msg != "400 further problems not shown" ||
		!c.Problems[n-1].Warning {
		t.Errorf("%d problems, the last is %v", n, c.Problems[n-1])
	}
	if _, err = config.Parse("f", []byte(b.String()+"  q: {weight: 0}\n")); err == nil {
		t.Error("the error was lost")
	}
}

// TestTorn cuts and garbles a file at random: the reader answers it in any case.
func TestTorn(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic on many texts")
	}
	t.Parallel()
	const marks = "{}[]:,#\"' \n-&*|\t\x00\xff0a"
	text := []byte(example(t))
	for seed := range uint64(5000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		torn := append([]byte(nil), text[:rng.IntN(len(text)+1)]...)
		for range rng.IntN(4) {
			if len(torn) > 0 {
				torn[rng.IntN(len(torn))] = marks[rng.IntN(len(marks))]
			}
		}
		roundTrip(t, string(torn))
	}
}

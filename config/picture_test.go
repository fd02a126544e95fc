package config

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"weight", "min", "max", "max_running", "max_job_running", "policy", "pools"}
	for _, c := range []struct{ text, want string }{
		{"wieght", "weight"}, {"Weight", "weight"}, {"minShare", "min"}, {"maxrunning", "max_running"}, {"max-runing",
			"max_running"},
		{"polices", "policy"}, {"pool", "pools"}, {"zebra", ""}, {"", ""}, {"mi", "min"}, {strings.Repeat("weight", 100),
			"weight"},
	} {
		if got := nearest(c.text, known); got != c.want {
			t.Errorf("%.20q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"fair", "fair", 0}, {"fair", "fiar", 1}, {"kitten", "sitting", 3}, {"abc", "cab", 2},
	} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != c.want {
			t.Errorf("%s %s: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestExcerpt checks the column of the caret on a terminal.
func TestExcerpt(t *testing.T) {
	for _, c := range []struct {
		line string
		col  int
		want string
	}{
		{"abc", 2, ">  1 | abc\n        ^\n"},
		{"a\tbc", 3, ">  1 | a bc\n         ^\n"},
		{"世界x", 3, ">  1 | 世界x\n           ^\n"},
		{"e\u0301x", 3, ">  1 | e\u0301x\n        ^\n"},
		{"😀x", 2, ">  1 | 😀x\n         ^\n"},
		{"\x1b[31mx", 6, ">  1 | \ufffd[31mx\n            ^\n"},
		{"a\u202eb", 3, ">  1 | a\ufffdb\n         ^\n"},
		{"abc", 4, ">  1 | abc\n          ^\n"},
		{"abc", 9, ">  1 | abc\n          ^\n"},
		{"", 1, ">  1 |\n       ^\n"},
	} {
		p := pictures{rest: c.line}
		if got := p.excerpt(1, c.col); got != c.want {
			t.Errorf("%q column %d: got\n%swant\n%s", c.line, c.col, got, c.want)
		}
	}
	long := strings.Repeat("x", 500)
	p := pictures{rest: long}
	picture := p.excerpt(1, 300)
	if lines := strings.Split(picture, "\n"); strings.Index(lines[1], "^") != len(">  1 | ")+65 || len(picture) > 300 {
		t.Errorf("got\n%s", picture)
	}
}

func TestExcerptLines(t *testing.T) {
	p := pictures{rest: strings.Repeat("line\n", 12345)}
	p.excerpt(3, 1)
	if got, want := p.excerpt(4, 1), "   2 | line\n   3 | line\n>  4 | line\n       ^\n"; got != want {
		t.Errorf("got\n%s", got)
	}
	if got, want := p.excerpt(12345, 2), " 12343 | line\n 12344 | line\n>12345 | line\n          ^\n"; got != want {
		t.Errorf("got\n%s", got)
	}
}

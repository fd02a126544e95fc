package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/sched"
)

// FuzzParse checks that nothing panics or hangs, that a refusal names a place in the file, and that an accepted file
// means the same when it is written and read again, and suits the scheduler.
func FuzzParse(f *testing.F) {
	pages, _ := filepath.Glob("testdata/reports/*.txt")
	for _, page := range append(pages, "testdata/example.yaml") {
		text, err := os.ReadFile(page)
		if err != nil {
			f.Fatal(err)
		}
		for c := range strings.SplitSeq(string(text), "\n== ") {
			if _, body, ok := strings.Cut(c, "\n"); ok {
				input, _, _ := strings.Cut(body, "\n--\n")
				f.Add(input)
			}
		}
	}
	f.Add(string(config.Default().YAML()))
	f.Fuzz(roundTrip)
}

func roundTrip(t *testing.T, text string) {
	c, err := config.Parse("f", []byte(text))
	if err != nil {
		var found config.Problems
		if !errors.As(err, &found) || found.Text() == "" {
			t.Fatalf("%q: the error is %v", text, err)
		}
		lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(text, "\ufeff")),
			"\n")
		for _, p := range found {
			whole := p.Line == 0 && p.Col == 0
			if !whole && (p.Line < 1 || p.Col < 1 || p.Line > len(lines) || p.Col > len([]rune(lines[p.Line-1]))+1) {
				t.Fatalf("%q: %v is outside of the file", text, p)
			}
		}
		return
	}
	again, err := config.Parse("f", c.YAML())
	if err != nil {
		t.Fatalf("%q: written as\n%s\nit is refused: %v", text, c.YAML(), err)
	}
	if again.Shares.Hash != c.Shares.Hash || string(again.YAML()) != string(c.YAML()) {
		t.Fatalf("%q: written as\n%s\nit is read as\n%s", text, c.YAML(), again.YAML())
	}
	if _, err := sched.New(c.Shares.Sched, time.Unix(0, 0), 1); err != nil {
		t.Fatalf("%q: the scheduler refuses it: %v", text, err)
	}
}

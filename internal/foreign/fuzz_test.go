package foreign_test

import (
	"errors"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/foreign"
)

// slow is much longer than any source may take, even on a busy machine.
const slow = 5 * time.Second

func itoa(n int) string { return strconv.Itoa(n) }

// FuzzHadoop and FuzzSlurm check that nothing panics or hangs, that a refusal names a place in the file, that
// each setting has a line of the file and a plain text, and that the result is a configuration, unless it is
// too large for one.
func FuzzHadoop(f *testing.F) { fuzz(f, foreign.Hadoop) }
func FuzzSlurm(f *testing.F)  { fuzz(f, foreign.Slurm) }

func fuzz(f *testing.F, from string) {
	for _, source := range sources(f) {
		text, err := os.ReadFile(source)
		if err != nil {
			f.Fatal(err)
		}
		if foreign.Detect(text) == from {
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) { convert(t, from, text) })
}

// fuzzing reports whether the fuzzer makes the inputs. Otherwise other tests may keep the machine busy.
func fuzzing() bool { return flag.Lookup("test.fuzz").Value.String() != "" }

func convert(t *testing.T, from, text string) {
	began := time.Now()
	defer func() {
		if took := time.Since(began); took > slow && fuzzing() {
			t.Fatalf("%q took %v", text, took)
		}
	}()
	lines := strings.Count(text, "\n") + 1
	r, err := foreign.Read("f", from, []byte(text), little())
	var refused *foreign.Error
	switch {
	case err == nil:
	case !errors.As(err, &refused) || refused.Line > lines:
		t.Fatalf("%q: %v", text, err)
	default:
		return
	}
	for _, i := range r.Items {
		if i.Line < 0 || i.Line > lines || i.Where == "" || strings.ContainsAny(i.String(), "\n\r\x1b") || i.Note == "" &&
			i.Outcome != foreign.Taken {
			t.Fatalf("%q: line %d: %q", text, i.Line, i)
		}
	}
	if _, err := config.Parse("f", r.YAML); err != nil && len(r.YAML) < 1<<20 {
		t.Fatalf("%q: made of it was\n%s\nwhich is refused: %v", text, r.YAML, err)
	}
}

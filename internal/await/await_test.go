package await_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/await"
)

// witness is a test that records how it failed.
type witness struct {
	testing.TB
	said string
}

func (w *witness) Helper()                           {}
func (w *witness) Fatalf(format string, args ...any) { w.said = fmt.Sprintf(format, args...) }

// TestUntilEndsWithTheCondition checks that Until waits as long as the condition takes.
func TestUntilEndsWithTheCondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		await.Until(t, "a minute is over", func() (any, bool) { return nil, time.Since(began) >= time.Minute })
		if took := time.Since(began); took > time.Minute+time.Second {
			t.Errorf("it waited for %v", took)
		}
	})
}

// TestUntilSaysWhatItSaw checks that Until prints the last value when it gives up.
func TestUntilSaysWhatItSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, looks := &witness{TB: t}, 0
		await.Until(w, "the ship comes", func() (any, bool) { looks++; return fmt.Sprint("look ", looks), false })
		want := fmt.Sprint("until the ship comes; seen last:\nlook ", looks)
		if !strings.HasSuffix(w.said, want) {
			t.Errorf("it says %q, want %q", w.said, want)
		}
		w.said = ""
		await.True(w, "the sun rises", func() bool { return false })
		if !strings.HasSuffix(w.said, "until the sun rises") {
			t.Errorf("it says %q", w.said)
		}
	})
}

// TestWithinLooksOnceMore checks that Within checks once more at the end: the last check may have been long
// ago.
func TestWithinLooksOnceMore(t *testing.T) {
	looked := false
	if !await.Within(0, func() bool { looked = true; return true }) || !looked {
		t.Error("it did not look")
	}
}

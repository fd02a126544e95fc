//go:build real

package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/fairlead/fairlead/internal/api"
)

// looks takes pictures of the page in dark mode, on a phone and in light mode, into the directory FAIRLEAD_SHOTS if it
// is set, and fails if the page is wider than the screen.
func (b *tab) looks(name string) {
	b.t.Helper()
	dir := os.Getenv("FAIRLEAD_SHOTS")
	if dir == "" {
		dir = b.t.TempDir()
	}
	for _, look := range []struct {
		name  string
		width int64
		dark  bool
	}{{"dark", 1280, true}, {"phone", 390, false}, {"light", 1280, false}} {
		b.shot(filepath.Join(dir, name+"-"+look.name+".png"), look.width, look.dark)
		if wide := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
			b.t.Errorf("%s at %d pixels is %d too wide", name, look.width, wide)
		}
	}
}

// TestRealHeldBack checks that the page of a job shows the reasons of its wait and their durations, as a
// picture with values under the pointer and as tables, and that it stays up to date.
func TestRealHeldBack(t *testing.T) {
	l := newLab(t, cluster)
	id := l.submit("ann", api.Spec{Name: "stays", Pool: "physics/curie"})
	alter := func(verb string) {
		r, err := l.client.Jobs.Alter(t.Context(), api.AlterRequest{Verb: verb, Jobs: []int64{id}})
		if err != nil || r.Results[0] != nil {
			t.Fatalf("%s: %+v, %v", verb, r, err)
		}
	}
	b := browse(t)
	alter("hold")
	b.open(fmt.Sprint(l.url, "/jobs/", id))
	b.until(`[...document.querySelectorAll("#held .wide title")].some((t) => /^gate.held: it is held\n.*, from .* until /.test(t.textContent))`)
	alter("release")
	l.node("n1", map[string]int64{"cpu": 4})
	l.until(id, "running")
	b.until(`[...document.querySelectorAll("#held .wide title")].some((t) => t.textContent.startsWith("state.running: it runs"))`)
	want := []string{"waits", "gate.held", "state.running"}
	if got := texts(b, "#held table:first-of-type tbody th code"); !slices.Equal(got, want) {
		t.Errorf("it was held back by %q, want %q", got, want)
	}
	b.do(chromedp.Click("#held-each summary"))
	if got := texts(b, "#held-each tbody code"); !slices.Equal(got,
		[]string{"waits", "gate.held", "waits", "state.running"}) {
		t.Errorf("one after the other: %q", got)
	}
	h, err := l.client.Jobs.History(t.Context(), id, -1)
	if err != nil {
		t.Fatal(err)
	}
	held := 0.0
	for i, e := range h.Events {
		if e.Code == "hold" {
			held = h.Events[i+1].At.Sub(e.At).Seconds()
		}
	}
	if got := numbers(b, `#held tr[data-key="held-gate.held"] td[data-of="duration"] data`); len(got) != 1 || held == 0 ||
		got[0] != held {
		t.Errorf("it was held for %v, by its history %v", got, held)
	}
	b.looks("held")
	b.clean(l.url)
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocsScreens compares the screens on the pages with the screens in the tests of fairlead top, and writes them with
// -update. The note before a screen names the file and the screen in it: <!-- screen: 80x24 start -->.
func TestDocsScreens(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, page := range docPages(t) {
		text := readPage(t, page)
		blocks, _ := blocksOf(text)
		for _, b := range blocks {
			note, ok := strings.CutPrefix(b.note, "screen: ")
			if !ok {
				continue
			}
			shown++
			file, name, _ := strings.Cut(note, " ")
			all, err := os.ReadFile(filepath.Join(rootDir, "internal", "top", "testdata", file+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			_, rest, found := strings.Cut(string(all), "=== "+name+"\n")
			want, _, _ := strings.Cut(rest, "\n--- marked")
			if want += "\n"; !found {
				t.Errorf("%s:%d: there is no screen %q", page, b.line, note)
			} else if b.text != want && *update {
				writePage(t, page, strings.Replace(text, "<!-- "+b.note+" -->\n```text\n"+b.text, "<!-- "+b.note+" -->\n```text\n"+want, 1))
			} else if b.text != want {
				t.Errorf("%s:%d: the screen is not that of the tests; make docs writes it", page, b.line)
			}
		}
	}
	if shown == 0 {
		t.Error("no page shows a screen")
	}
}

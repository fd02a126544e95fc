//go:build real

package report

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/browsertest"
	"github.com/fairlead/fairlead/sched"
)

func TestMain(m *testing.M) {
	status := m.Run()
	browsertest.Close()
	os.Exit(status)
}

// measured is the result of the script below for a page.
type measured struct {
	Window   int // width
	Page     int
	Wide     []string // elements that are wider than their room and do not scroll
	Cut      []string // headings of the columns of the first table that are out of sight
	Pictures int      // visible pictures
	Both     int      // pictures that are visible at both widths or at none
	Sorted   []string // first column after a click on the heading of the mean wait
	Said     string   // readout of the pointer over the first picture
}

// measure reads the layout of a page as a person sees it, and clicks.
const measure = `
const seen = (e) => e.getClientRects().length > 0;
const table = document.querySelector("table"), room = table.parentElement.getBoundingClientRect();
const m = {Window: innerWidth, Page: document.documentElement.scrollWidth, Wide: [], Cut: [], Pictures: 0, Both: 0, Sorted: [], Said: ""};
for (const e of document.querySelectorAll("main *"))
  if (seen(e) && !e.closest(".scroll") && !e.closest("svg") && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0) m.Wide.push(e.tagName + " " + e.textContent.slice(0, 40));
for (const h of table.tHead.rows[0].cells) if (h.getBoundingClientRect().right > room.right + 1) m.Cut.push(h.textContent);
for (const f of document.querySelectorAll("figure.wide")) {
  if (f.closest("details:not([open])")) continue;
  const n = seen(f) + seen(f.nextElementSibling);
  m.Pictures += n;
  if (n !== 1) m.Both++;
}
[...table.tHead.rows[0].cells].find((h) => h.textContent === "mean wait").querySelector("button").click();
for (const r of table.tBodies[0].rows) m.Sorted.push(r.cells[0].textContent);
const svg = [...document.querySelectorAll("svg.fl-plot")].find(seen), at = svg.getBoundingClientRect();
svg.dispatchEvent(new PointerEvent("pointermove", {clientX: at.left + at.width / 2, clientY: at.top + at.height / 2, bubbles: true}));
m.Said = document.getElementById("value").textContent;
return m;`

// look opens the page of a file in a window of this width, and measures it.
func look(t *testing.T, tab context.Context, file string, width int) measured {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab, await.Patience)
	defer cancel()
	open := chromedp.Navigate("file://" + file)
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(int64(width), 900), open); err != nil {
		t.Fatal(err)
	}
	m, err := chromedp.Run(ctx, chromedp.Evaluate[measured]("(() => {"+measure+"})()"))
	if err != nil {
		t.Fatalf("at %d pixels the page cannot be measured: %v", width, err)
	}
	return m
}

// TestRealInBrowser checks that nothing is wider than its window, that the summary shows all its columns on a
// screen, that each picture is visible once, that a click sorts a table, and that pictures show their values.
func TestRealInBrowser(t *testing.T) {
	w := some(800)
	r := &Report{Title: strings.Repeat("a_long_name_of_a_trace", 8),
		Command: "fairlead sim compare " + strings.Repeat("some.swf ", 40), Notes: []string{"2 lines were left out."}}
	for _, x := range []struct {
		policy string
		p      sched.Backfill
	}{{"fifo", sched.FCFS}, {"fair", sched.FirstFit}, {"fairtree", sched.EASY}, {"multifactor", sched.Conservative}} {
		run := simulate(t, w, x.policy, x.p)
		run.Name = x.policy + "+" + x.p.String()
		r.Runs = append(r.Runs, run)
	}
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	tab := browsertest.Tab(t)
	for _, width := range []int{1200, 1024, 500} {
		m := look(t, tab, file, width)
		if m.Page > m.Window || len(m.Wide) > 0 {
			t.Errorf("at %d pixels the page is %d wide; too wide are %q", m.Window, m.Page, m.Wide)
		}
		if width >= 1024 && len(m.Cut) > 0 {
			t.Errorf("at %d pixels the summary hides %q", m.Window, m.Cut)
		}
		if m.Pictures < 8 || m.Both > 0 {
			t.Errorf("at %d pixels %d pictures are seen, %d of them at both widths or at none", m.Window, m.Pictures, m.Both)
		}
		if len(m.Sorted) != 4 || m.Sorted[0] != "fifo+fcfs" {
			t.Errorf("at %d pixels, by mean wait, the longest first: %q", m.Window, m.Sorted)
		}
		if !strings.Contains(m.Said, "fair+first-fit  ") {
			t.Errorf("at %d pixels the pointer reads %q", m.Window, m.Said)
		}
	}
}

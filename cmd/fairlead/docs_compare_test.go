package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/sim"
	simreport "github.com/fairlead/fairlead/internal/sim/report"
)

const (
	// comparePagePath is the page that compares policies on two traces.
	comparePagePath = "docs/explanation/comparing-policies.md"
	// comparePictures is the folder of the page's pictures.
	comparePictures = rootDir + "/docs/explanation/comparing-policies"
)

// sharedTraces is the folder of logs of real machines, used if it exists: FAIRLEAD_TRACES, or a folder beside
// the repository.
var sharedTraces = cmp.Or(os.Getenv("FAIRLEAD_TRACES"), rootDir+"/../shared/traces")

// comparedInDocs lists the policies of the page.
var comparedInDocs = []string{"fifo", "easy", "conservative", "fairtree+easy", "fair+easy", "deficit+easy", "lottery+easy"}

// TestDocsComparingPolicies replays the traces of the page and compares its tables and pictures; -update rewrites them.
// After -update, reread the prose of the page: it quotes numbers of both.
func TestDocsComparingPolicies(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("half a minute of arithmetic")
	}
	for _, name := range []string{"kth-sp2", "sdsc-sp2"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(sharedTraces, name+".swf.gz")
			if _, err := os.Stat(file); err != nil {
				t.Skip("no traces in " + sharedTraces)
			}
			var out bytes.Buffer
			s := &simCompareCmd{simFlags: simFlags{app: &app{out: &out, errs: &out}, nodes: 1, load: 1, overrun: "kill", oversize: "refuse", seed: 1}, policies: comparedInDocs}
			c := compared(t, s, file)
			if err := s.print(c, time.Second); err != nil {
				t.Fatal(err)
			}
			_, table, _ := strings.Cut(out.String(), "\n\n")
			table, _, _ = strings.Cut(table, "SERVED: ")
			checkTable(t, name, table)
			for file, f := range docPictures(t, name, c) {
				checkPicture(t, filepath.Join(comparePictures, name+"-"+file+".svg"), plot.SVG(f))
			}
		})
	}
}

func compared(t *testing.T, s *simCompareCmd, file string) *sim.Comparison {
	t.Helper()
	runs, setups, err := s.candidates()
	if err != nil {
		t.Fatal(err)
	}
	trace, err := s.read(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	c := &sim.Comparison{Trace: file, Report: trace.report, Runs: runs}
	if err := s.simulateAll(t.Context(), trace, c, setups); err != nil {
		t.Fatal(err)
	}
	return c
}

// docPictures returns the pictures of the page: some of all runs, and some of single runs.
func docPictures(t *testing.T, name string, c *sim.Comparison) map[string]plot.Figure {
	t.Helper()
	const width = 860
	r := simreport.Report{}
	byName := map[string]simreport.Run{}
	for _, x := range c.Runs {
		run := simreport.Run{Name: x.Name, Result: x.Result}
		r.Runs, byName[x.Name] = append(r.Runs, run), run
	}
	pictures := map[string]plot.Figure{"waits": r.Waits(width), "kinds": r.Kinds(width)}
	if name != "kth-sp2" {
		pictures["queue"] = r.Depth(width)
		return pictures
	}
	const day = 24 * 60 * 60
	from := c.Runs[0].Workload.Jobs[0].Submit + 15*day
	for file, run := range map[string]string{"fcfs": "fifo+fcfs", "easy": "fifo+easy"} {
		gantt, err := r.Gantt(byName[run], from, from+2*day, width)
		if err != nil {
			t.Fatal(err)
		}
		pictures["schedule-"+file] = gantt
	}
	for file, run := range map[string]string{"easy": "fifo+easy", "fairtree": "fairtree+easy"} {
		for i, p := range byName[run].Series.Pools {
			if p.Name == "u3" {
				pictures["u3-"+file] = byName[run].Share(i, width)
			}
		}
	}
	return pictures
}

// checkPicture compares a picture of the page, or writes it with -update.
func checkPicture(t *testing.T, file, svg string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if was, err := os.ReadFile(file); err != nil || string(was) != svg {
		t.Errorf("%s is not what the trace gives now (%v): make docs draws it anew", file, err)
	}
}

// checkTable compares a table of the page, or writes it with -update.
func checkTable(t *testing.T, name, table string) {
	t.Helper()
	text := readPage(t, comparePagePath)
	blocks, _ := blocksOf(text)
	for _, b := range blocks {
		if b.note != "table: "+name {
			continue
		}
		if b.text != table {
			if !*update {
				t.Errorf("%s: the table of %s is now\n%s", comparePagePath, name, table)
				return
			}
			writePage(t, comparePagePath, strings.Replace(text, b.text, table, 1))
		}
		return
	}
	t.Errorf("%s has no table of %s", comparePagePath, name)
}

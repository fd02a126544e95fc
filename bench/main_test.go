package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// must runs the command. It skips the test if PostgreSQL is not installed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	err := run(t.Context(), args, &out, &errs)
	if err != nil && strings.Contains(err.Error(), "not installed") && os.Getenv("FAIRLEAD_NO_SKIP") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err, errs.String())
	}
	return out.String()
}

// TestSmoke runs each benchmark for an instant: all contestants take part in everything, and do the measured work.
func TestSmoke(t *testing.T) {
	var r report
	if err := json.Unmarshal([]byte(must(t, "--smoke", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	if got, want := len(r.Stores), len(contestants)*len(smoke.Pools)*len(smoke.Batches)*len(smoke.Claimers); got != want {
		t.Errorf("%d figures of stores, want %d", got, want)
	}
	for _, f := range r.Stores {
		if f.PerSecond <= 0 {
			t.Errorf("%+v: it did nothing", f)
		}
	}
	if got, want := len(r.Whole), 2*2*len(smoke.Pools); got != want {
		t.Errorf("%d figures of whole paths, want %d", got, want)
	}
	for _, l := range r.Latency {
		if l.Median <= 0 || l.Samples != smoke.Samples {
			t.Errorf("%+v: want %d samples", l, smoke.Samples)
		}
	}
	for _, table := range r.tables() {
		var text bytes.Buffer
		if err := table.markdown(&text); err != nil || !strings.Contains(text.String(), "| ---: |") {
			t.Errorf("%s: %v\n%s", table.title, err, &text)
		}
	}
}

// TestBloat sends some jobs through the run that watches the sizes of tables.
func TestBloat(t *testing.T) {
	if text := must(t, "--bloat", "3000", "--bloat-every", "3000"); !strings.Contains(text, "3,000 jobs") || !strings.Contains(text, "ended") {
		t.Errorf("it printed:\n%s", text)
	}
}

// TestUsage checks that wrong arguments are refused before a database is started.
func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"--pools", "0"}, {"--batches", "x"}, {"--part", "speed"}, {"more"}} {
		var out, errs bytes.Buffer
		if err := run(t.Context(), args, &out, &errs); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}

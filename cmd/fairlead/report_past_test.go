package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/account"
	"github.com/fairlead/fairlead/internal/api"
)

// reportPage is a directory for pages that people can look at.
var reportPage = flag.String("report-page", "", "write the pages of the reports into this directory")

// quarter returns a report on three months and three pools, one with a malicious name.
func quarter() *api.PastReport {
	day := func(m time.Month) time.Time { return time.Date(2026, m, 1, 0, 0, 0, 0, time.UTC) }
	doc := &api.PastReport{Version: 1, At: day(4), Since: day(1), Until: day(4), Unit: "cpu", By: []string{"month", "pool"}}
	months := []string{"2026-01", "2026-02", "2026-03"}
	for k, had := range [][3]float64{{720, 280, 0}, {600, 350, 50}, {450, 450, 100}} {
		m := months[k]
		for i, pool := range []string{"physics", "biology", `=cmd|' /C calc'!A1<script>alert(1)</script>` + "\x1b[31m"} {
			r := account.Row{Month: m, Pool: pool, Jobs: int64(had[i]), Succeeded: int64(had[i]) * 3, Failed: int64(i), UnitSeconds: had[i] * 3600, CPUSeconds: had[i] * 3000}
			r.Started, r.MeanWait, r.P50Wait, r.P95Wait, r.MaxWait = int64(had[i])*3, 700, 240, 1800*float64(i+1), 86400
			if share := []float64{0.6, 0.4}; i < 2 { // the share of the third pool is unknown
				r.Share, r.ShareNow = &share[i], k == 0
			}
			doc.Rows = append(doc.Rows, r)
		}
	}
	return doc
}

// TestPastReports checks that each report has its numbers in all formats, and that malicious names are
// harmless.
func TestPastReports(t *testing.T) {
	t.Parallel()
	doc := quarter()
	for name, c := range map[string]struct {
		make sheetOf
		csv  []string
	}{
		"usage":    {usageSheet, []string{"month,pool,jobs,succeeded,failed,cancelled,unit_seconds,part,cpu_seconds", "2026-01,physics,720,2160,0,0,2592000,0.72,2160000"}},
		"waits":    {waitsSheet, []string{"month,pool,started,mean_wait_seconds,p50_wait_seconds,p95_wait_seconds,max_wait_seconds", "2026-03,biology,1350,700,240,3600,86400"}},
		"fairness": {fairnessSheet, []string{"month,pool,share,due_unit_seconds,unit_seconds,part,points", "2026-01,physics,0.6,2160000,2592000,0.72,12"}},
	} {
		s := c.make(doc)
		var csv, html, table bytes.Buffer
		for _, err := range []error{s.csv(&csv, &listing{}), s.html(&html, doc), s.table().Print(&table)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range c.csv {
			if !strings.Contains(csv.String(), line+"\n") {
				t.Errorf("%s: no line %s in\n%s", name, line, csv.String())
			}
		}
		if strings.Contains(csv.String(), ",=cmd") || strings.Contains(html.String(), "<script>alert") || strings.Contains(csv.String()+html.String()+table.String(), "\x1b") {
			t.Errorf("%s: a name of a pool is not harmless", name)
		}
		if n := strings.Count(html.String(), "<svg"); n < 2 || !strings.Contains(html.String(), "Content-Security-Policy") || strings.Contains(strings.ReplaceAll(html.String(), "http://www.w3.org/2000/svg", ""), "://") {
			t.Errorf("%s: the page has %d pictures, or needs something from elsewhere", name, n)
		}
		if *reportPage != "" {
			if err := os.WriteFile(filepath.Join(*reportPage, name+".html"), html.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestWhoHadNothingCounts checks that a pool without usage is listed, and lowers Jain's index.
func TestWhoHadNothingCounts(t *testing.T) {
	t.Parallel()
	doc := quarter()
	half, quarter := 0.5, 0.25
	doc.By, doc.Rows = []string{"pool"}, []account.Row{
		{Pool: "biology", Jobs: 1, UnitSeconds: 7200, Share: &half}, {Pool: "chemistry", Jobs: 1, UnitSeconds: 3600, Share: &quarter}, {Pool: "physics", Share: &quarter},
	}
	rows, _, jains := fairOf(doc)
	if p := rows[2]; p.Due != 2700 || p.Part != 0 || p.Points != -25 {
		t.Errorf("physics: %+v", p)
	}
	if got := jains[""]; math.Abs(got-2.0/3) > 1e-9 { // two of three have equal ratios
		t.Errorf("Jain's index is %v", got)
	}
	var csv bytes.Buffer
	if err := fairnessSheet(doc).csv(&csv, &listing{}); err != nil || !strings.Contains(csv.String(), "physics,0.25,2700,0,0,-25\n") {
		t.Errorf("%v\n%s", err, csv.String())
	}
}

// TestWaitsAreRoundedOnce checks that pictures and tables write a wait the same way.
func TestWaitsAreRoundedOnce(t *testing.T) {
	t.Parallel()
	doc := quarter()
	doc.By, doc.Rows = []string{"pool"}, []account.Row{{Pool: "physics", Started: 3, MeanWait: 100, P50Wait: 475.6, P95Wait: 484.7, MaxWait: 3599.8}}
	s := waitsSheet(doc)
	var html bytes.Buffer
	if err := s.html(&html, doc); err != nil {
		t.Fatal(err)
	}
	_, picture, _ := strings.Cut(html.String(), "<svg")
	picture, rest, _ := strings.Cut(picture, "</svg>")
	for i, want := range []string{"7m56s", "8m5s"} {
		if text := s.rows[0][s.names+2+i].text; text != want || !strings.Contains(picture, ">"+want+"<") || !strings.Contains(rest, want) {
			t.Errorf("the table says %s, not %s, or the picture another", text, want)
		}
	}
	if text := s.rows[0][s.names+4].text; text != "1h" {
		t.Errorf("the longest is %s", text)
	}
}

// TestPastReportOfServer checks the numbers of a server's jobs, through the API.
func TestPastReportOfServer(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s := newBusyServer(t, ctx)
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	client, err := api.Dial(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	q := api.PastQuery{Since: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour), By: []string{"user", "kind", "pool"}}
	doc, err := client.PastReport(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Rows) != 1 || doc.Rows[0].User != "ann" || doc.Rows[0].Kind != "check" || doc.Rows[0].Pool != "physics" || doc.Rows[0].Started != 1 || doc.Rows[0].UnitSeconds <= 0 {
		t.Errorf("%+v", doc)
	}
	q.By = []string{"colour"}
	if _, err := client.PastReport(ctx, q); err == nil || !strings.Contains(err.Error(), "known: month, pool, user, kind") {
		t.Errorf("an unknown dimension: %v", err)
	}
	q.By, q.Zone = nil, "Nowhere/Else"
	if _, err := client.PastReport(ctx, q); err == nil || !strings.Contains(fmt.Sprint(err), "time zone") {
		t.Errorf("an unknown zone: %v", err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestCSVColumns: -o chooses the columns of CSV, by the names in tables or in CSV; a file name is not mistaken for a
// column.
func TestCSVColumns(t *testing.T) {
	t.Parallel()
	doc := quarter()
	doc.By, doc.Rows = []string{"pool"}, []account.Row{{Pool: "physics", Jobs: 2, Succeeded: 3, CPUSeconds: 4}}
	s := usageSheet(doc)
	var out bytes.Buffer
	err := s.csv(&out, &listing{columns: []string{"SUCCEEDED", "pool", "cpu_seconds"}})
	if want := "succeeded,pool,cpu_seconds\n3,physics,4\n"; err != nil || out.String() != want {
		t.Errorf("%q, %v; want %q", out.String(), err, want)
	}
	err = s.csv(&out, &listing{columns: []string{"usage.csv"}})
	if err == nil || !strings.Contains(err.Error(), "to write to a file") {
		t.Error("a file as a column:", err)
	}
}

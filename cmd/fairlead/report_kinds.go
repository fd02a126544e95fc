package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/account"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/plot"
)

// newSheet returns a sheet that begins with the columns that group its rows.
func newSheet(title string, doc *api.PastReport, columns ...sheetColumn) *sheet {
	s := &sheet{title: title}
	for _, by := range account.Dimensions {
		if slices.Contains(doc.By, by) {
			s.columns = append(s.columns, sheetColumn{by, by, ""})
		}
	}
	s.names = len(s.columns)
	s.columns = append(s.columns, columns...)
	return s
}

// add adds a row.
func (s *sheet) add(r *account.Row, cells ...sheetCell) {
	var row []sheetCell
	for _, c := range s.columns[:s.names] {
		cell := wordCell(map[string]string{"month": r.Month, "user": r.User, "kind": r.Kind}[c.key])
		if c.key == "pool" {
			cell = poolCell(r.Pool)
		}
		row = append(row, cell)
	}
	s.rows = append(s.rows, append(row, cells...))
}

// partOf returns the part of a total, or 0 of nothing.
func partOf(of, all float64) float64 {
	if all == 0 {
		return 0
	}
	return of / all
}

// ofAll names the total to which parts refer.
func ofAll(doc *api.PastReport) string {
	if slices.Contains(doc.By, "month") {
		return "of the cluster's usage in the month"
	}
	return "of the cluster's usage"
}

func usageSheet(doc *api.PastReport) *sheet {
	s := newSheet("Usage", doc,
		sheetColumn{"jobs", "jobs", "jobs with a task that began, ran or ended"},
		sheetColumn{"succeeded", "succeeded", "tasks that succeeded"},
		sheetColumn{"failed", "failed", "tasks that failed"},
		sheetColumn{"cancelled", "cancelled", "tasks that were canceled"},
		sheetColumn{doc.Unit + "-hours", "unit_seconds", "time of tasks, times their requests"},
		sheetColumn{"part", "part", ofAll(doc)},
		sheetColumn{"used cpu-hours", "cpu_seconds", "processor time of the tasks that ended"})
	all := account.ByMonth(doc.Rows)
	for i := range doc.Rows {
		r := &doc.Rows[i]
		p := partOf(r.UnitSeconds, all[r.Month])
		s.add(r, countCell(r.Jobs), countCell(r.Succeeded), countCell(r.Failed), countCell(r.Cancelled),
			valueCell(r.UnitSeconds, hours(r.UnitSeconds)), valueCell(p, percent(p)), valueCell(r.CPUSeconds, hours(r.CPUSeconds)))
	}
	s.figures = append(s.figures, s.bars("Usage", doc.Unit+"-hours of tasks.", plot.Number, 1.0/3600, s.names+4),
		s.bars("Part of the cluster's usage", "O"+ofAll(doc)[1:]+".", plot.Percent, 1, s.names+5))
	return s
}

func waitsSheet(doc *api.PastReport) *sheet {
	s := newSheet("Waits", doc,
		sheetColumn{"started", "started", "tasks that started for the first time"}, sheetColumn{"mean", "mean_wait_seconds", "on average"},
		sheetColumn{"median", "p50_wait_seconds", "median wait"},
		sheetColumn{"p95", "p95_wait_seconds", "95th percentile of waits"},
		sheetColumn{"longest", "max_wait_seconds", ""})
	wait := func(v float64) sheetCell { return valueCell(v, plot.Duration(v)) } // in the format of the pictures
	for i := range doc.Rows {
		if r := &doc.Rows[i]; r.Started > 0 {
			s.add(r, countCell(r.Started), wait(r.MeanWait), wait(r.P50Wait), wait(r.P95Wait), wait(r.MaxWait))
		}
	}
	s.figures = append(s.figures, s.bars("Waits before the first start", "Median and 95th percentile of the tasks.", plot.Seconds, 1, s.names+2, s.names+3))
	return s
}

// fairPast is a row of the report on fairness.
type fairPast struct {
	Month       string   `json:"month,omitempty"`
	Pool        string   `json:"pool"`
	Share       *float64 `json:"share"`               // nil: unknown
	ShareNow    bool     `json:"share_now,omitempty"` // share is the current one
	Due         float64  `json:"due_unit_seconds"`
	UnitSeconds float64  `json:"unit_seconds"`
	Part        float64  `json:"part"`
	Points      float64  `json:"points"`
}

// fairOf returns the rows, and by month Jain's index of the usage of pools divided by their shares.
func fairOf(doc *api.PastReport) (rows []fairPast, months []string, jains map[string]float64) {
	all := account.ByMonth(doc.Rows)
	ratios := map[string][]float64{}
	rows, jains = []fairPast{}, map[string]float64{}
	for i := range doc.Rows {
		r := &doc.Rows[i]
		f := fairPast{Month: r.Month, Pool: r.Pool, Share: r.Share, ShareNow: r.ShareNow, UnitSeconds: r.UnitSeconds, Part: partOf(r.UnitSeconds, all[r.Month])}
		if f.Share != nil {
			f.Due, f.Points = *f.Share*all[r.Month], 100*(f.Part-*f.Share)
		}
		rows = append(rows, f)
		if f.Share == nil || *f.Share <= 0 {
			continue
		}
		if len(ratios[r.Month]) == 0 {
			months = append(months, r.Month)
		}
		ratios[r.Month] = append(ratios[r.Month], f.Part / *f.Share)
	}
	for _, m := range months {
		jains[m] = jainOf(ratios[m])
	}
	return rows, months, jains
}

// fairnessSheet compares the usage of pools with the shares that applied at the time.
func fairnessSheet(doc *api.PastReport) *sheet {
	s := newSheet("Shares and usage", doc,
		sheetColumn{"share", "share", "of the cluster, at that time"},
		sheetColumn{"entitled", "due_unit_seconds", "the share of the cluster's usage, in " + doc.Unit + "-hours"},
		sheetColumn{doc.Unit + "-hours", "unit_seconds", "time of tasks, times their requests"},
		sheetColumn{"had", "part", ofAll(doc)}, sheetColumn{"points", "points", "part used minus share, in percentage points"})
	rows, months, jains := fairOf(doc)
	var now []string
	for i := range rows {
		f := &rows[i]
		share, due, points := wordCell("-"), wordCell("-"), wordCell("-") // the pool existed for a time only
		if f.Share != nil {
			share, due, points = valueCell(*f.Share, percent(*f.Share)), valueCell(f.Due, hours(f.Due)), valueCell(f.Points, fmt.Sprintf("%+.1f", f.Points))
		}
		if f.ShareNow && !slices.Contains(now, f.Pool) {
			now = append(now, f.Pool)
		}
		s.add(&doc.Rows[i], share, due, valueCell(f.UnitSeconds, hours(f.UnitSeconds)), valueCell(f.Part, percent(f.Part)), points)
	}
	var parts []string
	for _, m := range months {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %.2f", m, jains[m])))
	}
	if len(parts) > 0 {
		s.notes = append(s.notes, "Jain's index of the usage of pools divided by their shares, where 1 is fair: "+strings.Join(parts, ", ")+".")
	}
	s.notes = append(s.notes, "Each share is the mean of the pool's shares in this time, weighted by the usage of all pools. A pool that asked for less than its share used less, and other pools used the rest, which is not unfair. Pools that asked for something and got nothing are listed with 0. Pools without jobs are not listed, so shares may add up to less than 100%. For the entitlement under the ideal scheduler, see fairlead report fairness --window.")
	if len(now) > 0 {
		s.notes = append(s.notes, "The server has no record of the shares that some pools had then, and shows their present shares: "+namesOf(now)+".")
	}
	s.json = func(doc *api.PastReport) any {
		return map[string]any{"version": api.Version, "at": doc.At, "since": doc.Since, "until": doc.Until, "unit": doc.Unit, "by": doc.By, "rows": rows, "jain": jains}
	}
	s.figures = append(s.figures, s.bars("Shares and usage", "Of the cluster.", plot.Percent, 1, s.names, s.names+3))
	return s
}

// namesOf names the first of many pools.
func namesOf(pools []string) string {
	const most = 10
	text := plain.Line(strings.Join(pools[:min(most, len(pools))], ", "))
	if len(pools) > most {
		text += fmt.Sprintf(" and %d more", len(pools)-most)
	}
	return text
}

// jainOf returns Jain's index: 1 if all values are equal.
func jainOf(x []float64) float64 {
	var sum, squares float64
	for _, v := range x {
		sum, squares = sum+v, squares+v*v
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(x)) * squares)
}

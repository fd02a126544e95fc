package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/account"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plot"
)

// newSheet is a sheet whose first columns are those by which was summed up.
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
		row = append(row, wordCell(map[string]string{"month": r.Month, "pool": r.Pool, "user": r.User, "kind": r.Kind}[c.key]))
	}
	s.rows = append(s.rows, append(row, cells...))
}

// totals are the units' time of each month, or of all if there are no months.
func totals(doc *api.PastReport) map[string]float64 {
	all := map[string]float64{}
	for _, r := range doc.Rows {
		all[r.Month] += r.UnitSeconds
	}
	return all
}

func partOf(of, all float64) float64 {
	if all == 0 {
		return 0
	}
	return of / all
}

func usageSheet(_ context.Context, _ *api.Client, doc *api.PastReport) (*sheet, error) {
	s := newSheet("What was used", doc,
		sheetColumn{"jobs", "jobs", "of which a task began, ran or ended"},
		sheetColumn{"succeeded", "succeeded", "tasks that ended so"}, sheetColumn{"failed", "failed", "tasks"}, sheetColumn{"cancelled", "cancelled", "tasks"},
		sheetColumn{doc.Unit + "-hours", "unit_seconds", "time that tasks had, times what they asked for"},
		sheetColumn{"part", "part", "of all in the month"},
		sheetColumn{"used cpu-hours", "cpu_seconds", "processor time of the tasks that ended"})
	all := totals(doc)
	for i := range doc.Rows {
		r := &doc.Rows[i]
		p := partOf(r.UnitSeconds, all[r.Month])
		s.add(r, countCell(r.Jobs), countCell(r.Succeeded), countCell(r.Failed), countCell(r.Cancelled),
			valueCell(r.UnitSeconds, hours(r.UnitSeconds)), valueCell(p, percent(p)), valueCell(r.CPUSeconds, hours(r.CPUSeconds)))
	}
	s.figures = append(s.figures, s.bars("What each had", doc.Unit+"-hours that tasks had.", plot.Number, 1.0/3600, s.names+4), s.bars("What part of all", "Of all in the month.", plot.Percent, 1, s.names+5))
	return s, nil
}

func waitsSheet(_ context.Context, _ *api.Client, doc *api.PastReport) (*sheet, error) {
	s := newSheet("How long was waited", doc,
		sheetColumn{"started", "started", "tasks that started for the first time"}, sheetColumn{"mean", "mean_wait_seconds", "on average"},
		sheetColumn{"half", "p50_wait_seconds", "half waited at most so long"}, sheetColumn{"19 of 20", "p95_wait_seconds", "19 of 20 waited at most so long"},
		sheetColumn{"longest", "max_wait_seconds", ""})
	wait := func(v float64) sheetCell { return valueCell(v, span(seconds(v))) }
	for i := range doc.Rows {
		if r := &doc.Rows[i]; r.Started > 0 {
			s.add(r, countCell(r.Started), wait(r.MeanWait), wait(r.HalfWait), wait(r.MostWait), wait(r.Longest))
		}
	}
	s.figures = append(s.figures, s.bars("Waits before the first start", "Half of the tasks, and 19 of 20, waited at most so long.", plot.Seconds, 1, s.names+2, s.names+3))
	return s, nil
}

// fairPast is a row of the report on fairness.
type fairPast struct {
	Month       string  `json:"month,omitempty"`
	Pool        string  `json:"pool"`
	Share       float64 `json:"share"`
	UnitSeconds float64 `json:"unit_seconds"`
	Part        float64 `json:"part"`
	Points      float64 `json:"points"`
}

// fairnessSheet compares what pools had with the shares that are in force.
func fairnessSheet(ctx context.Context, client *api.Client, doc *api.PastReport) (*sheet, error) {
	shares, err := client.Shares(ctx, "")
	if err != nil {
		return nil, err
	}
	of := map[string]float64{}
	for _, p := range shares.Pools {
		of[p.Path] = p.Share
	}
	s := newSheet("What was due, and what was had", doc,
		sheetColumn{"share", "share", "of the whole, as it is in force now"}, sheetColumn{doc.Unit + "-hours", "unit_seconds", "time that tasks had, times what they asked for"},
		sheetColumn{"had", "part", "of all in the month"}, sheetColumn{"points", "points", "had less share, in percentage points"})
	all := totals(doc)
	rows := []fairPast{}
	ratios := map[string][]float64{}
	months := []string{}
	for i := range doc.Rows {
		r := &doc.Rows[i]
		f := fairPast{Month: r.Month, Pool: r.Pool, Share: of[r.Pool], UnitSeconds: r.UnitSeconds, Part: partOf(r.UnitSeconds, all[r.Month])}
		f.Points = 100 * (f.Part - f.Share)
		rows = append(rows, f)
		if f.Share > 0 {
			if len(ratios[r.Month]) == 0 {
				months = append(months, r.Month)
			}
			ratios[r.Month] = append(ratios[r.Month], f.Part/f.Share)
		}
		share, points := valueCell(f.Share, percent(f.Share)), valueCell(f.Points, fmt.Sprintf("%+.1f", f.Points))
		if _, known := of[r.Pool]; !known { // it came by, and is not there any more
			share, points = wordCell("-"), wordCell("-")
		}
		s.add(r, share, valueCell(r.UnitSeconds, hours(r.UnitSeconds)), valueCell(f.Part, percent(f.Part)), points)
	}
	jains := map[string]float64{}
	var parts []string
	for _, m := range months {
		jains[m] = jainOf(ratios[m])
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %.2f", m, jains[m])))
	}
	s.notes = append(s.notes, "Jain's index of what pools had over their shares, where 1 is fair: "+strings.Join(parts, ", ")+".")
	s.notes = append(s.notes, "Shares are those in force now. A pool that wanted less than its share had less, and others had what it left: that is no fault. What was due from the ideal scheduler is in fairlead report fairness --window.")
	s.json = func(doc *api.PastReport) any {
		return map[string]any{"version": api.Version, "at": doc.At, "since": doc.Since, "until": doc.Until, "unit": doc.Unit, "by": doc.By, "rows": rows, "jain": jains}
	}
	s.figures = append(s.figures, s.bars("Share and what was had", "Of the whole.", plot.Percent, 1, s.names, s.names+2))
	return s, nil
}

// jainOf is Jain's index: 1 if all are alike.
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

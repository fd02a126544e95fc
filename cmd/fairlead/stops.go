package main

import (
	"context"
	"fmt"
	"github.com/fairlead/fairlead/internal/units"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/why"
)

// listStops lists the tasks that were stopped so that others got their room, with what
// that cost and what it was for.
func (h *history) listStops(ctx context.Context, client *api.Client) error {
	since, err := units.ParsePast(h.since, time.Now())
	if err != nil {
		return usagef("--since: %w", err)
	}
	list, err := client.Stops(ctx, since, h.job, h.limit)
	if err != nil {
		return err
	}
	if h.json {
		return h.printJSON(list)
	}
	t := table.New(table.Column{Name: "WHEN"}, table.Column{Name: "RULE"}, table.Column{Name: "JOB", Right: true}, table.Column{Name: "POOL"},
		table.Column{Name: "RAN", Right: true}, table.Column{Name: "LOST", Right: true}, table.Column{Name: "FOR"}, table.Column{Name: "HAD"},
		table.Column{Name: "OWED", Right: true}, table.Column{Name: "ROOM FOR", Right: true}, table.Column{Name: "SAFE UNTIL"})
	for i := range list.Stops {
		t.Row(stopRow(&list.Stops[i], list.At)...)
	}
	if err := h.print(&h.listing, t); err != nil {
		return err
	}
	if h.terminal() && !h.noHeader && len(list.Stops) > 0 {
		fmt.Fprintln(h.out, priceOf(list.Stops))
	}
	return nil
}

func stopRow(s *why.Stop, now time.Time) []any {
	room, safe := "-", "-"
	if s.Next > 0 {
		room = fmt.Sprint(s.Next)
	}
	if s.Safe.After(s.At) {
		safe = clock(s.Safe, now)
	}
	had := fmt.Sprintf("%s of %s %s", why.Short(s.Running), why.Short(s.Goal), s.Resource)
	return []any{clock(s.At, now), s.Rule, s.Job, s.Pool, span(seconds(s.Seconds)), why.Amount(s.Lost, s.Unit), dash(s.For), had, why.Amount(s.Owed, s.Unit), room, safe}
}

// priceOf sums up what was lost by each rule.
func priceOf(stops []why.Stop) string {
	lost, n := map[string]float64{}, map[string]int{}
	for i := range stops {
		lost[stops[i].Rule] += stops[i].Lost
		n[stops[i].Rule]++
	}
	var parts []string
	for _, rule := range slices.Sorted(maps.Keys(n)) {
		parts = append(parts, fmt.Sprintf("%s: tasks stopped %d, lost %s", rule, n[rule], why.Amount(lost[rule], stops[0].Unit)))
	}
	return strings.Join(parts, " · ")
}

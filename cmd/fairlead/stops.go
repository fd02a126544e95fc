package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

func stopRow(s *why.Stop, now time.Time) []any {
	room, safe := "-", "-"
	if s.Next > 0 {
		room = fmt.Sprint(s.Next)
	}
	if s.Safe.After(s.At) {
		safe = clock(s.Safe, now)
	}
	had := fmt.Sprintf("%s of %s %s", why.Short(s.Running), why.Short(s.Goal), s.Resource)
	return []any{clock(s.At, now), s.Rule, s.Job, words.Pool(s.Pool), span(seconds(s.Seconds)), why.Amount(s.Lost, s.Unit), dash(s.For), had, why.Amount(s.Owed, s.Unit), room, safe}
}

// priceOf sums up the work that each rule lost.
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

package words

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/why"
)

// Weight shows the weight of a pool, and what it is made of while the pool is boosted.
func Weight(p *fairlead.PoolView) string {
	text := why.Short(p.Weight)
	if len(p.Boosts) == 0 {
		return text
	}
	text += "=" + why.Short(p.BaseWeight)
	for _, b := range p.Boosts {
		text += "x" + why.Short(b.Factor)
	}
	return text
}

// Owed writes slot-seconds as hours, with their sign.
func Owed(slotSeconds float64) string {
	hours := slotSeconds / 3600
	switch {
	case math.Abs(hours) < 0.005:
		return "0"
	case math.Abs(hours) < 10:
		return fmt.Sprintf("%+.2f", hours)
	}
	return fmt.Sprintf("%+.1f", hours)
}

// Fairness sums up how fair things are and have been.
func Fairness(doc *api.Shares) string {
	day := doc.Fairness.Day
	worst := "none"
	if day.Worst != "" && day.WorstPoints < -0.05 {
		worst = fmt.Sprintf("%s %.1f points (owed %s %s-h)", day.Worst, day.WorstPoints, Owed(day.WorstLag), doc.Unit)
	}
	over := "24h"
	if covered := Seconds(day.Seconds); covered < 23*time.Hour {
		over = Span(covered.Round(time.Second))
	}
	return fmt.Sprintf("fairness: Jain %.2f over %s · worst lag %s · borrowed now: %s · idle %d %s",
		day.Jain, over, worst, borrowed(doc.Fairness.Borrowed), doc.Summary.Free[doc.Unit], doc.Unit)
}

// borrowed names the largest loans.
func borrowed(all []fairlead.Borrowed) string {
	if len(all) == 0 {
		return "nothing"
	}
	const most = 3
	var parts []string
	for _, b := range all[:min(most, len(all))] {
		parts = append(parts, fmt.Sprintf("%s %s of %s", b.Pool, OneDigit(b.Units), b.From))
	}
	if len(all) > most {
		parts = append(parts, fmt.Sprintf("and %d more", len(all)-most))
	}
	return strings.Join(parts, ", ")
}

package words

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// Weight shows the weight of a pool, and what it is made of while the pool is boosted.
func Weight(p *views.PoolView) string {
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

// ComparedBy is the key of a pool among its siblings, in words.
func ComparedBy(p *views.PoolView) string {
	if p.Compared == nil {
		return ""
	}
	return p.Compared.Text
}

// Pool is the path of a pool for people: names of users in it are written as they are, see [share.Original].
func Pool(path string) string { return share.Original(path) }

// Pools are paths of pools, as [Pool] writes them.
func Pools(paths []string) string {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = Pool(path)
	}
	return strings.Join(names, ",")
}

// LastPool is the last name of a path, as [Pool] writes it.
func LastPool(path string) string {
	_, name := share.Cut(path)
	return share.Original(name)
}

// ShellPool is [Pool] for a command that people are to run.
func ShellPool(path string) string { return ShellQuoted(Pool(path)) }

// Escaped is the path of a pool if people see it in another way than the configuration writes it; else "".
func Escaped(path string) string {
	if Pool(path) == path {
		return ""
	}
	return path
}

// Fairness sums up how fair things are and have been.
func Fairness(doc *api.Shares) string {
	day := doc.Fairness.Day
	served := "served " + Percent(day.Served)
	if day.Worst != "" && day.WorstServed < 0.9995 {
		served += fmt.Sprintf(", least %s %s", Pool(day.Worst), Percent(day.WorstServed))
	}
	over := "24h"
	if covered := Seconds(day.Seconds); covered < 23*time.Hour {
		over = Span(covered.Round(time.Second))
	}
	return fmt.Sprintf("fairness: %s, Jain %.2f over %s · borrowed now: %s · idle %d %s",
		served, day.Jain, over, borrowed(doc.Fairness.Borrowed), doc.Summary.Free[doc.Unit], doc.Unit)
}

// borrowed names the largest loans.
func borrowed(all []views.Borrowed) string {
	if len(all) == 0 {
		return "nothing"
	}
	const most = 3
	var parts []string
	for _, b := range all[:min(most, len(all))] {
		parts = append(parts, fmt.Sprintf("%s %s of %s", Pool(b.Pool), OneDigit(b.Units), Pool(b.From)))
	}
	if len(all) > most {
		parts = append(parts, fmt.Sprintf("and %d more", len(all)-most))
	}
	return strings.Join(parts, ", ")
}

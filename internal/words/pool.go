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

// Weight writes the weight of a pool, and its factors during a boost.
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

// ComparedBy writes the key of a pool among its siblings.
func ComparedBy(p *views.PoolView) string {
	if p.Compared == nil {
		return ""
	}
	return p.Compared.Text
}

// Pool returns the path of a pool for people: with the original names of users, see [share.Original].
func Pool(path string) string { return share.Original(path) }

// Pools joins paths of pools, as [Pool] writes them.
func Pools(paths []string) string {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = Pool(path)
	}
	return strings.Join(names, ",")
}

// LastPool returns the last name of a path, as [Pool] writes it.
func LastPool(path string) string {
	_, name := share.Cut(path)
	return share.Original(name)
}

// ShellPool is [Pool] for a command that people run.
func ShellPool(path string) string { return ShellQuoted(Pool(path)) }

// Escaped returns the path of a pool if [Pool] writes it differently from the configuration, else "".
func Escaped(path string) string {
	if Pool(path) == path {
		return ""
	}
	return path
}

// Fairness summarizes the past and the present fairness.
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

// borrowed lists the largest loans.
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

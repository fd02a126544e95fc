package allocation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/queue"
)

// settleLicenses refuses licenses and rates that are not configured, and adds the rates of the job's kind.
func (c *Config) settleLicenses(j *queue.Job) error {
	for _, name := range slices.Sorted(maps.Keys(j.Licenses)) {
		total, known := c.Sched.Licenses[name]
		switch n := j.Licenses[name]; {
		case !known:
			return queue.Invalidf("licenses", "there is no license %q; %s", name, knownNames("licenses", c.Sched.Licenses, "licenses: {matlab: 5}"))
		case n <= total && n*int64(max(1, j.Gang)) > total:
			return queue.Invalidf("licenses",
				"its %d tasks ask for %d of %s at once, but the cluster has only %d: they could never start; ask for less",
				j.Gang, n*int64(j.Gang), name, total)
		case n > total:
			return queue.Invalidf("licenses",
				"a task asks for %d of %s, but the cluster has only %d: it could never start; ask for less", n, name, total)
		}
	}
	for _, name := range j.Rates {
		if _, known := c.Sched.Rates[name]; !known {
			return queue.Invalidf("rates", "there is no rate %q; %s", name, knownNames("rates", c.Sched.Rates, "rates: {crawl: 5/s}"))
		}
	}
	for _, name := range c.KindRates[j.Kind] {
		if !slices.Contains(j.Rates, name) {
			j.Rates = append(slices.Clip(j.Rates), name)
		}
	}
	return nil
}

// knownNames lists the configured names for an error message.
func knownNames[V any](what string, known map[string]V, example string) string {
	if len(known) == 0 {
		return fmt.Sprintf("no %s are configured; an administrator adds them with a line such as %s", what, example)
	}
	names := slices.Sorted(maps.Keys(known))
	if len(names) > 20 {
		names = append(names[:20], "…")
	}
	return fmt.Sprintf("known %s: %s", what, strings.Join(names, ", "))
}

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/submit"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
)

// whatIfWord is a word of --what-if, with its names, which are the names of the flags of submit.
type whatIfWord struct {
	names []string
	set   func(v *api.Variation, value string) error
}

var whatIfWords = []whatIfWord{
	{[]string{"time", "t", "limit"}, setVariedTime},
	{[]string{"cpus", "c", "cpu"}, setVariedCPUs},
	{[]string{"mem"}, setVariedMem},
	{[]string{"gpus", "G", "gpu"}, setVariedGPUs},
	{[]string{"request"}, setVariedRequest},
	{[]string{"pool", "A"}, func(v *api.Variation, value string) error { v.Pool = &value; return nil }},
	{[]string{"constraint", "C"}, setVariedConstraint},
	{[]string{"licenses", "L", "license", "licences", "licence"}, setVariedLicenses},
	{[]string{"priority"}, func(v *api.Variation, value string) error { v.Priority = &value; return nil }},
	{[]string{"qos"}, func(v *api.Variation, value string) error { v.QOS = &value; return nil }},
	{[]string{"nice"}, setVariedNice},
}

// parseWhatIf parses words such as t=1h15m,cpus=8. Text after a comma without a name belongs to the value
// before it, as in lists of licenses.
func parseWhatIf(text string) (api.Variation, error) {
	var v api.Variation
	var names, values []string
	for item := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(item, "=")
		switch n := len(values) - 1; {
		case found:
			names, values = append(names, strings.TrimSpace(name)), append(values, strings.TrimSpace(value))
		case n < 0:
			return v, usagef("--what-if: %q is not a name with a value, such as t=1h15m or cpus=8", item)
		default:
			values[n] += "," + strings.TrimSpace(item)
		}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return v, usagef("--what-if: %s is given twice", name)
		}
		w := slices.IndexFunc(whatIfWords, func(w whatIfWord) bool { return slices.Contains(w.names, name) })
		if w < 0 {
			return v, unknownWord(name)
		}
		if err := whatIfWords[w].set(&v, values[i]); err != nil {
			return v, fmt.Errorf("--what-if: %w", err)
		}
	}
	return v, nil
}

// unknownWord suggests a similar word.
func unknownWord(name string) error {
	if slices.Contains([]string{"nodes", "N", "tasks", "n"}, name) {
		return usagef("--what-if cannot change the number of nodes or tasks; use fairlead submit --dry-run")
	}
	var all, known []string
	for _, w := range whatIfWords {
		all, known = append(all, w.names...), append(known, w.names[0])
	}
	if meant := config.Nearest(name, all); meant != "" {
		return usagef("--what-if: unknown name %q - did you mean %q?", name, meant)
	}
	return usagef("--what-if: unknown name %q; known: %s", name, strings.Join(known, ", "))
}

func setVariedTime(v *api.Variation, value string) error {
	d, err := units.ParseTimeLimit(value)
	if err != nil {
		return usagef("time: %w", err)
	}
	if d == 0 {
		d = queue.NoLimit
	}
	seconds := d.Seconds()
	v.LimitSeconds = &seconds
	return nil
}

// vary sets the amount of a resource.
func vary(v *api.Variation, name string, n int64) {
	if v.Request == nil {
		v.Request = map[string]int64{}
	}
	v.Request[name] = n
}

func setVariedCPUs(v *api.Variation, value string) error {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 {
		return usagef("cpus: %q is not a number of processors above 0", value)
	}
	vary(v, "cpu", n)
	return nil
}

func setVariedMem(v *api.Variation, value string) error {
	n, err := units.ParseSize(value)
	if err != nil {
		return usagef("mem: %w", err)
	}
	vary(v, "mem", n)
	return nil
}

func setVariedGPUs(v *api.Variation, value string) error {
	if value == "0" {
		vary(v, "gpu", 0)
		return nil
	}
	gpus := map[string]int64{}
	if err := submit.AddGPUs(gpus, strings.Split(value, ",")); err != nil {
		return usageError{err}
	}
	for name, n := range gpus {
		vary(v, name, n)
	}
	return nil
}

func setVariedRequest(v *api.Variation, value string) error {
	for item := range strings.SplitSeq(value, ",") {
		name, count, _ := strings.Cut(item, "=")
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n < 0 || name == "" {
			return usagef("request: %q is not a resource with a number, such as tape=1", item)
		}
		vary(v, name, n)
	}
	return nil
}

func setVariedConstraint(v *api.Variation, value string) error {
	if _, err := cluster.ParseConstraint(value); err != nil {
		return usagef("constraint: %w", submit.Pictured(err))
	}
	v.Constraint = &value
	return nil
}

func setVariedLicenses(v *api.Variation, value string) error {
	all := map[string]int64{}
	if value != "" && value != "none" {
		asked, err := submit.Licenses(strings.Split(value, ","))
		if err != nil {
			return usageError{err}
		}
		all = asked
	}
	v.Licenses = &all
	return nil
}

func setVariedNice(v *api.Variation, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil {
		return usagef("nice: %q is not a number", value)
	}
	v.Nice = &n
	return nil
}

package foreign

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// maxAmount is the largest amount of a resource in a configuration.
const maxAmount = 1 << 50

// quantity is an amount of one resource, or a percentage of its total.
type quantity struct {
	resource string // the name in Fairlead
	amount   int64
	percent  float64
	isPart   bool // percent is set, amount is not
}

var (
	oldAmount  = regexp.MustCompile(`^([0-9]+) ?(mb|vcores)?$`)
	oldPercent = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?% ?(memory|cpu)?$`)
	newAmount  = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_./-]*)\s*=\s*([0-9]+(?:\.[0-9]+)?)\s*(%?)$`)
)

// resources reads the amounts of YARN in all their forms: "10000 mb, 4 vcores", "memory-mb=10000, vcores=4",
// "50% memory, 25% cpu", "50%".
func resources(text string) ([]quantity, error) {
	var all []quantity
	for part := range strings.SplitSeq(text, ",") {
		part = strings.Join(strings.Fields(part), " ")
		low := strings.ToLower(part)
		var q []quantity
		var err error
		if m := newAmount.FindStringSubmatch(part); m != nil {
			q, err = quantityOf(ourName(m[1]), m[2], m[3] == "%", mega(m[1]))
		} else if m := oldAmount.FindStringSubmatch(low); m != nil {
			name := map[string]string{"": "mem", "mb": "mem", "vcores": "cpu"}[m[2]]
			q, err = quantityOf(name, m[1], false, name == "mem")
		} else if m := oldPercent.FindStringSubmatch(low); m != nil && m[2] == "" {
			q, err = quantityOf("cpu", m[1], true, false)
			q = append(q, quantity{resource: "mem", percent: q[0].percent, isPart: true})
		} else if m != nil {
			q, err = quantityOf(ourName(m[2]), m[1], true, false)
		} else {
			err = fmt.Errorf("%q is not an amount such as 4096 mb, vcores=4 or 25%% cpu", plainText(part, 40))
		}
		if err != nil {
			return nil, err
		}
		all = append(all, q...)
	}
	return all, nil
}

func quantityOf(name, number string, part, mega bool) ([]quantity, error) {
	v, err := strconv.ParseFloat(number, 64)
	if mega && !part {
		v *= 1 << 20
	}
	switch {
	case err != nil || !part && (v > maxAmount || v != math.Trunc(v)):
		return []quantity{{}}, fmt.Errorf("%s of %s is not a whole number up to %d", plainText(number, 30), name,
			int64(maxAmount))
	case share.CheckName(name) != nil:
		return []quantity{{}}, fmt.Errorf("%q is not a valid name of a resource", plainText(name, 40))
	case part:
		return []quantity{{resource: name, percent: v, isPart: true}}, nil
	}
	return []quantity{{resource: name, amount: int64(v)}}, nil
}

// ourName returns the name in Fairlead of a resource of YARN.
func ourName(name string) string {
	switch name {
	case "memory-mb", "memory":
		return "mem"
	case "vcores", "cpu":
		return "cpu"
	case "yarn.io/gpu":
		return "gpu"
	}
	return strings.ReplaceAll(name, "/", ".")
}

func mega(name string) bool { return name == "memory-mb" || name == "memory" }

// solve turns percentages into amounts. It returns the names of the resources whose total is unknown.
func solve(all []quantity, capacity map[string]int64) (known map[string]int64, unknown []string) {
	known = map[string]int64{}
	missing := map[string]bool{}
	for _, q := range all {
		total, ok := capacity[q.resource]
		switch {
		case !q.isPart:
			known[q.resource] = q.amount
		case ok:
			v := min(float64(total)*q.percent/100, maxAmount)
			if q.resource == "mem" && v >= 1<<20 { // whole megabytes are easier to read
				v = math.Trunc(v/(1<<20)) * (1 << 20)
			}
			known[q.resource] = int64(v)
		default:
			missing[q.resource] = true
		}
	}
	return known, slices.Sorted(maps.Keys(missing))
}

package config

import (
	"math"
	"strings"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/sched"
)

// A charge is a number for one unit of a resource, or for the size after the slash: 0.25/G.

const (
	chargePattern = `^[0-9]+(\.[0-9]+)?(/[KMGTP])?$`
	maxCharge     = 1e9
	dominant      = "dominant"
)

var chargeSchema = object{
	"type": []string{"number", "string"}, "minimum": 0, "pattern": chargePattern, "examples": []any{1, 20, "0.25/G"},
}

var perResource = named("dominant, or resources with charges", checkResource, maxResources, chargeSchema, readCharge,
	showCharge)

func readCharge(r *reader, name string, n *node) (float64, bool) {
	text, ok := r.text(name, n)
	if !ok {
		return 0, false
	}
	number, per, sized := strings.Cut(text, "/")
	v, err := parseNumber(number)
	size := int64(1)
	if sized && err == nil {
		if size, err = units.ParseSize("1" + per); !strings.Contains("KMGTP", per) || len(per) != 1 {
			size = 0
		}
	}
	if err != nil || !(v >= 0 && v <= maxCharge) || size == 0 {
		r.errorf(n, "%s must be a number of at least 0, for one unit or for a size, such as 0.25/G; got %s", name, n.describe())
		return 0, false
	}
	return v / float64(size), true
}

// showCharge writes a number that is probably a charge per byte as a charge per gigabyte.
func showCharge(v float64) *node {
	if v > 0 && v < 1e-4 {
		return word(formatNumber(v*(1<<30)) + "/G")
	}
	return word(formatNumber(v))
}

// charges is the field charge: a word, or what each resource costs.
var charges = kind[sched.Charge]{
	word: perResource.word,
	schema: func() object {
		return object{"oneOf": []object{{"type": "string", "const": dominant}, perResource.schema()}}
	},
	read: func(r *reader, name string, n *node) (sched.Charge, bool) {
		if n.kind == scalar {
			if n.text == dominant {
				return sched.Charge{Dominant: true}, true
			}
			r.errorf(n, "%s must be dominant, or resources with charges: {%s: 1, mem: 0.25/G}; got %s", name, r.unit, n.describe())
			return sched.Charge{}, false
		}
		per, ok := perResource.read(r, name, n)
		if ok && len(per) > 0 && per[r.unit] == 0 {
			r.errorf(n, "%s needs a number above 0 for %s, the unit of shares: otherwise tasks that ask only for the unit "+
				"are charged nothing and always go first", name, r.unit)
			return sched.Charge{}, false
		}
		return sched.Charge{Per: per}, ok
	},
	show: func(v sched.Charge) *node {
		switch {
		case v.Dominant:
			return word(dominant)
		case len(v.Per) == 0:
			return nil
		}
		return perResource.show(v.Per)
	},
}

// combinations says how the charges of several resources combine: as their sum, or the largest one.
var combinations = unlessIs(false, choice("charge_by", []string{"sum", "max"}, []bool{false, true}))

// chargeFields must follow the field unit, because a charge has to charge something for the unit.
func chargeFields() []field {
	return []field{
		unless("the number of units that a task takes",
			of("charge", "", "The charge of a running task per second, which is added to usage. Give each resource a number for one unit or for a size, such as {cpu: 1, mem: 0.25/G, gpu: 20}. Or give dominant: the largest fraction that the task takes of any resource of the cluster, scaled to the unit. A change applies to tasks that start after it.",
				charges, func(c *Config) *sched.Charge { return &c.Shares.Sched.Charge })),
		of("charge_by", "sum", "How the charges of several resources combine: their sum, or only the largest one (max).",
			combinations, func(c *Config) *bool { return &c.Shares.Sched.Charge.Largest }),
	}
}

// checkCharge warns of a charge_by without effect, and of a charge for memory that is too large to be meant
// per byte.
func (r *reader) checkCharge(root *node, c *Config) {
	charge := &c.Shares.Sched.Charge
	if n := root.key("charge_by"); n != nil && charge.Largest && len(charge.Per) == 0 {
		r.warnf(n, "charge_by has no effect: charge names no resources")
	}
	if per := charge.Per["mem"]; per > math.Exp2(-20) {
		r.warnf(root.get("charge").get("mem"),
			"a task with 1G of memory would be charged %s a second, because memory is counted in bytes; give the charge of 1G, such as 0.25/G", formatNumber(per*(1<<30)))
	}
}

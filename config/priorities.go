package config

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// maxPriorities is how many priorities the scheduler can distinguish.
const maxPriorities = 31

// priorities is a list from the highest to the lowest. Of two priorities with the same weight, the alphabetically
// first counts as higher, because the order of names in a file has no meaning.
var priorities = kind[[]sched.Priority]{
	word: "names with weights",
	schema: described(object{
		"type": "object", "additionalProperties": weight(share.CheckWeight).schema(),
		"minProperties": 1, "maxProperties": maxPriorities,
	}),
	read: readPriorities,
	show: func(all []sched.Priority) *node {
		n := &node{kind: mapping}
		for _, p := range all {
			n.set(p.Name, word(formatNumber(p.Weight)))
		}
		return n
	},
}

// prioritiesAs says whether priorities are an order or weights.
var prioritiesAs = choice("priorities_as", []string{"order", "weights"}, []bool{false, true})

// checkNewJobs refuses a boost of new jobs if priorities are not weights.
func (r *reader) checkNewJobs(root *node, c *Config) {
	if n := root.key("new_job_boost"); c.Shares.Sched.NewJobs.Factor > 0 && !c.Shares.Sched.PriorityWeights {
		r.errorf(n, "new_job_boost works only if the priorities of jobs are weights, but here they are an order; "+
			"add priorities_as: weights")
	}
}

func readPriorities(r *reader, name string, n *node) ([]sched.Priority, bool) {
	given, ok := r.entries(name, n)
	switch {
	case !ok:
		return nil, false
	case len(given) == 0:
		r.errorf(n, "%s must name at least one priority", name)
	case len(given) > maxPriorities:
		r.errorf(n, "%s has %d priorities; at most %d are allowed", name, len(given), maxPriorities)
	}
	var all []sched.Priority
	for _, e := range given {
		if wrong := checkWord("priority")(e.key.text); wrong != "" {
			r.errorf(e.key, "%s", wrong)
		} else if w, ok := weight(share.CheckWeight).read(r, "the weight of "+e.key.text, e.value); ok {
			all = append(all, sched.Priority{Name: e.key.text, Weight: w})
		}
	}
	slices.SortFunc(all, func(a, b sched.Priority) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Name, b.Name))
	})
	return all, true
}

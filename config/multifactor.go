package config

import (
	"fmt"
	"reflect"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// maxSites bounds the rules, and maxLevels the qualities of service.
const (
	maxSites  = 1000
	maxLevels = 1000
)

var multifactorTable, factorWeightsTable, siteTable *table

func init() {
	factorWeightsTable = &table{name: "weights",
		doc: "The maximum that each factor, from 0 to 1, adds to a priority, in points.", fields: factorWeights()}
	siteTable = &table{name: "site", doc: "One rule of `site`. It gives its value to the jobs that all its expressions match; the first matching rule decides.", fields: siteFields()}
	multifactorTable = &table{name: "multifactor", doc: "How the policy `multifactor` computes the priority of a job:" +
		" age + fairshare + size + pool + qos + assoc + tres + site - nice.", fields: multifactorFields()}
}

// multifactorField leaves the defaults out of the canonical form.
func multifactorField() field {
	f := of("multifactor", "{}", "Settings of the policy multifactor.",
		sub[Multifactor](&multifactorTable), func(c *Config) *Multifactor { return &c.Multifactor })
	show := f.show
	f.show = func(from any) *node {
		if reflect.DeepEqual(from.(*Config).Multifactor, Multifactor{Multifactor: sched.DefaultMultifactor()}) {
			return nil
		}
		return show(from)
	}
	return f
}

func multifactorFields() []field {
	return []field{
		of("weights", "{}", "The maximum that each factor adds.", sub[sched.Multifactor](&factorWeightsTable),
			func(m *Multifactor) *sched.Multifactor { return &m.Multifactor }),
		of("max_age", "7d", "The age at which the factor age of a job reaches its maximum.",
			span(time.Second, ""), func(m *Multifactor) *time.Duration { return &m.MaxAge }),
		of("favor", "large", "The jobs that the factor size favors: large (fraction of the capacity that a task asks for) or small (fraction that it leaves).",
			choice("favor", []string{"large", "small"}, []bool{false, true}), func(m *Multifactor) *bool { return &m.Small }),
		of("size_relative_to_time", "false", "The size counts per minute of the time limit; the size of a job without a limit is 0.",
			boolean, func(m *Multifactor) *bool { return &m.RelativeToTime }),
		of("recalculate", "5m", "The interval at which the factor fairshare of all pools is recomputed. For a pool, it is also recomputed when one of its tasks ends.",
			span(time.Second, ""), func(m *Multifactor) *time.Duration { return &m.Recalculate }),
		unless("none", of("qos", "", "The qualities of service that jobs may name, with their factors. A job that names none gets the quality of service with the name of its priority, if there is one.",
			factors, func(m *Multifactor) *map[string]float64 { return &m.Levels })),
		unless("none", of("site", "", "Rules that give jobs a value that the site chooses.",
			sites, func(m *Multifactor) *[]share.SiteRule { return &m.Rules })),
	}
}

func factorWeights() []field {
	one := func(name, def, doc string, at func(*sched.Multifactor) *float64) field {
		return of(name, def, doc, points, at)
	}
	return []field{
		one("age", "1000", "For the time since the submission, divided by max_age.",
			func(m *sched.Multifactor) *float64 { return &m.Age }),
		one("fairshare", "10000", "For 2^(-usage / share) of the job's pool.",
			func(m *sched.Multifactor) *float64 { return &m.Fairshare }),
		one("size", "1000", "For the fraction of the capacity that a task asks for.",
			func(m *sched.Multifactor) *float64 { return &m.Size }),
		one("pool", "1000", "For the factor of the pool.", func(m *sched.Multifactor) *float64 { return &m.Pool }),
		one("qos", "1000", "For the factor of the quality of service.", func(m *sched.Multifactor) *float64 { return &m.QOS }),
		one("assoc", "1000", "For the assoc_factor of the pool.", func(m *sched.Multifactor) *float64 { return &m.Assoc }),
		unless("none", of("tres", "", "For the fraction of each resource that a task asks for, by resource.",
			tres, func(m *sched.Multifactor) *map[string]float64 { return &m.TRES })),
		one("site", "1", "For the value that a rule of the site gives.",
			func(m *sched.Multifactor) *float64 { return &m.Site }),
	}
}

func siteFields() []field {
	value := of("value", "", "The value for the jobs; it is multiplied by the weight of site.", siteValue,
		func(r *share.SiteRule) *float64 { return &r.Value })
	value.must = true
	return []field{
		siteExpression("user", "Matches who submitted the job."),
		siteExpression("group", "Matches the user's primary group."),
		siteExpression("kind", "Matches the kind of the job."),
		siteExpression("requestor", "Matches the requestor, which is the user unless the job says otherwise."),
		value,
	}
}

// siteExpression makes a field of a site rule like that of a placement rule.
func siteExpression(name, doc string) field {
	f := expression(name, doc)
	read, show := f.read, f.show
	f.read = func(r *reader, n *node, to any) {
		site := to.(*share.SiteRule)
		rule := share.Rule{Match: site.Match}
		read(r, n, &rule)
		site.Match = rule.Match
	}
	f.show = func(from any) *node { return show(&share.Rule{Match: from.(*share.SiteRule).Match}) }
	return f
}

// between is a number between two bounds, both included.
func between(least, most float64) kind[float64] {
	return numbers(object{"type": "number", "minimum": least, "maximum": most}, func(name string, v float64) error {
		if !(v >= least && v <= most) {
			return fmt.Errorf("%s must be from %s to %s, got %v", name, formatNumber(least), formatNumber(most), v)
		}
		return nil
	})
}

var (
	points    = between(0, sched.MaxFactorWeight)
	factor    = between(0, 1)
	siteValue = between(-sched.MaxFactorWeight, sched.MaxFactorWeight)
	factors   = named("names with factors", checkWord("quality of service"), maxLevels, factor.schema(), factor.read,
		factor.show)
	tres = named("resources with weights", checkResource, maxResources, points.schema(), points.read, points.show)
)

// sites is the list of rules of the site; their order matters.
var sites = kind[[]share.SiteRule]{
	word: "list of rules",
	schema: described(object{"type": []string{"array", "null"}, "items": object{"$ref": "#/$defs/site"},
		"maxItems": maxSites}),
	read: func(r *reader, name string, n *node) ([]share.SiteRule, bool) {
		if !r.rules(name, n, maxSites) {
			return nil, false
		}
		all := make([]share.SiteRule, len(n.items))
		for i, item := range n.items {
			siteTable.read(r, fmt.Sprintf("site rule %d", i+1), item, &all[i])
		}
		return all, true
	},
	show: func(all []share.SiteRule) *node {
		if len(all) == 0 {
			return nil
		}
		n := &node{kind: list}
		for i := range all {
			n.items = append(n.items, siteTable.show(&all[i]))
		}
		return n
	},
}

// maybe is an optional factor of a pool; nil means that the pool has none of its own.
var maybe = kind[*float64]{
	word: factor.word, schema: factor.schema,
	read: func(r *reader, name string, n *node) (*float64, bool) {
		v, ok := factor.read(r, name, n)
		return &v, ok
	},
	show: func(v *float64) *node {
		if v == nil {
			return nil
		}
		return factor.show(*v)
	},
}

// checkMultifactor warns of settings of multifactor that have no effect.
func (r *reader) checkMultifactor(root *node, c *Config) {
	m := root.get("multifactor")
	if m == nil {
		return
	}
	if n := m.get("site"); n != nil && c.Multifactor.Site == 0 {
		r.warnf(n, "site has rules, but its weight is 0")
	}
	if n := m.get("qos"); n != nil && c.Multifactor.QOS == 0 {
		r.warnf(n, "qos has factors, but its weight is 0")
	} else if n != nil {
		r.checkPriorityLevels(n, c)
	}
	for p := range policies(&c.Shares.Sched.Root) {
		if p == "multifactor" {
			return
		}
	}
	r.warnf(root.key("multifactor"), "multifactor has no effect: no pool has this policy")
}

// checkPriorityLevels warns of a priority without a factor if a lower priority has one. Its jobs count as 0, so that a
// user who raises a job to it makes the job later.
func (r *reader) checkPriorityLevels(n *node, c *Config) {
	factor := c.Multifactor.Levels
	all := c.Shares.Priorities()
	for i, name := range all {
		if _, named := factor[name]; named {
			continue
		}
		for _, lower := range all[i+1:] {
			if factor[lower] > 0 {
				r.warnf(n, "the priority %s has no factor in qos: its jobs count as 0 there, less than those of %s (%g). "+
					"Add %[1]s, with at least this factor", name, lower, factor[lower])
				break
			}
		}
	}
}

// policies returns the set of policies in a tree.
func policies(root *share.Pool) map[string]bool {
	names := map[string]bool{root.Policy: true}
	for _, p := range root.All() {
		names[p.Policy] = true
	}
	return names
}

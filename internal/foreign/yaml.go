package foreign

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/units"
)

// document is the configuration to write, with its comments.
type document struct {
	head     []string // paragraphs of the comment on top
	policy   string
	onDemand bool
	rules    []rule
	ruled    bool // it has a list of rules, even an empty one
	access   []accessRule
	root     *pool
}

// rule is one rule of placement.
type rule struct{ user, group, pool string }

// maxRules is how many rules a configuration may have.
const maxRules = 1000

// reaches reports whether a job may get to a rule after the present ones. A configuration refuses a rule
// that no job can reach.
func (d *document) reaches(r rule) bool {
	for _, above := range d.rules {
		if (above.user == "" || above.user == r.user) && (above.group == "" || above.group == r.group) {
			return false
		}
	}
	return true
}

// yaml writes the configuration.
func (d *document) yaml() []byte {
	var b strings.Builder
	for i, paragraph := range d.head {
		if i > 0 {
			b.WriteString("#\n")
		}
		comment(&b, paragraph)
	}
	fmt.Fprintf(&b, "\npolicy: %s\n", d.policy)
	if set := d.root.reclaim.yaml(); set != "" {
		fmt.Fprintf(&b, "reclaim: %s\n", set)
	}
	if most := d.root.time(); most != "" {
		fmt.Fprintf(&b, "max_time: %s\n", most)
	}
	fmt.Fprintf(&b, "pools_on_demand: %t\n", d.onDemand)
	if d.ruled {
		b.WriteString("placement:")
		if len(d.rules) == 0 {
			b.WriteString(" []")
		}
		b.WriteString("\n")
		for _, r := range d.rules {
			b.WriteString("  - " + r.yaml() + "\n")
		}
	}
	if len(d.access) > 0 {
		b.WriteString("access:\n  pools:\n")
		for _, a := range d.access {
			b.WriteString("    " + a.yaml() + "\n")
		}
	}
	if len(d.root.pools) > 0 {
		b.WriteString("pools:\n")
		for _, p := range d.root.pools {
			p.yaml(&b, "  ", d.policy)
		}
	}
	return []byte(b.String())
}

func (r rule) yaml() string {
	var parts []string
	if r.user != "" {
		parts = append(parts, "user: "+strconv.Quote(r.user))
	}
	if r.group != "" {
		parts = append(parts, "group: "+strconv.Quote(r.group))
	}
	return "{" + strings.Join(append(parts, "pool: "+strconv.Quote(r.pool)), ", ") + "}"
}

// yaml writes a pool, on one line if it has no pools below it.
func (p *pool) yaml(b *strings.Builder, margin, above string) {
	set := p.settings(above)
	end := "\n"
	if p.comment != "" {
		end = " # " + p.comment + "\n"
	}
	head := margin + key(p.name) + ":"
	if len(p.pools) == 0 {
		b.WriteString(head + " {" + strings.Join(set, ", ") + "}" + end)
		return
	}
	b.WriteString(head + end)
	for _, s := range set {
		b.WriteString(margin + "  " + s + "\n")
	}
	if p.policy != "" {
		above = p.policy
	}
	b.WriteString(margin + "  pools:\n")
	for _, c := range p.pools {
		c.yaml(b, margin+"    ", above)
	}
}

func (p *pool) settings(above string) []string {
	var set []string
	add := func(name, value string) {
		if value != "" {
			set = append(set, name+": "+value)
		}
	}
	add("weight", p.weight)
	add("min", amounts(p.min))
	add("max", amounts(p.max))
	if p.running >= 0 {
		add("max_running", strconv.Itoa(p.running))
	}
	add("max_time", p.time())
	if p.policy != above {
		add("policy", p.policy)
	}
	add("reclaim", p.reclaim.yaml())
	return set
}

func amounts(of map[string]int64) string {
	if len(of) == 0 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, key(name)+": "+amount(of[name]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (r reclaim) yaml() string {
	var parts []string
	for _, after := range []struct {
		name string
		span time.Duration
	}{{"min_after", r.minAfter}, {"share_after", r.shareAfter}} {
		switch {
		case after.span > 0:
			parts = append(parts, after.name+": "+units.FormatDuration(after.span))
		case after.span < 0:
			parts = append(parts, after.name+": off")
		}
	}
	if r.below > 0 {
		parts = append(parts, "below: "+strconv.FormatFloat(r.below, 'f', -1, 64)+"%")
	}
	if r.protect {
		parts = append(parts, "protect: true")
	}
	if len(parts) == 0 {
		return ""
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.@+-]*$`)

// key writes a name. It quotes words that some readers of YAML read as other values, such as no.
func key(name string) string {
	switch strings.ToLower(name) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(name)
	}
	if plainKey.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

// comment writes a paragraph in lines of moderate width.
func comment(b *strings.Builder, paragraph string) {
	line := "#"
	for word := range strings.FieldsSeq(plainText(paragraph, 2000)) {
		if len(line)+1+len(word) > 96 && line != "#" {
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// accessRule says who may submit into a pool and the pools below it, and who may create pools there by naming them.
type accessRule struct {
	pool           string // its path; empty for the root
	submit, create []string
}

// yaml writes the rule as an entry of access.pools.
func (a accessRule) yaml() string {
	path := a.pool
	if path == "" {
		path = "/"
	}
	set := []string{"submit: " + quotedList(a.submit)}
	if len(a.create) > 0 {
		set = append(set, "create: "+quotedList(a.create))
	}
	return key(path) + ": {" + strings.Join(set, ", ") + "}"
}

func quotedList(all []string) string {
	quoted := make([]string, len(all))
	for i, one := range all {
		quoted[i] = strconv.Quote(one)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

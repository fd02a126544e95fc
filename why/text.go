package why

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/share"
)

// Text writes the answer for people: verdict, reason, numbers, jobs ahead, gates, and the next step.
func (a *Answer) Text() string {
	var b strings.Builder
	a.head(&b)
	a.reasons(&b)
	a.narrowing(&b)
	if a.Stop != nil {
		a.Stop.text(&b)
	}
	b.WriteString(bridgedText(a.Bridged, a.At))
	if a.Rank != nil {
		fmt.Fprintf(&b, "  %s\n", a.Rank.text(a.Units.Unit))
	}
	if a.Kept != nil {
		fmt.Fprintf(&b, "  Room            %s\n", a.Kept.Text(a.At))
	}
	if a.Start != nil {
		a.Start.text(&b, a.At)
	}
	a.changes(&b)
	if len(a.Levels) > 0 {
		b.WriteString("\n")
	}
	for i := range a.Levels {
		a.level(&b, i)
	}
	a.ahead(&b)
	a.gates(&b)
	if len(a.Levels) > 0 {
		fmt.Fprintf(&b, "  step %d · configuration %s", a.Step, a.Config)
		if h := a.Units.HalfLifeSeconds; h > 0 {
			fmt.Fprintf(&b, " · amounts in %s-seconds, half-life %s, as of %s", cmp.Or(a.Units.Usage, a.Units.Unit),
				Duration(time.Duration(h*float64(time.Second))), a.Units.AsOf.Local().Format("15:04:05 MST"))
		}
		b.WriteString("\n")
	}
	return byClocks(b.String(), a.At)
}

// narrowing prints how many nodes each requirement leaves.
func (a *Answer) narrowing(b *strings.Builder) {
	if len(a.Nodes) == 0 {
		return
	}
	width := len("requirement")
	for _, n := range a.Nodes {
		width = max(width, len(n.Requirement))
	}
	b.WriteString("  step  nodes left  requirement\n")
	for i, n := range a.Nodes {
		line := fmt.Sprintf("%6d  %10d  %-*s  %s", i, n.Left, width, n.Requirement, n.Nearest)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func (a *Answer) head(b *strings.Builder) {
	s := a.Subject
	name := s.Name
	if s.Job > 0 {
		name = strings.TrimSpace(fmt.Sprint(s.Job, " ", s.Name))
	}
	who := share.Original(s.Pool)
	if s.User != "" && s.User != who {
		who = s.User + ", " + who
	}
	left := fmt.Sprintf("%s (%s) %s", name, who, s.State)
	if s.Submitted != nil && s.State != "succeeded" && s.State != "failed" && s.State != "cancelled" {
		age := " " + Duration(a.At.Sub(*s.Submitted))
		if s.Running > 0 {
			age = ", submitted" + age + " ago"
		}
		left += age
		if s.Limit > 0 {
			left += ", limit " + Duration(time.Duration(s.Limit*float64(time.Second)))
		}
		if s.Gang > 1 {
			left += fmt.Sprintf(", %d tasks at once", s.Gang)
		}
	}
	fmt.Fprintf(b, "%-58s verdict: %s\n", left, a.Verdict)
}

func (a *Answer) reasons(b *strings.Builder) {
	label := "Waits because  "
	if a.Verdict == Ended || a.Reason.Code == StateRunning || a.Reason.Code == StateStopping {
		label = "Because        "
	}
	fmt.Fprintf(b, "  %s %s  [%s]\n", label, a.Reason.Text, a.Reason.Code)
	if a.Reason.Next != "" {
		fmt.Fprintf(b, "  Next step       %s\n", a.Reason.Next)
	}
	for _, r := range a.Others {
		fmt.Fprintf(b, "  Also            %s  [%s]\n", r.Text, r.Code)
	}
}

func (r *Rank) text(unit string) string {
	if r.Capped {
		return fmt.Sprintf("More than %d tasks of %d go first.", r.Position-1, r.Of)
	}
	if r.Position == 1 {
		return fmt.Sprintf("You are number 1 of %d tasks that could start.", r.Of)
	}
	return fmt.Sprintf("You are number %d of %d tasks that could start. Ahead: %s of %s, %s %s.",
		r.Position, r.Of, count(r.Jobs, "job"), count(r.Pools, "pool"), Short(r.Units), unit)
}

// level prints one comparison: the formula, and the formula with each child's numbers.
func (a *Answer) level(b *strings.Builder, i int) {
	l := &a.Levels[i]
	label := "        "
	if i == 0 {
		label = "  SHARE "
	}
	where := share.Original(l.Pool)
	if where == "" {
		where = "cluster"
	}
	fmt.Fprintf(b, "%s%s: %s, %s\n", label, where, l.Policy, l.Rule())
	b.WriteString(l.table(a.Units, "          "))
}

// Rule describes how the level orders its children.
func (l *Level) Rule() string {
	if l.TermByTerm {
		names := make([]string, len(l.Terms))
		for i, t := range l.Terms {
			names[i] = t.Name
		}
		return strings.Join(names, ", then ") + ", " + l.Order
	}
	if l.Formula == "weight" {
		return l.Order
	}
	return l.Formula + ", " + l.Order
}

// table lists the children of a level, with the numbers as of now.
func (l *Level) table(u Units, indent string) string {
	growth := u.Growth
	var b strings.Builder
	width, sum := 0, 0
	for _, c := range l.Children {
		width, sum = max(width, len([]rune(c.called()))), max(sum, len(l.Put(c, growth)))
	}
	for k, c := range l.Children {
		note := ""
		switch {
		case c.Name == l.You:
			note = "  <- you"
		case k == 0 && (l.Policy != "lottery" || c.BelowMin):
			note = "  <- goes first"
		}
		if c.BelowMin {
			note = "  " + c.Lack.text(l.path(c)) + note
		}
		note = c.held() + note
		line := fmt.Sprintf("%s%-*s  %-*s%s%s", indent, width, c.called(), sum, l.Put(c, growth), l.says(c, growth),
			note)
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
		if c.Name == l.You && l.Left > 0 || k+1 == len(l.Children) && l.Left > 0 {
			fmt.Fprintf(&b, "%s… and %d more\n", indent, l.Left)
		}
	}
	for _, c := range l.Children {
		if len(c.Boosts) > 0 {
			fmt.Fprintf(&b, "%s%s\n", indent, c.weightText(u.AsOf))
		}
	}
	if l.Behind > 0 {
		fmt.Fprintf(&b, "%s… and %d more behind these\n", indent, l.Behind)
	}
	return b.String()
}

// held says that no work of a child may start now.
func (c *Child) held() string {
	switch {
	case c.Open:
		return ""
	case c.NoRoom:
		return "  no room now"
	}
	return "  nothing may start now"
}

// called is the name of a child for people.
func (c *Child) called() string { return share.Original(c.Name) }

// path is the path of a child.
func (l *Level) path(c Child) string { return strings.TrimPrefix(l.Pool+"/"+c.Name, "/") }

// Words puts the numbers of a child into words, as of the answer's instant. It is empty for policies whose
// formula is clear by itself.
func (l *Level) Words(c Child, growth float64) string {
	if l.Says == "" {
		return ""
	}
	if c.Resource == "" && strings.Contains(l.Says, "{resource}") {
		return "has nothing"
	}
	values := make([]float64, len(l.Terms))
	for i, t := range l.Terms {
		if values[i] = float64(c.Terms[t.Name]); t.decays() {
			values[i] /= growth
		}
	}
	text, err := inWords(l.Says, l.Terms, values, c.Resource)
	if err != nil {
		return "" // a newer server knows expressions that this program does not
	}
	return text
}

// says is the text beside a child's numbers: its share and its usage, or the policy's own words if the
// policy does not compare decayed usage.
func (l *Level) says(c Child, growth float64) string {
	text := l.Words(c, growth)
	switch {
	case text == "" || slices.ContainsFunc(l.Terms, Term.decays):
		return shareText(c)
	case c.Share == 0:
		return "   " + text
	}
	return fmt.Sprintf("   share %.1f%%  %s", 100*c.Share, text)
}

func shareText(c Child) string {
	if c.Share == 0 {
		return ""
	}
	return fmt.Sprintf("   share %.1f%%  past use %.1f%%", 100*c.Share, 100*c.Used)
}

// Put writes the formula with a child's numbers in place of the names.
func (l *Level) Put(c Child, growth float64) string {
	if l.TermByTerm {
		return l.listed(c)
	}
	text := l.Formula
	for _, t := range l.Terms {
		v := float64(c.Terms[t.Name])
		if t.decays() {
			v /= growth
		}
		text = strings.ReplaceAll(text, t.Name, t.write(v))
	}
	key := l.KeyNow(c, growth)
	if text == Short(key) {
		return text
	}
	return text + " = " + Short(key)
}

// listed writes the terms of a child that is compared term by term.
func (l *Level) listed(c Child) string {
	var parts []string
	for _, t := range l.Terms {
		v := float64(c.Terms[t.Name])
		if math.IsInf(v, 0) {
			return "no job can start now"
		}
		parts = append(parts, t.Name+" "+t.write(v))
	}
	return strings.Join(parts, ", ")
}

// KeyNow is a child's key as of the answer's instant: keys that contain decayed amounts are divided by the
// growth, like their terms.
func (l *Level) KeyNow(c Child, growth float64) float64 {
	if slices.ContainsFunc(l.Terms, Term.decays) {
		return float64(c.Key) / growth
	}
	return float64(c.Key)
}

func (a *Answer) gates(b *strings.Builder) {
	if len(a.Gates) == 0 {
		return
	}
	var parts []string
	for _, g := range a.Gates {
		parts = append(parts, g.Words())
	}
	fmt.Fprintf(b, "  GATES %s\n", strings.Join(parts, " · "))
}

// Words describes the used and the total amount behind the gate, or why the gate is closed.
func (g Gate) Words() string {
	switch {
	case g.Where == "nodes":
		return "nodes: " + g.Text
	case g.Where == "licenses":
		return fmt.Sprintf("%s %s/%s used%s", g.Name, g.Used, g.Limit, heldBy(g.Holders))
	case g.Where == "users":
		return fmt.Sprintf("%s %s/%s", g.Name, g.Used, g.Limit)
	case g.Where == "rates":
		return fmt.Sprintf("%s %s, %s", g.Name, g.Limit, g.Used)
	case g.Limit != "":
		text := fmt.Sprintf("%s of %s %s/%s", g.Name, g.Where, g.Used, g.Limit)
		if g.Need != "" {
			text += ", it asks for " + g.Need
		} else if !g.Open {
			text += " full"
		}
		return text
	case g.Open && g.Name == "held":
		return "held no"
	case g.Open:
		return g.Name + " ok"
	}
	return g.Name + ": " + g.Text
}

// heldBy lists the users who hold most of a license.
func heldBy(holders []Holder) string {
	if len(holders) == 0 {
		return ""
	}
	var parts []string
	for _, h := range holders {
		parts = append(parts, fmt.Sprintf("%s %d", h.User, h.Count))
	}
	return " (by " + strings.Join(parts, ", ") + ")"
}

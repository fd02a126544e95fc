package web

import (
	"cmp"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/views"
	say "github.com/fairlead/fairlead/internal/words"
)

// Machines is the data of the page.
type Machines struct {
	*api.Nodes
	Limits *api.Limits
	// LimitHistory holds the past use of these limits, and when they become free.
	LimitHistory limitHistory
	// Found holds the nodes that match the search, and Rows the nodes that are shown.
	Found []*views.NodeView
	Rows  []nodeRow
	Tasks []history.NodeTask // on the shown nodes
	Query string
	From  int
	Pager
	Spans    []sortLink
	Groups   []nodeGroup
	Groupers []sortLink
	Cells    plot.Cells // all found nodes
	Chart    plot.Gantt // the shown nodes
	May      bool       // the user may drain, resume and reserve
	// Reserved holds the reservations that are not over.
	Reserved []reservation
}

// group summarizes the nodes by the requested property: state, server, or a label.
func (m *Machines) group(r *Request) {
	by := r.Word("by")
	kinds := m.groupers()
	if !slices.Contains(kinds, by) {
		by = kinds[0]
	}
	for _, k := range kinds {
		m.Groupers = append(m.Groupers, sortLink{strings.TrimPrefix(k, "label:"), r.With("by", k), k == by})
	}
	groups := map[string]*nodeGroup{}
	for _, n := range m.Found {
		name, word := groupOf(n, by)
		g := groups[name]
		if g == nil {
			g = &nodeGroup{Name: name, Link: r.With("q", strings.TrimSpace(m.Query+" "+word))}
			groups[name] = g
		}
		g.Nodes++
		g.Tasks += n.Tasks
		g.Capacity += n.Has(m.Unit)
		g.Used += n.InUse(m.Unit)
		if n.State == "up" {
			g.Up++
			g.Usable += n.Has(m.Unit)
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(groups), natural) {
		m.Groups = append(m.Groups, *groups[name])
	}
	const most = 40
	m.Groups = m.Groups[:min(most, len(m.Groups))]
	for i := range m.Groups {
		g := &m.Groups[i]
		g.Bullet = plot.Bullet{Name: g.Name, Unit: m.Unit, Bar: float64(g.Used), Mark: float64(g.Usable),
			To: max(1, float64(g.Capacity)), Width: 140}
	}
}

// groupers returns the properties for groups of nodes: the state, the server if there are several, and labels
// with different values.
func (m *Machines) groupers() []string {
	values, servers := map[string]map[string]bool{}, map[string]bool{}
	for _, n := range m.Found {
		servers[n.Server] = true
		for k, v := range n.Labels {
			if values[k] == nil {
				values[k] = map[string]bool{}
			}
			values[k][v] = true
		}
	}
	out := []string{"state"}
	if len(servers) > 1 {
		out = append(out, "server")
	}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		if n := len(values[k]); n > 1 && n <= 200 && len(out) < 8 {
			out = append(out, "label:"+k)
		}
	}
	return out
}

// fullness returns the fraction of a node that is in use.
func fullness(n *views.NodeView, unit string) float64 {
	if n.Has(unit) == 0 || n.Endless(unit) {
		return 0
	}
	return float64(n.InUse(unit)) / float64(n.Capacity[unit])
}

// matching returns the nodes that match every word of a query: in the name, as a state, as a server, or as a
// label name=value. They are sorted by name, with n2 before n10.
func matching(all []views.NodeView, query string) []*views.NodeView {
	words := strings.Fields(strings.ToLower(query))
	var out []*views.NodeView
	for i := range all {
		n := &all[i]
		if !slices.ContainsFunc(words, func(w string) bool { return !nodeHas(n, w) }) {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b *views.NodeView) int { return natural(a.Name, b.Name) })
	return out
}

func nodeHas(n *views.NodeView, word string) bool {
	if state, is := strings.CutPrefix(word, "state:"); is {
		return n.State == state
	}
	if at, is := strings.CutPrefix(word, "server:"); is {
		return strings.ToLower(serverOf(n)) == at
	}
	if name, value, is := strings.Cut(word, "="); is {
		for k, v := range n.Labels {
			if strings.ToLower(k) == name && (strings.ToLower(v) == value || value == "") {
				return true
			}
		}
		return false
	}
	return strings.Contains(strings.ToLower(n.Name), word)
}

// natural compares names so that digits in them compare as numbers.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, y := leadingDigits(a), leadingDigits(b)
		if x > 0 && y > 0 {
			p, q := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func leadingDigits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}

// nodeGroup summarizes some nodes.
type nodeGroup struct {
	Name, Link             string
	Nodes, Up              int
	Tasks                  int
	Capacity, Used, Usable int64 // in units; Usable counts nodes that are up
	Bullet                 plot.Bullet
}

// groupOf returns the group of a node, and the search word for that group.
func groupOf(n *views.NodeView, by string) (name, word string) {
	switch by {
	case "state":
		return n.State, "state:" + n.State
	case "server":
		return serverOf(n), "server:" + serverOf(n)
	}
	key := strings.TrimPrefix(by, "label:")
	if v := n.Labels[key]; v != "" {
		return v, key + "=" + v
	}
	return "without " + key, ""
}

func serverOf(n *views.NodeView) string { return cmp.Or(n.Server, "this") }

// nodeRow is a node in the list, with its texts.
type nodeRow struct {
	*views.NodeView
	of *api.Nodes
}

// Use writes the use of the unit.
func (n nodeRow) Use() template.HTML { return n.used(n.of.Unit) }

// Mem writes the use of memory.
func (n nodeRow) Mem() template.HTML { return n.used("mem") }

// used writes the use and the total of a resource.
func (n nodeRow) used(resource string) template.HTML {
	return data(strconv.FormatInt(n.InUse(resource), 10), say.Used(n.NodeView, resource)) +
		data(strconv.FormatInt(n.Has(resource), 10), "")
}

// Tags returns the labels.
func (n nodeRow) Tags() []string { return strings.Fields(say.Labels(n.NodeView)) }

// WhyNot explains why the node does not run more.
func (n nodeRow) WhyNot() string { return say.WhyNotMore(n.NodeView, n.of.Unit, n.of.At) }

// reservation is a reservation in the list.
type reservation struct{ engine.Reservation }

// What describes the users or the purpose of the reservation.
func (x reservation) What() string { return say.Reserved(&x.Reservation) }

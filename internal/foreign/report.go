package foreign

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Outcome is the result of the conversion for one setting.
type Outcome string

const (
	Taken    Outcome = "taken"    // it has the same meaning here
	Changed  Outcome = "changed"  // it exists here; the note says how it differs
	Needless Outcome = "needless" // nothing here needs it
	Left     Outcome = "left"     // it is lost; the note names the alternative
)

// Item is one setting of the source.
type Item struct {
	Line    int     `json:"line"`
	Where   string  `json:"where"` // e.g. "queue etl"
	Setting string  `json:"setting"`
	Value   string  `json:"value"`
	Outcome Outcome `json:"outcome"`
	Note    string  `json:"note,omitempty"`
}

func (i Item) String() string {
	text := i.Where + ": " + i.Setting
	if i.Value != "" {
		text += " " + i.Value
	}
	what := ""
	switch i.Outcome {
	case Taken:
		what = "converted"
	case Changed:
		what = "converted with a difference"
	case Needless:
		what = "not needed"
	case Left:
		what = "not converted"
	}
	if i.Note != "" {
		what += ": " + i.Note
	}
	return text + ": " + what
}

// Text returns the report that config import prints: a line for each setting whose meaning differs or is
// lost, and at the end the number of each kind.
func (r *Result) Text(file string) string {
	var b strings.Builder
	for _, i := range r.Items {
		if i.Outcome == Changed || i.Outcome == Left {
			fmt.Fprintf(&b, "%s:%d: %s\n", file, i.Line, i)
		}
	}
	for _, o := range []struct {
		outcome Outcome
		words   string
	}{{Taken, "converted"}, {Changed, "converted with a difference"}, {Needless, "not needed here"}, {Left,
		"not converted"}} {
		if names := r.tally(o.outcome); names != "" {
			fmt.Fprintf(&b, "%s: %d (%s)\n", o.words, r.Count(o.outcome), names)
		}
	}
	return b.String()
}

// Count returns the number of settings with an outcome.
func (r *Result) Count(o Outcome) int {
	n := 0
	for _, i := range r.Items {
		if i.Outcome == o {
			n++
		}
	}
	return n
}

// tally names the settings with an outcome, the most frequent first.
func (r *Result) tally(o Outcome) string {
	count := map[string]int{}
	var names []string
	for _, i := range r.Items {
		if i.Outcome == o {
			if count[i.Setting]++; count[i.Setting] == 1 {
				names = append(names, i.Setting)
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
	const most = 8
	rest := len(names) - most
	for i, name := range names {
		if count[name] > 1 {
			names[i] = fmt.Sprintf("%s %d times", name, count[name])
		}
	}
	if rest > 0 {
		names = append(names[:most:most], fmt.Sprintf("%d others", rest))
	}
	return strings.Join(names, ", ")
}

// notes collects the items of a source.
type notes struct{ items []Item }

func (n *notes) add(line int, where, setting, value string, o Outcome, format string, args ...any) {
	n.items = append(n.items, Item{Line: line, Where: where, Setting: plainText(setting, 60), Value: plainText(value, 80),
		Outcome: o, Note: fmt.Sprintf(format, args...)})
}

// finish sorts the items by line.
func (n *notes) finish() []Item {
	slices.SortStableFunc(n.items, func(a, b Item) int { return cmp.Compare(a.Line, b.Line) })
	return n.items
}

// plainText makes a text of the source fit for one line of a report or a comment.
func plainText(text string, most int) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control,
			unicode.Noncharacter_Code_Point) {
			return ' '
		}
		return r
	}, text)), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// Features says what the configuration may use.
type Features struct {
	Policies   map[string]bool
	ZeroWeight bool             // under the policy fairtree
	Reclaim    bool             // reclaim: {min_after, share_after}
	Capacity   map[string]int64 // of the machines, for percentages; nil: unknown
}

// Result is the configuration made from a source, with the outcome of each setting.
type Result struct {
	From  string // Hadoop or Slurm
	YAML  []byte
	Items []Item // in the order of their lines
}

// Error says why and where a source cannot be read at all.
type Error struct {
	Line, Col int // from 1; 0: the whole file
	Msg       string
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return e.Msg
	case e.Col == 0:
		return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Msg)
}

// Kinds of sources.
const (
	Hadoop   = "hadoop"
	Slurm    = "slurm"
	Fairlead = "fairlead" // our own configuration; see package config
)

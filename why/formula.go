package why

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// MaxTerms is the largest number of terms in a formula. It is a constant so that [Terms] is a plain value and
// recording a decision allocates nothing.
const MaxTerms = 9

// Term names one number of a formula.
type Term struct {
	Name string `json:"name"`           // as written in the formula's text
	Unit string `json:"unit,omitempty"` // "slot-seconds", "tasks", "" for a pure number
	Doc  string `json:"doc"`            // one line for a person
}

// OfResource is the unit of terms that count the resource in which a child is compared, see [Child.Resource].
const OfResource = "of the resource"

// decays reports whether the term refers to the reference of the units, and must be divided by the growth of
// the units to refer to the answer's instant.
func (t Term) decays() bool { return strings.HasPrefix(t.Unit, "slot-seconds") }

// write writes a value of the term for people: amounts of a resource with the suffix that a configuration
// would use.
func (t Term) write(v float64) string {
	if t.Unit == OfResource && v == math.Trunc(v) && math.Abs(v) < 1<<62 {
		return amount(int64(v))
	}
	return Short(v)
}

// Formula is a policy's rule for ordering or weighing the children of a pool. A person can read it and
// [Formula.Eval] can compute it: both use the same text.
type Formula struct {
	Policy string // the name in the configuration, e.g. "fair"
	Text   string // e.g. "joined + (served + expected) / weight"
	Order  string // what the result means, e.g. "smallest first"
	Terms  []Term
	// Says puts the numbers of a child into words, as in "has {running} of its {target} slots". The braces
	// hold expressions over the terms, and {resource} is the resource in which the child is compared. If Says
	// is empty, the formula is shown alone.
	Says string
	// Called names the result in the words of the policy, as in "priority {key}". {key} stands for the
	// result; other expressions are allowed as in Says.
	Called string
	// Tied names the rule for equal keys with different ties. Empty: the larger weight goes first.
	Tied string
	// TermByTerm means that children are compared by the first term, then by the next if that is equal, and
	// so on. The result only combines the terms into one number, which is not shown to people.
	TermByTerm bool

	root node
}

// LargestFirst is the [Formula.Order] of rules whose largest result goes first. Their [Terms.Key] is the
// negated result, so that the smallest key goes first under every rule. People see the result.
const LargestFirst = "largest first"

// Result converts a key into the formula's result.
func (f *Formula) Result(key float64) float64 {
	if f.Order == LargestFirst {
		return 0 - key
	}
	return key
}

// NewFormula parses text. It panics if text is not an expression over the given terms, or if there are more
// than MaxTerms. A panic is acceptable because formulas are part of the program and do not come from users.
func NewFormula(policy, text, order string, terms ...Term) *Formula {
	if len(terms) > MaxTerms {
		panic(fmt.Sprintf("why: formula of %s has %d terms, at most %d", policy, len(terms), MaxTerms))
	}
	f := &Formula{Policy: policy, Text: text, Order: order, Terms: terms, Called: "key {key}"}
	names := make([]string, len(terms))
	for i, t := range terms {
		names[i] = t.Name
	}
	root, err := parse(text, names)
	if err != nil {
		panic("why: formula of " + policy + ": " + err.Error())
	}
	f.root = root
	return f
}

// Phrased sets [Formula.Says] ("" for none) and [Formula.Called]. It panics if one of the texts does not
// parse.
func (f *Formula) Phrased(says, called string) *Formula {
	for _, text := range []string{says, withKey(called, 0)} {
		if _, err := inWords(text, f.Terms, make([]float64, len(f.Terms)), ""); err != nil {
			panic("why: words of " + f.Policy + ": " + err.Error())
		}
	}
	f.Says, f.Called = says, called
	return f
}

// TiedBy sets [Formula.Tied].
func (f *Formula) TiedBy(text string) *Formula {
	f.Tied = text
	return f
}

// Call names the key of a child in the policy's own words, and returns the formula's result. Both refer to
// the instant at which the units have the given growth.
func (f *Formula) Call(t *Terms, growth float64) (text string, key float64) {
	values := slices.Clone(t.Values[:len(f.Terms)])
	for i, term := range f.Terms {
		if term.decays() {
			values[i] /= growth
		}
	}
	if key = f.Result(t.Key); slices.ContainsFunc(f.Terms, Term.decays) {
		key /= growth
	}
	text, _ = inWords(withKey(f.Called, key), f.Terms, values, "")
	return text, key
}

func withKey(text string, key float64) string { return strings.ReplaceAll(text, "{key}", Short(key)) }

// either splits {a - b|lacks #|had # too much} into three parts: the expression, the text for results of 0 or
// more, and the text for results below 0. The sign # stands for the amount.
func either(braces string) (expression string, texts []string) {
	parts := strings.Split(braces, "|")
	return parts[0], parts[1:]
}

// inWords replaces the expressions in braces by their values.
func inWords(text string, terms []Term, values []float64, resource string) (string, error) {
	names := make([]string, len(terms))
	for i, t := range terms {
		names[i] = t.Name
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		braces, after, _ := strings.Cut(rest, "}")
		expression, texts := either(braces)
		text = after
		if expression == "resource" {
			b.WriteString(resource)
			continue
		}
		if i := slices.Index(names, expression); i >= 0 {
			b.WriteString(terms[i].write(values[i]))
			continue
		}
		root, err := parse(expression, names)
		if err != nil {
			return "", err
		}
		v := root.eval(values)
		if len(texts) != 2 {
			b.WriteString(Short(v))
			continue
		}
		said := texts[0]
		if v < 0 {
			said = texts[1]
		}
		b.WriteString(strings.ReplaceAll(said, "#", Short(math.Abs(v))))
	}
}

// Eval computes the formula over the values of its terms, in their order. It rounds each operation to a
// float64, as the policies do, so that the result equals the policy's key bit by bit.
func (f *Formula) Eval(values []float64) float64 { return f.root.eval(values) }

// Terms are the compared numbers of one child of a pool.
type Terms struct {
	Formula *Formula
	Values  [MaxTerms]float64 // in the order of Formula.Terms
	Key     float64           // compared first; the result, negated under LargestFirst
	Tie     float64           // compared when keys are equal, smallest first
	// Fixed orders children whose keys change equally as time passes (see sched.Drifter): it is the part of
	// the key that does not change. It decides if the ties are equal, too. Policies whose keys do not drift
	// leave it 0.
	Fixed float64
	// Resource is the number, counted from 1, of the resource that terms with the unit [OfResource] count; 0
	// is none.
	Resource int32
}

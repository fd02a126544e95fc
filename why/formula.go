package why

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// MaxTerms is the largest number of terms that a formula may have. It is fixed so
// that [Terms] is a plain value and a decision allocates nothing for its record.
const MaxTerms = 9

// Term names one number of a formula.
type Term struct {
	Name string `json:"name"`           // as it stands in the formula's text
	Unit string `json:"unit,omitempty"` // "slot-seconds", "tasks", "" for a pure number
	Doc  string `json:"doc"`            // one line for a person
}

// OfResource is the unit of terms that are amounts of the resource in which a child is
// compared, see [Child.Resource].
const OfResource = "of the resource"

// decays reports whether the term is given as of the reference of the units, and is
// to be divided by their growth to be as of the answer's instant.
func (t Term) decays() bool { return strings.HasPrefix(t.Unit, "slot-seconds") }

// write writes a value of the term for a person: amounts of a resource as they are
// configured, with what stands for a factor.
func (t Term) write(v float64) string {
	if t.Unit == OfResource && v == math.Trunc(v) && math.Abs(v) < 1<<62 {
		return amount(int64(v))
	}
	return Short(v)
}

// Formula is the rule of a policy that orders or weighs the children of a pool,
// written so that a person can read it and [Formula.Eval] can compute it: the text
// that is shown is the text that is evaluated.
type Formula struct {
	Policy string // the name in the configuration, e.g. "fair"
	Text   string // e.g. "joined + (served + expected) / weight"
	Order  string // what the result means, e.g. "smallest first"
	Terms  []Term
	// Says is what a child's numbers say in words, "has {running} of its {target} slots":
	// expressions over the terms stand in braces, and {resource} for the one in which the
	// child is compared. Empty: nothing that the formula does not.
	Says string
	// Called names the result in the policy's own words, "priority {key}": {key} stands for it, beside
	// the expressions that Says may hold.
	Called string
	// Tied says what decides between children with equal keys and different ties. Empty: the larger weight.
	Tied string
	// TermByTerm means that children are compared by the first term, and by the next where that is equal. The
	// result only makes one number of these, which is not shown to people.
	TermByTerm bool

	root node
}

// LargestFirst is the [Formula.Order] of rules whose largest result goes first. Their
// [Terms.Key] is the result with its sign changed, so that the smallest key goes first
// under every rule; the result is shown.
const LargestFirst = "largest first"

// Result is what the formula gives where the key is key.
func (f *Formula) Result(key float64) float64 {
	if f.Order == LargestFirst {
		return 0 - key
	}
	return key
}

// NewFormula parses text. It panics when text is not an expression over the given
// terms, or has too many: formulas are written in the program, not by users.
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

// Phrased sets the text that says in words what the numbers of a child mean, "" for none, and the
// one that says by what it is compared. It panics as NewFormula does.
func (f *Formula) Phrased(says, called string) *Formula {
	for _, text := range []string{says, withKey(called, 0)} {
		if _, err := inWords(text, f.Terms, make([]float64, len(f.Terms)), ""); err != nil {
			panic("why: words of " + f.Policy + ": " + err.Error())
		}
	}
	f.Says, f.Called = says, called
	return f
}

// TiedBy sets the text that says what decides between children with equal keys and different ties.
func (f *Formula) TiedBy(text string) *Formula {
	f.Tied = text
	return f
}

// Call names the key of a child in the policy's own words, and gives the formula's result, both as
// of the instant at which the units have the growth.
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

// either takes an expression apart that has a text for results from 0 on and one for those
// below it, {a - b|lacks #|had # too much}, where # stands for the amount.
func either(braces string) (expression string, texts []string) {
	parts := strings.Split(braces, "|")
	return parts[0], parts[1:]
}

// inWords puts numbers in the places of the expressions in braces.
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

// Eval computes the formula's text over the values of its terms, in their order.
// Each operation is rounded to a float64 by itself, as in the policies, so that the
// result is equal to the policy's key bit by bit.
func (f *Formula) Eval(values []float64) float64 { return f.root.eval(values) }

// Terms is what one child of a pool was compared by.
type Terms struct {
	Formula *Formula
	Values  [MaxTerms]float64 // in the order of Formula.Terms
	Key     float64           // the formula's result, which is compared
	Tie     float64           // compared when keys are equal, smallest first
	// Fixed orders children whose keys change alike as time passes (see sched.Drifter):
	// the part of the key that does not. Compared when ties are equal, too. Policies whose
	// keys do not drift leave it 0.
	Fixed float64
	// Resource is the one that the terms of the unit [OfResource] are amounts of, by its
	// number counted from 1; 0 is none.
	Resource int32
}

// Recomputed reports whether the key follows from the values by the formula's text.
func (t *Terms) Recomputed() bool {
	return t.Formula.Eval(t.Values[:len(t.Formula.Terms)]) == t.Formula.Result(t.Key)
}

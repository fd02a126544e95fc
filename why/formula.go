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

// Formula is the rule by which a policy orders or weighs the children of a pool,
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

	root node
}

// LargestFirst is the [Formula.Order] of rules whose largest result goes first. Their
// [Terms.Key] is the result with its sign changed, so that the smallest key goes first
// under every rule; what is shown is the result.
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
	f := &Formula{Policy: policy, Text: text, Order: order, Terms: terms}
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

// Saying sets what the numbers of a child say in words. It panics as NewFormula does.
func (f *Formula) Saying(text string) *Formula {
	if _, err := inWords(text, f.Terms, make([]float64, len(f.Terms)), ""); err != nil {
		panic("why: words of " + f.Policy + ": " + err.Error())
	}
	f.Says = text
	return f
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
		expression, after, _ := strings.Cut(rest, "}")
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
		b.WriteString(Short(root.eval(values)))
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
	Key     float64           // the formula's result: what is compared
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

package replay

import "github.com/fairlead/fairlead/why"

// classes is the rule of a leaf pool that serves its priority classes in order. Administrators cannot choose
// it as a policy, so it has no file in package policy.
type classes struct{}

var classFormula = why.NewFormula("priority", "priority", "smallest first", why.Term{Name: "priority"})

func (classes) Formula() *why.Formula { return classFormula }

func (classes) Recompute(c *Choice) Standing {
	return Standing{Values: [why.MaxTerms]float64{float64(c.Child.Priority)}, Tie: -c.Child.Weight}
}

// ruleOf returns the rule for the printed name of a pool's policy; nil if there is none.
func ruleOf(policy string, rules func(policy string) Rule) Rule {
	if policy == classFormula.Policy {
		return classes{}
	}
	return rules(policy)
}

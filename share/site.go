package share

import "fmt"

// SiteRule gives the jobs that it matches a value, which counts for their priority under
// the policy multifactor.
type SiteRule struct {
	Match map[string]string // field -> regular expression over the whole value
	Value float64
}

// Site values jobs by their origin: the first rule that matches decides.
type Site struct {
	rules  []rule
	values []float64
}

// NewSite compiles the rules.
func NewSite(rules []SiteRule) (*Site, error) {
	s := &Site{}
	for i, r := range rules {
		c, err := compile(Rule{Match: r.Match, Pool: DefaultPool})
		if err != nil {
			return nil, fmt.Errorf("site rule %d: %w", i+1, err)
		}
		s.rules = append(s.rules, c)
		s.values = append(s.values, r.Value)
	}
	return s, nil
}

// Value is what a job of that origin is given; 0 if no rule matches.
func (s *Site) Value(o Origin) float64 {
	if s == nil {
		return 0
	}
	for i, r := range s.rules {
		if r.matches(o) {
			return s.values[i]
		}
	}
	return 0
}

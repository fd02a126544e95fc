package share

import "fmt"

// SiteRule gives the jobs that match it a value, which the policy multifactor adds to their priority.
type SiteRule struct {
	Match map[string]string // field -> regular expression over the whole value
	Value float64
}

// Site assigns values to jobs by their origin: the first matching rule decides.
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

// Value is the value of a job with that origin; 0 if no rule matches.
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

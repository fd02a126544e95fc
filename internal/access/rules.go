package access

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// Subject names principals in the configuration: user:ann, group:physics, or * for every user.
type Subject string

// Everybody is every user.
const Everybody Subject = "*"

// Is reports whether the subject includes a principal.
func (s Subject) Is(p *Principal) bool {
	if p.Kind != User {
		return false
	}
	switch kind, name, _ := strings.Cut(string(s), ":"); kind {
	case "user":
		return name == p.Name
	case "group":
		return p.In(name)
	}
	return s == Everybody
}

// CheckSubject returns the reason why a text is not a subject, or "".
func CheckSubject(text string) string {
	kind, name, _ := strings.Cut(text, ":")
	if text == string(Everybody) || (kind == "user" || kind == "group") && name != "" {
		return ""
	}
	return "must be user:NAME, group:NAME or *"
}

// Rules holds the rights in a configuration. The zero value applies if the configuration says nothing about them.
type Rules struct {
	Admin     []Subject // may do everything
	Operators []Operator
	Pools     map[string]Pool // by path; the path of the root is empty
}

// Operator may hold, release, cancel, requeue and move the jobs of a pool and of the pools below it. An operator may
// pause these pools, and boost the pools below.
type Operator struct {
	Who   Subject
	Below string // the path of the pool
}

// Pool holds the rights in a pool. If a field is nil, the field of the pool above applies.
type Pool struct {
	Submit     []Subject // who may submit into it
	Create     []string  // pools below it that jobs may make: paths with fields in braces, from this pool on, or *
	Priorities []string  // the priorities that jobs may have there
	QOS        []string  // the qualities of service that jobs may name there
}

// Administers reports whether a principal is an administrator by the configuration.
func (r *Rules) Administers(p *Principal) bool { return is(r.Admin, p) }

// is reports whether a principal is one of the subjects.
func is(subjects []Subject, p *Principal) bool {
	return slices.ContainsFunc(subjects, func(s Subject) bool { return s.Is(p) })
}

// Operated returns the pools that a principal operates, in the order of the configuration.
func (r *Rules) Operated(p *Principal) (pools []string) {
	for _, o := range r.Operators {
		if o.Who.Is(p) && !slices.Contains(pools, o.Below) {
			pools = append(pools, o.Below)
		}
	}
	return pools
}

// operates reports whether a principal operates a pool, or a pool above it.
func (r *Rules) operates(p *Principal, path string) bool {
	return slices.ContainsFunc(r.Operated(p), func(below string) bool { return path != "" && share.Inside(path, below) })
}

// operatesAbove reports whether a principal operates a pool above this one: an operator changes the shares below its
// pool, but not the share of the pool itself.
func (r *Rules) operatesAbove(p *Principal, path string) bool {
	above, _ := share.Cut(path)
	return above != "" && r.operates(p, above)
}

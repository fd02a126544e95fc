package access

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// Anything stands for every pool that a job may name, every priority, or every quality of service.
const Anything = "*"

// nearest returns the field of a pool, or of the nearest pool above that sets it. The result "of" is the path of that
// pool.
func nearest[T any](r *Rules, path string, field func(Pool) []T) (all []T, of string, said bool) {
	for {
		if all := field(r.Pools[path]); all != nil {
			return all, path, true
		}
		if path == "" {
			return nil, "", false
		}
		path, _ = share.Cut(path)
	}
}

// creates returns the pools that jobs may create at or below a path, as rules; the second result says that jobs may
// create all.
func (r *Rules) creates(path string) (rules *share.PlacementRules, any bool) {
	templates, of, said := nearest(r, path, func(p Pool) []string { return p.Create })
	if !said {
		return nil, false
	}
	var all []share.Rule
	for _, t := range templates {
		if t == Anything {
			any = true
			continue
		}
		all = append(all, share.Rule{Pool: share.Join(of, t)})
	}
	rules, err := share.NewPlacementRules(all)
	if err != nil { // cannot happen: the configuration was checked
		return nil, any
	}
	return rules, any
}

// Creates reports whether a job may create a pool.
func (r *Rules) Creates(o share.Origin, path string) bool {
	rules, any := r.creates(path)
	if any || rules == nil {
		return any
	}
	made, ok := rules.Below(o, path)
	return ok && made == path
}

// CreatesBelow returns the pool that a job creates at or below a path that it names, or "".
func (r *Rules) CreatesBelow(o share.Origin, path string) string {
	if rules, _ := r.creates(path); rules != nil {
		made, _ := rules.Below(o, path)
		return made
	}
	return ""
}

// Divides reports whether a job that names only this path gets a pool below it.
func (r *Rules) Divides(path string) bool {
	if rules, _ := r.creates(path); rules != nil {
		_, above := rules.Reach(path)
		return above
	}
	return false
}

// Personal reports whether a pool belongs to another user, because jobs of that user create it.
func (r *Rules) Personal(path, user string) (others bool) {
	if rules, _ := r.creates(path); rules != nil {
		_, others = rules.Personal(path, user)
	}
	return others
}

// Opens reports whether the configuration names the users who may submit into a pool, possibly none, or the users
// who operate it.
func (r *Rules) Opens(path string) bool {
	_, _, said := nearest(r, path, func(p Pool) []Subject { return p.Submit })
	return said || slices.ContainsFunc(r.Operators, func(o Operator) bool { return share.Inside(path, o.Below) })
}

// Use is a request to put a job of the principal into a pool.
type Use struct {
	Pool string
	User string // of the job
	// Own says that the pool is the user's: the rules of placement lead to it regardless of the job's kind and
	// requestor, or the configuration names it after the user. Others says that the pool belongs to another user.
	Own, Others bool
	Claimed     bool // a placement rule sends it there by its kind or requestor, which the user chooses
	There       bool // the configuration names the pool, or it has existed before
	Origin      share.Origin
	// Instead returns what the principal can do without this pool, for a refusal; nil if nobody will read the
	// refusal.
	Instead func() string
}

// instead returns the advice for a principal that may not use the pool.
func (u *Use) instead() string {
	if u.Instead == nil {
		return ""
	}
	return u.Instead()
}

// CheckUse returns nil if a principal may put a job of its own into a pool, or a [Refusal].
func (r *Rules) CheckUse(p *Principal, u Use) error {
	no := func(why, next string) error {
		return &Refusal{Who: p.Name, Verb: "submit into " + Verb(u.Pool), Why: why, Next: next}
	}
	submit, of, said := nearest(r, u.Pool, func(p Pool) []Subject { return p.Submit })
	switch {
	case said && !is(submit, p):
		return no("the configuration opens "+named(of)+" to "+list(submit), u.instead())
	case u.Own:
		return nil
	case !said && u.Claimed:
		return no("a placement rule sends the job there because of its kind or requestor, which give no rights",
			"ask an administrator to open the pool with access.pools")
	case !said:
		return no("no placement rule sends your jobs there, and access.pools does not open the pool", u.instead())
	case u.Others && of != u.Pool:
		return no("the pool belongs to another user", "submit into "+named(of))
	case !u.There && !u.Claimed && !r.Creates(u.Origin, u.Pool):
		return no("the pool does not exist, and jobs may not make it", "name a pool that fairlead shares lists, "+
			"or ask an administrator")
	}
	return nil
}

// named returns how a sentence names a pool.
func named(path string) string {
	if path == "" {
		return "the cluster"
	}
	return path
}

func list(subjects []Subject) string {
	if len(subjects) == 0 {
		return "nobody"
	}
	var names []string
	for _, s := range subjects {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// Priorities returns the priorities that jobs may have in a pool, if the configuration sets them.
func (r *Rules) Priorities(path string) (names []string, said bool) {
	names, _, said = nearest(r, path, func(p Pool) []string { return p.Priorities })
	return names, said
}

// CheckPriority checks whether jobs of a principal may have a priority in a pool. The argument "usual" is true for
// priorities that they may have where the configuration sets none.
func (r *Rules) CheckPriority(p *Principal, path, name string, usual bool) error {
	names, said := r.Priorities(path)
	switch {
	case said && (slices.Contains(names, name) || slices.Contains(names, Anything)), !said && usual:
		return nil
	case said:
		return &Refusal{Who: p.Name, Verb: "use the priority " + Verb(name), Why: path + " has " + strings.Join(names, ", "),
			Next: "use one of these"}
	}
	return &Refusal{Who: p.Name, Verb: "use the priority " + Verb(name), Why: "it is higher than the usual priority",
		Next: "use a lower priority, or ask an administrator to allow it with access.pools"}
}

// CheckQOS checks whether jobs of a principal may name a quality of service in a pool.
func (r *Rules) CheckQOS(p *Principal, path, name string) error {
	names, _, _ := nearest(r, path, func(p Pool) []string { return p.QOS })
	if name == "" || slices.Contains(names, name) || slices.Contains(names, Anything) {
		return nil
	}
	return &Refusal{Who: p.Name, Verb: "name the quality of service " + Verb(name),
		Next: "leave it out, or ask an administrator to allow it with access.pools"}
}

package access

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// Refusal says what a principal may not do, why, and what to do about it. It is a [queue.ErrForbidden].
type Refusal struct {
	Who  string // "" means unknown
	Verb Verb
	Why  string // "" means that it is not for users
	Next string
}

// Error returns the sentence for the principal that was refused.
func (e *Refusal) Error() string {
	who := ""
	if e.Who != "" {
		who = " (" + e.Who + ")"
	}
	text := fmt.Sprintf("you%s may not %s", who, e.Verb)
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text + "; " + cmp.Or(e.Next, "ask an administrator")
}

// Is makes errors.Is(err, queue.ErrForbidden) true.
func (e *Refusal) Is(target error) bool { return target == queue.ErrForbidden }

// Check returns nil if a principal may do something to an object, or a [Refusal]. It refuses everything that it does
// not name.
func (r *Rules) Check(p *Principal, v Verb, o Object) error {
	no := func(why, next string) error { return &Refusal{Who: p.Name, Verb: v, Why: why, Next: next} }
	if !p.Known() {
		return &Refusal{Verb: v, Why: "the server does not know who you are",
			Next: "use the server's socket, or fairlead dashboard in a browser"}
	}
	if err := p.checkLimits(v, &o); err != nil {
		return err
	}
	switch {
	case v == SignIn && (p.Kind != User || p.Via != BySocket): // so that a stolen session ends by itself
		return no("a session begins only on the server's socket", "use fairlead dashboard")
	case v == MakeToken && (p.Kind != User || p.Via != BySocket): // so that a stolen session or token ends by itself
		return no("tokens are made only on the server's socket", "use fairlead token create there")
	case p.Admin:
		return nil
	case p.Kind == Node:
		return r.checkNode(p, v, o)
	case p.Kind != User:
		return no("", "")
	}
	return r.checkUser(p, v, o)
}

// checkLimits refuses requests that the credential does not allow, whoever presents it.
func (p *Principal) checkLimits(v Verb, o *Object) error {
	switch {
	case !p.good(v, o):
		return p.unfit(v, "is valid only for "+strings.Join(p.Scopes, ", "))
	case o.Pool != "":
		return p.CheckCredential(v, o.Pool)
	case p.Pools != nil && !poolless[v]:
		return p.unfit(v, "is valid only in "+strings.Join(p.Pools, ", "))
	}
	return nil
}

// unfit returns the refusal that the credential causes.
func (p *Principal) unfit(v Verb, why string) error {
	if p.Via == BySession {
		return &Refusal{
			Who: p.Name, Verb: v, Why: "this session of an administrator is read-only",
			Next: "run fairlead dashboard --admin, and open the address that it prints",
		}
	}
	return &Refusal{Who: p.Name, Verb: v, Why: "your credential " + why, Next: "use another one"}
}

// poolless holds the verbs that a credential for some pools allows without a pool: looking, and submitting, because
// the pool of a submission is checked later, when it is known.
var poolless = map[Verb]bool{Look: true, Submit: true}

// good reports whether the credential allows something. The scope run:KIND is for workers that handle that kind.
func (p *Principal) good(v Verb, o *Object) bool {
	if p.Scopes == nil || slices.Contains(p.Scopes, scopes[v]) || slices.Contains(p.Scopes, "admin") {
		return true
	}
	return v == Run && len(o.Kinds) > 0 && !slices.ContainsFunc(o.Kinds, func(kind string) bool {
		return !slices.Contains(p.Scopes, runKind+kind)
	})
}

// runKind begins the scope of jobs of one kind.
const runKind = "run:"

// RunKinds returns the kinds of jobs that the credential lets the principal run, if it is limited to some.
func (p *Principal) RunKinds() (kinds []string) {
	for _, scope := range p.Scopes {
		if kind, is := strings.CutPrefix(scope, runKind); is {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// CheckScope refuses a verb that the credential does not allow, whoever presents it.
func (p *Principal) CheckScope(v Verb) error {
	if p.good(v, &Object{}) {
		return nil
	}
	return p.unfit(v, "is valid only for "+strings.Join(p.Scopes, ", "))
}

// CheckCredential refuses a verb in a pool that the credential does not cover, whoever presents it.
func (p *Principal) CheckCredential(v Verb, pool string) error {
	if p.Pools == nil || slices.ContainsFunc(p.Pools, inside(pool)) {
		return nil
	}
	return p.unfit(v, "is not valid in "+pool)
}

func inside(path string) func(string) bool {
	return func(above string) bool { return share.Inside(path, above) }
}

// checkNode is [Rules.Check] for an agent or a bridge with a certificate: it may run its own node, and do nothing
// else.
func (r *Rules) checkNode(p *Principal, v Verb, o Object) error {
	switch {
	case v == Run && o.Node == p.Name, v == Look:
		return nil
	case v == Run:
		return &Refusal{Who: p.Name, Verb: v, Why: fmt.Sprintf("this certificate does not belong to the node %.64q", o.Node),
			Next: "join under the name in the certificate"}
	}
	return &Refusal{Who: p.Name, Verb: v, Why: "this is the certificate of a node", Next: "do it as a user"}
}

// checkUser is [Rules.Check] for a user who is not an administrator.
func (r *Rules) checkUser(p *Principal, v Verb, o Object) error {
	no := func(why, next string) error { return &Refusal{Who: p.Name, Verb: v, Why: why, Next: next} }
	switch v {
	case Look, SignIn, SignOut, SeeTokens:
		return nil
	case MakeToken:
		if p.Owns(o.Owner) {
			return nil
		}
		return no("the token would belong to "+o.Owner+", and only administrators make tokens for others", "")
	case Submit:
		if p.Owns(o.Owner) {
			return nil
		}
		return no(fmt.Sprintf("only administrators submit for others, such as %s", o.Owner), "")
	case Output:
		if p.Owns(o.Owner) {
			return nil
		}
		return no("the job belongs to "+o.Owner, "ask "+o.Owner)
	case Alter, Move:
		if p.Owns(o.Owner) || r.operates(p, o.Pool) {
			return nil
		}
		return no("the job belongs to "+o.Owner, "ask "+o.Owner+" or an administrator")
	case Pause, Boost:
		if o.By != "" && o.By != p.Name {
			return no("it was set by "+o.By, "ask "+o.By+" or an administrator")
		}
		if v == Pause && r.operates(p, o.Pool) || v == Boost && r.operatesAbove(p, o.Pool) {
			return nil
		}
		if r.operates(p, o.Pool) {
			return no("you operate "+o.Pool+" itself, but only operators of a pool above it may change its share",
				"change pools below it, or ask an administrator")
		}
	}
	return no("", "")
}

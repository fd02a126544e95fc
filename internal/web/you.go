package web

import (
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
)

// You is who asks, and decides what of a page to show: by the same function that decides about requests.
type You struct {
	api.Actor
	// Role has all rights of somebody that do not follow from the name: who has the same role may do the same to
	// pools and nodes.
	Role string
	// May says why not, if not; nil is nothing.
	May func(access.Verb, access.Object) error
}

// may says why somebody may not do something. Nobody may do anything where nothing decides about it.
func (y *You) may(v access.Verb, o access.Object) error {
	if y.May == nil {
		return &access.Refusal{Who: y.User, Verb: v}
	}
	return y.May(v, o)
}

// can reports whether somebody may do something.
func (y *You) can(v access.Verb, o access.Object) bool { return y.may(v, o) == nil }

// Boosts reports whether a page offers to boost a pool, or to end a boost that somebody made.
func (y You) Boosts(pool, by string) bool {
	return y.can(access.Boost, access.Object{Pool: pool, By: by})
}

// Pauses reports whether a page offers to pause a pool, or to end a pause that somebody made.
func (y You) Pauses(pool, by string) bool {
	return y.can(access.Pause, access.Object{Pool: pool, By: by})
}

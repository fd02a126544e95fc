package web

import (
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
)

// You is the sender of a request. It decides which parts a page shows, by the same function that decides
// about requests.
type You struct {
	api.Actor
	// Role names all rights of a user that do not follow from the name: users with the same role may do the
	// same to pools and nodes.
	Role string
	// May returns the reason why the user may not do something, or nil if it may.
	May func(access.Verb, access.Object) error
}

// may returns the reason why the user may not do something, or nil. Without the function May, nothing is
// allowed.
func (y *You) may(v access.Verb, o access.Object) error {
	if y.May == nil {
		return &access.Refusal{Who: y.User, Verb: v}
	}
	return y.May(v, o)
}

// can reports whether the user may do something.
func (y *You) can(v access.Verb, o access.Object) bool { return y.may(v, o) == nil }

// Boosts reports whether a page offers to boost a pool, or to end a boost that the user `by` made.
func (y You) Boosts(pool, by string) bool {
	return y.can(access.Boost, access.Object{Pool: pool, By: by})
}

// Pauses reports whether a page offers to pause a pool, or to end a pause that the user `by` made.
func (y You) Pauses(pool, by string) bool {
	return y.can(access.Pause, access.Object{Pool: pool, By: by})
}

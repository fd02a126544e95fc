package server

import (
	"errors"
	"net/http"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

var (
	root    = actor{Actor: api.Actor{User: "root", UID: 0, Admin: true}}
	ann     = actor{Actor: api.Actor{User: "ann", UID: 1000}}
	unknown = actor{Actor: api.Actor{User: "ann", UID: -1}} // says so, and cannot show it
)

// refusal is the status with which somebody who may not do something is refused.
func refusal(a actor) int {
	if a.UID < 0 {
		return http.StatusUnauthorized
	}
	return http.StatusForbidden
}

// TestWhoMayDoWhat is the table of permissions.
func TestWhoMayDoWhat(t *testing.T) {
	for _, c := range []struct {
		who   actor
		what  verb
		owner string
		may   bool
	}{
		{ann, doSubmit, "ann", true}, {ann, doSubmit, "bob", false}, {root, doSubmit, "bob", true}, {unknown, doSubmit, "ann", false},
		{ann, doAlter, "ann", true}, {ann, doAlter, "bob", false}, {root, doAlter, "bob", true}, {unknown, doAlter, "ann", false},
		{ann, doOutput, "ann", true}, {ann, doOutput, "bob", false}, {root, doOutput, "bob", true}, {unknown, doOutput, "ann", false},
		{ann, doAgent, "", false}, {root, doAgent, "", true}, {unknown, doAgent, "", false},
		{ann, doNodes, "", false}, {root, doNodes, "", true}, {unknown, doNodes, "", false},
		{ann, doShares, "", false}, {root, doShares, "", true}, {unknown, doShares, "", false},
		{ann, "invent", "ann", false},
	} {
		err := check(c.who, c.what, c.owner)
		if (err == nil) != c.may || err != nil && !errors.Is(err, fairlead.ErrForbidden) {
			t.Errorf("%s (%d) %s of %s: %v, want %v", c.who.User, c.who.UID, c.what, c.owner, err, c.may)
		}
	}
}

// TestOnlyAdministratorsPutJobsBeforeOthers by being less nice than 0.
func TestOnlyAdministratorsPutJobsBeforeOthers(t *testing.T) {
	for _, c := range []struct {
		who  actor
		nice int
		may  bool
	}{{ann, 10, true}, {ann, 0, true}, {ann, -1, false}, {root, -1, true}, {unknown, -1, false}} {
		if err := checkNice(c.who, c.nice); (err == nil) != c.may || err != nil && !errors.Is(err, fairlead.ErrForbidden) {
			t.Errorf("%s (%d), nice %d: %v, want %v", c.who.User, c.who.UID, c.nice, err, c.may)
		}
	}
}

// TestOthersDoNotSeeTheData: the environment and the payload of a job are its owner's.
func TestOthersDoNotSeeTheData(t *testing.T) {
	j := &fairlead.Job{ID: 1, User: "ann", Name: "n", Env: map[string]string{"TOKEN": "secret"}, Payload: []byte("secret")}
	bob := actor{Actor: api.Actor{User: "bob", UID: 1001}}
	for _, c := range []struct {
		who  actor
		sees bool
	}{{ann, true}, {root, true}, {bob, false}, {unknown, false}} {
		d := shown(c.who, j)
		if (len(d.Env) > 0) != c.sees || (len(d.Payload) > 0) != c.sees || d.Name != "n" {
			t.Errorf("%s (%d) sees %+v", c.who.User, c.who.UID, d.Spec)
		}
	}
	if len(j.Env) == 0 || len(j.Payload) == 0 {
		t.Error("the job itself was changed")
	}
}

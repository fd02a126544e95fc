package server

import (
	"net/http"
	"testing"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/queue"
)

var (
	root    = access.Principal{Kind: access.User, Name: "root", UID: 0, Admin: true}
	ann     = access.Principal{Kind: access.User, Name: "ann", UID: 1000}
	unknown = access.Principal{Name: "ann", UID: -1} // claims to be ann, and cannot prove it
)

// refusal returns the status with which somebody without the right is refused.
func refusal(a access.Principal) int {
	if a.UID < 0 {
		return http.StatusUnauthorized
	}
	return http.StatusForbidden
}

// TestOthersDoNotSeeTheData: only the owner sees the environment and the payload of a job.
func TestOthersDoNotSeeTheData(t *testing.T) {
	j := &queue.Job{ID: 1, User: "ann", Name: "n", Env: map[string]string{"TOKEN": "secret"}, Payload: []byte("secret")}
	bob := access.Principal{Kind: access.User, Name: "bob", UID: 1001}
	for _, c := range []struct {
		who  access.Principal
		sees bool
	}{{ann, true}, {root, true}, {bob, false}, {unknown, false}} {
		d := shown(c.who, j)
		if (len(d.Env) > 0) != c.sees || (len(d.Payload) > 0) != c.sees || d.Name != "n" {
			t.Errorf("%s (%d) sees %+v", c.who.Name, c.who.UID, d.Spec)
		}
	}
	if len(j.Env) == 0 || len(j.Payload) == 0 {
		t.Error("the job itself was changed")
	}
}

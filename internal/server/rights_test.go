package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// waysDesk is a lab whose rules send jobs of some kinds and requestors to separate pools.
func waysDesk(t *testing.T) *desk {
	t.Helper()
	rules, err := share.NewPlacementRules([]share.Rule{
		{Match: map[string]string{"kind": "ci"}, Pool: "build"},
		{Match: map[string]string{"requestor": "bio.*"}, Pool: "biology/{requestor}"},
		{Match: map[string]string{"group": "physics"}, Pool: "physics/{user}"}, {Pool: "guests/{user}"},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := allocation.Default()
	c.PlacementRules, c.Levels = rules, []string{"fast"}
	for _, name := range []string{"biology", "build", "guests", "physics", "spare"} {
		c.Sched.Root.Pools = append(c.Sched.Root.Pools, share.Pool{Name: name, Weight: 1})
	}
	c.Access.Operators = []access.Operator{{Who: "user:ben", Below: "biology"}}
	d := newDesk(t)
	if err := d.loop.Configure(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	d.submit(person("ann", 1000, "physics"), api.Spec{Argv: []string{"true"}})
	return d
}

// ways returns requests that would give their sender another pool, or more than the sender's own pool allows.
func ways() map[string]api.SubmitRequest {
	all := map[string]api.SubmitRequest{}
	add := func(name string, change func(*api.Spec)) {
		s := api.Spec{Argv: []string{"true"}}
		change(&s)
		all[name] = api.SubmitRequest{Jobs: []api.Spec{s}, Unsatisfiable: true}
	}
	for _, pool := range []string{"physics", "physics/ann", "biology/x", "build", "spare", "spare/deep", "made-up"} {
		add("the pool "+pool, func(s *api.Spec) { s.Pool = pool })
	}
	add("another user's pool, by the name", func(s *api.Spec) { s.Pool = "ann" })
	add("an array", func(s *api.Spec) { s.Pool, s.Array = "spare", "0-9" })
	add("a gang", func(s *api.Spec) { s.Pool, s.Gang = "spare", 2 })
	add("a held job", func(s *api.Spec) { s.Pool, s.Held = "spare", true })
	add("a job with a key", func(s *api.Spec) { s.Pool, s.Key = "spare", "k" })
	add("a job after another one", func(s *api.Spec) { s.Pool, s.After = "spare", []api.After{{Job: 1}} })
	add("the kind", func(s *api.Spec) { s.Kind = "ci" })
	add("the kind and the pool", func(s *api.Spec) { s.Kind, s.Pool = "ci", "build" })
	add("the requestor", func(s *api.Spec) { s.Requestor = "biologist" })
	add("the requestor and the pool", func(s *api.Spec) { s.Requestor, s.Pool = "biologist", "biology" })
	add("the requestor as a user", func(s *api.Spec) { s.Requestor, s.Pool = "ann", "physics/ann" })
	add("the priority", func(s *api.Spec) { s.Priority = "high" })
	add("the quality of service", func(s *api.Spec) { s.QOS = "fast" })
	add("nice", func(s *api.Spec) { s.Nice = -1 })
	return all
}

// TestNoWayIntoAPoolWithoutRight: whatever a request says, a user's jobs stay in the user's pool, with the usual
// priority. The same requests by the administrator show that each would lead elsewhere.
func TestNoWayIntoAPoolWithoutRight(t *testing.T) {
	dan, ben := person("dan", 1003, "users"), person("ben", 1005, "biology")
	for _, who := range []access.Principal{dan, ben, machine("n1"), root} {
		d := waysDesk(t)
		for name, r := range ways() {
			for _, dry := range []bool{true, false} {
				r.DryRun = dry
				w := d.answerOf(who, http.MethodPost, "/v1/jobs", r, "X-Fairlead-Group", "physics")
				if refused := w.Code != 200 || strings.Contains(w.Body.String(), `"error"`); refused == who.Admin {
					t.Errorf("%s by %s (dry run %v): %d %s", name, who.Name, dry, w.Code, w.Body)
				}
			}
			if r.DryRun = false; !who.Admin {
				if w := d.answerOf(who, http.MethodPost, "/v1/jobs", r, "X-Fairlead-As", "ann"); w.Code != http.StatusForbidden {
					t.Errorf("%s by %s for ann: %d %s", name, who.Name, w.Code, w.Body)
				}
			}
		}
		jobs, err := d.loop.Client().Jobs(t.Context(), queue.Query{User: who.Name})
		if err != nil || (len(jobs) > 0) != who.Admin {
			t.Errorf("%s has %d jobs, %v", who.Name, len(jobs), err)
		}
	}
}

// TestNoWayByChanges: by changing their own jobs, or by a what-if question, users get nothing that a submission does
// not give them.
func TestNoWayByChanges(t *testing.T) {
	text := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		alter api.AlterRequest
		ask   api.Variation
	}{
		"a move":         {api.AlterRequest{Verb: "move", Pool: "spare"}, api.Variation{Pool: text("spare")}},
		"a move to ann":  {api.AlterRequest{Verb: "move", Pool: "physics/ann"}, api.Variation{Pool: text("physics/ann")}},
		"a move made up": {api.AlterRequest{Verb: "move", Pool: "made/up"}, api.Variation{Pool: text("made/up")}},
		"the priority":   {api.AlterRequest{Verb: "prioritise", Priority: "high"}, api.Variation{Priority: text("high")}},
		"the quality":    {api.AlterRequest{Verb: "prioritise", QOS: text("fast")}, api.Variation{QOS: text("fast")}},
	} {
		for _, who := range []access.Principal{person("dan", 1003, "users"), root} {
			d := waysDesk(t)
			own := queue.Job{User: "dan", Group: "users", Argv: []string{"x"}}
			if _, err := d.loop.Client().Submit(t.Context(), own); err != nil {
				t.Fatal(err)
			}
			c.alter.Jobs = []int64{2}
			ask := d.answerOf(who, http.MethodPost, "/v1/jobs/2/what-if", c.ask)
			if (ask.Code == http.StatusOK) != who.Admin {
				t.Errorf("%s asked by %s: %d %s", name, who.Name, ask.Code, ask.Body)
			}
			w := d.answerOf(who, http.MethodPost, "/v1/jobs/alter", c.alter)
			j, err := d.loop.Client().Job(t.Context(), 2)
			if changed := fmt.Sprint(j.Pool, j.Priority, j.QOS) != "guests/dannormal"; err != nil || changed != who.Admin {
				t.Errorf("%s by %s: %d %s; the job is in %s, %s, %s", name, who.Name, w.Code, w.Body, j.Pool, j.Priority, j.QOS)
			}
		}
	}
}

// TestAdviceIsAllowed: nobody is advised to raise a priority without the right to do so.
func TestAdviceIsAllowed(t *testing.T) {
	d := waysDesk(t)
	for _, c := range []struct {
		who  access.Principal
		want int
		next string
	}{
		{person("ann", 1000, "physics"), 1, "ask an administrator to raise its priority; or wait"},
		{root, 2, "raise its priority: fairlead alter 2 --priority high; or wait"},
	} {
		ctx := context.WithValue(t.Context(), principalKey{}, c.who)
		a := &why.Answer{Subject: why.Subject{User: "ann", Pool: "physics/ann"}}
		a.Changes = []why.Change{{Flags: "-t 1h"}, {Flags: "--priority high", Priority: "high"}}
		a.Reason.Next = "raise its priority: fairlead alter 2 --priority high; or wait"
		a.Others = []why.Reason{{Next: a.Reason.Next}}
		keepAllowed(ctx, d.loop, a)
		if len(a.Changes) != c.want || a.Reason.Next != c.next || a.Others[0].Next != c.next {
			t.Errorf("%s is advised %+v, %q, %q", c.who.Name, a.Changes, a.Reason.Next, a.Others[0].Next)
		}
	}
}

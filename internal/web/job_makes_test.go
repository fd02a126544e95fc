package web

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/why"
)

// TestMakes: advised changes of one field of the waiting job are buttons, for users who may change it.
func TestMakes(t *testing.T) {
	cpu := map[string]int64{"cpu": 1}
	for _, c := range []struct {
		change      why.Change
		makes, link string
	}{
		{why.Change{Alter: true, LimitSeconds: 300}, "Set limit 5m", "verb=limit"},
		{why.Change{Alter: true, Pool: "b"}, "Move to b", "to=b"},
		{why.Change{Alter: true, Priority: "high"}, "Set priority high", "priority=high"},
		{why.Change{Request: cpu}, "", ""},
		{why.Change{Alter: true, Request: cpu}, "", ""},
		{why.Change{Alter: true, LimitSeconds: 300, Pool: "b"}, "", ""},
	} {
		j := &Job{JobResponse: &api.JobResponse{Job: api.Job{ID: 7}}, Verbs: []verb{{}}}
		if got := j.Makes(c.change); got.Makes != c.makes || !strings.Contains(got.Apply, c.link) {
			t.Errorf("%+v: %q by %q, want %q", c.change, got.Makes, got.Apply, c.makes)
		}
		j.Verbs = nil
		if got := j.Makes(c.change); got.Apply != "" {
			t.Errorf("%+v: a user who may not change the job is offered %q", c.change, got.Makes)
		}
	}
}

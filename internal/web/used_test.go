package web_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

// TestUsedNow: the list of running jobs shows the memory of a task, as a part of the memory that it asked for, and its
// processor use, as its agent measured them.
func TestUsedNow(t *testing.T) {
	l := newLab(t, cluster)
	id := l.submit("curie", api.Spec{Request: map[string]int64{"cpu": 2, "mem": 4 << 30}})
	j, err := l.client.Join(t.Context(), "n1", api.JoinRequest{Capacity: map[string]int64{"cpu": 4, "mem": 8 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.client.Poll(t.Context(), "n1", api.PollRequest{Session: j.Session, WaitSeconds: 5})
	if err != nil || len(p.Start) != 1 || p.Start[0].JobID != id {
		t.Fatalf("%+v, %v", p, err)
	}
	report := api.ReportRequest{Session: j.Session, Renew: []queue.Ref{p.Start[0].Ref},
		Used: []views.Used{{CPU: 15, Memory: 1 << 30, Elapsed: 10}}}
	if _, err := l.client.Report(t.Context(), "n1", report); err != nil {
		t.Fatal(err)
	}
	l.wait("the list shows what the job uses", func() bool {
		_, _, text := l.get("/queue?list=running")
		return strings.Contains(text, ">1G of 4G, ") && strings.Contains(text, ">75.0%<")
	})
}

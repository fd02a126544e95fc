package web_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

// TestUserPageCountsOwnJobs: the page of a user shows the user's own numbers, and the limit, next to the numbers of the
// pools.
func TestUserPageCountsOwnJobs(t *testing.T) {
	l := newLab(t, cluster+"user_limits: {running: 3}\n")
	l.node("n1", map[string]int64{"cpu": 2})
	l.submit("ann", api.Spec{Pool: "physics/curie", Array: "1-5"})
	l.submit("ann", api.Spec{Pool: "biology/env", Held: true})
	l.submit("bob", api.Spec{Pool: "physics/curie"})
	l.wait("two tasks of ann run", func() bool {
		r, err := l.client.Jobs.Get(t.Context(), 1)
		return err == nil && r.Job.Running == 2
	})
	_, _, text := l.get("/pool?user=ann")
	shows(t, text, "<dd>2 tasks of 3 allowed</dd>", "<dd>3 tasks</dd>", "<dd>1 task</dd>", "<dd>2 jobs</dd>",
		"rows=pool&amp;user=ann")
	_, _, text = l.get("/queue?list=running&fold=user")
	shows(t, text, "Each user may run 3 tasks at a time.")
}

// TestUsagePage compares the report by pools and by users with the jobs that ran, and checks its file and the messages
// about mistakes.
func TestUsagePage(t *testing.T) {
	l := newLab(t, cluster)
	l.node("n1", map[string]int64{"cpu": 4})
	for _, job := range []struct {
		user, pool string
		argv       []string
		state      string
	}{
		{"ann", "physics/curie", []string{"sleep", "0.2"}, "succeeded"},
		{"bob", "physics/curie", []string{"false"}, "failed"},
		{"bob", "biology/env", []string{"true"}, "succeeded"},
	} {
		l.until(l.submit(job.user, api.Spec{Pool: job.pool, Argv: job.argv}), job.state)
	}
	_, _, text := l.get("/usage")
	shows(t, text, `<option value="pool" selected>`, "physics/curie", "biology/env", "All rows:", "3 jobs", "My usage")
	rows := l.sheet("/usage?since=1h&rows=pool,user", "usage")
	if got := strings.Join(rows[0], ","); got !=
		"Pool,User,cpu-seconds,Usage,Jobs,Succeeded,Failed,Canceled,Processor seconds" {
		t.Errorf("the file has the columns %s", got)
	}
	found := map[string]string{}
	for _, row := range rows[1:] {
		found[row[0]+" "+row[1]] = strings.Join(row[4:8], " ")
	}
	want := map[string]string{"physics/curie ann": "1 1 0 0", "physics/curie bob": "1 0 1 0", "biology/env bob": "1 1 0 0"}
	for name, numbers := range want {
		if found[name] != numbers {
			t.Errorf("%s has jobs, succeeded, failed and canceled tasks %q, want %q; all: %v", name, found[name], numbers, found)
		}
	}
	_, _, text = l.get("/usage?since=1h&rows=user&user=bob")
	shows(t, text, ", user bob", "2 jobs")
	if strings.Contains(text, "pool?user=ann") {
		t.Errorf("the report for bob shows ann:\n%s", text)
	}
	_, _, text = l.get("/usage?since=1h&rows=user&until=2999-01-01")
	shows(t, text, "3 jobs")
	if strings.Contains(text, "to 2999") {
		t.Errorf("a period that is not over does not end now:\n%s", text)
	}
	for query, says := range map[string]string{
		"since=soon": "from: ", "since=2999-01-01": "is in the future", "since=1h&until=2h": "has to be before the end", "rows=color": "rows: ",
		"until=x": "until: ",
	} {
		_, _, text := l.get("/usage?" + query)
		shows(t, text, `class="problem" role="alert"`, says)
	}
}

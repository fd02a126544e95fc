package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
)

// failCause is a cause for which jobs failed.
type failCause struct {
	Cause string   `json:"cause"`
	Jobs  []int64  `json:"jobs"` // by number
	Tasks int      `json:"tasks"`
	Users []string `json:"users"`
	Nodes []string `json:"nodes"` // where the last failed task of each job ran
	// Last is the latest end of these jobs; a job that still runs counts with its last failed task.
	Last *time.Time `json:"last,omitempty"`
	// LastJob is that job, and Error the first line of its error text.
	LastJob int64  `json:"last_job"`
	Error   string `json:"error,omitempty"`
}

// failCauses is the answer of history --causes as JSON.
type failCauses struct {
	Version int         `json:"version"`
	At      time.Time   `json:"at"`
	Causes  []failCause `json:"causes"`
	More    bool        `json:"more"` // older jobs are not counted
}

// causeList lists the causes for which jobs failed.
type causeList struct {
	*app
	listing *listing
	limit   int // of the jobs that are counted
}

// list lists the causes of the jobs that match, the cause with the most tasks first.
func (l *causeList) list(ctx context.Context, client *api.Client, v url.Values) error {
	v.Set("ends", "true")
	list, err := client.Jobs.List(ctx, v)
	if err != nil {
		return err
	}
	doc := &failCauses{Version: api.Version, At: list.At, Causes: causesOf(list.Jobs), More: list.More}
	if l.listing.json {
		return l.printJSON(doc)
	}
	plain.Lines(doc)
	if err := l.table(doc); err != nil {
		return err
	}
	if doc.More {
		fmt.Fprintf(l.errs, "only the last %d jobs are counted; count more with --limit, or fewer with -u, -A or -S\n",
			l.limit)
	}
	return nil
}

// causesOf groups jobs by the cause of their end.
func causesOf(jobs []api.Job) []failCause {
	out := []failCause{}
	at := map[string]int{}
	for i := range jobs {
		j := &jobs[i]
		cause := words.Cause(j)
		k, known := at[cause]
		if !known {
			k = len(out)
			at[cause] = k
			out = append(out, failCause{Cause: cause, Users: []string{}, Nodes: []string{}})
		}
		out[k].add(j)
	}
	for i := range out {
		c := &out[i]
		slices.Sort(c.Jobs)
		slices.Sort(c.Users)
		slices.Sort(c.Nodes)
	}
	slices.SortStableFunc(out, func(a, b failCause) int { return cmp.Compare(b.Tasks, a.Tasks) })
	return out
}

// add counts a job.
func (c *failCause) add(j *api.Job) {
	c.Jobs = append(c.Jobs, j.ID)
	c.Tasks += max(1, j.Failed)
	if !slices.Contains(c.Users, j.User) {
		c.Users = append(c.Users, j.User)
	}
	ended := j.Ended
	if t := j.LastEnd; t != nil {
		if ended == nil {
			ended = t.Ended
		}
		if t.Node != "" && !slices.Contains(c.Nodes, t.Node) {
			c.Nodes = append(c.Nodes, t.Node)
		}
	}
	if c.LastJob == 0 || ended != nil && (c.Last == nil || ended.After(*c.Last)) {
		c.Last, c.LastJob, c.Error = ended, j.ID, words.ErrorOf(j)
	}
}

func (l *causeList) table(doc *failCauses) error {
	t := table.New(table.Column{Name: "CAUSE"}, table.Column{Name: "JOBS", Right: true},
		table.Column{Name: "TASKS", Right: true}, table.Column{Name: "LAST", Whole: true},
		table.Column{Name: "LAST JOB", Right: true}, table.Column{Name: "USERS"}, table.Column{Name: "NODES", Spare: 1},
		table.Column{Name: "LAST ERROR", Wraps: true})
	for i := range doc.Causes {
		c := &doc.Causes[i]
		t.Row(c.Cause, strconv.Itoa(len(c.Jobs)), c.Tasks, clockOr(c.Last, doc.At), c.LastJob,
			dash(words.First(c.Users, 3)), dash(words.First(c.Nodes, 3)), dash(c.Error))
	}
	return l.print(l.listing, t)
}

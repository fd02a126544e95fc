// Package remote is a client of a server over HTTP, with the methods of
// fairlead.Client: a program that keeps its own store can change over to a server by
// changing one line.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/socket"
	"github.com/fairlead/fairlead/internal/token"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// What a server tells of its nodes and limits.
type (
	// NodeView is a node with its resources, and its running tasks.
	NodeView = views.NodeView
	// LicenseView is a license, and who holds it.
	LicenseView = engine.LicenseView
	// RateView is a rate, and what it allows now.
	RateView = engine.RateView
)

// Client submits jobs to a server and asks about them, as [queue.Client] says. Whom the jobs belong to is
// decided by the connection.
type Client struct{ api *api.Client }

// Option changes how a client connects.
type Option func(*options) error

type options struct {
	trusted []int
	token   string
}

// ServerUser accepts a server that runs as a user, given by name or number, besides one that runs
// as root or as the user of this process.
func ServerUser(name string) Option {
	return func(o *options) error {
		uid, err := socket.UserID(name)
		o.trusted = append(o.trusted, uid)
		return err
	}
}

// TokenFile has the program act by the token in a file, which fairlead token create made, instead of as the user
// under whom it runs. Other users must not be able to read the file.
func TokenFile(path string) Option {
	return func(o *options) (err error) {
		o.token, err = token.ReadFile(path)
		return err
	}
}

// Dial returns a client of the server whose socket has a path. On each connection, before anything
// is sent, it asks the system as whom the server runs, and refuses any user but root, the user of
// this process, and that of [ServerUser]. A server on another machine is reached by a socket that
// ssh forwards: ssh -N -L ./lab.sock:/run/fairlead/fairlead.sock lab1.
func Dial(path string, all ...Option) (*Client, error) {
	var o options
	for _, option := range all {
		if err := option(&o); err != nil {
			return nil, err
		}
	}
	c, err := api.Dial(path, o.trusted...)
	if err != nil {
		return nil, err
	}
	c.Token = o.token
	return &Client{c}, nil
}

// Close lets go of idle connections.
func (c *Client) Close() { c.api.Close() }

// Submit adds jobs and returns their ids when they are on the server's disk; see
// fairlead.Client.Submit.
func (c *Client) Submit(ctx context.Context, jobs ...queue.Job) ([]int64, error) {
	subs, err := c.SubmitAll(ctx, jobs)
	ids := make([]int64, len(jobs))
	var errs []error
	for i, s := range subs {
		ids[i] = s.ID
		if s.Err != nil {
			errs = append(errs, fmt.Errorf("job %d: %w", i+1, s.Err))
		}
	}
	return ids, errors.Join(append(errs, err)...)
}

// SubmitAll is Submit with a report on each job. If the arguments of one cannot be kept,
// nothing is sent.
func (c *Client) SubmitAll(ctx context.Context, jobs []queue.Job) ([]queue.Submission, error) {
	var r api.SubmitRequest
	for i := range jobs {
		j := jobs[i]
		if err := j.EncodeArgs(); err != nil {
			return nil, fmt.Errorf("job %d: %w", i+1, err)
		}
		r.Jobs = append(r.Jobs, api.FromSpec(&j))
	}
	resp, err := c.api.Jobs.Submit(ctx, r)
	if err != nil {
		return nil, err
	}
	out := make([]queue.Submission, len(resp.Jobs))
	for i, s := range resp.Jobs {
		out[i] = queue.Submission{ID: s.ID, Existing: s.Existing, Err: s.Error.Err()}
	}
	return out, nil
}

// Job returns a job.
func (c *Client) Job(ctx context.Context, id int64) (*queue.Job, error) {
	r, err := c.api.Jobs.Tasks(ctx, id, -1, 0)
	if err != nil {
		return nil, err
	}
	return r.Job.ToJob(), nil
}

// Tasks returns the tasks of a job that have started.
func (c *Client) Tasks(ctx context.Context, id int64) ([]queue.Task, error) {
	r, err := c.api.Jobs.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	var out []queue.Task
	for i := range r.Tasks {
		out = append(out, r.Tasks[i].ToTask())
	}
	return out, nil
}

// pageSize is how many jobs are asked for at a time.
const pageSize = 5000

// Jobs returns the jobs that match, without their data and environment: [Client.Job] has these.
func (c *Client) Jobs(ctx context.Context, q queue.Query) ([]*queue.Job, error) {
	var out []*queue.Job
	for {
		n := pageSize
		if q.Limit > 0 {
			n = min(n, q.Limit-len(out))
		}
		list, err := c.api.Jobs.List(ctx, Values(q, n))
		if err != nil {
			return nil, err
		}
		for i := range list.Jobs {
			out = append(out, list.Jobs[i].ToJob())
		}
		if !list.More || q.Limit > 0 && len(out) >= q.Limit {
			return out, nil
		}
		if last := out[len(out)-1].ID; q.Newest {
			q.Before = last
		} else {
			q.After = last
		}
	}
}

// Values is a query as parameters of the interface, for a page of n jobs.
func Values(q queue.Query, n int) url.Values {
	v := url.Values{"limit": {strconv.Itoa(n)}}
	set := func(name, value string) {
		if value != "" && value != "0" {
			v.Add(name, value)
		}
	}
	for _, id := range q.IDs {
		set("ids", strconv.FormatInt(id, 10))
	}
	for _, st := range q.States {
		set("state", string(st))
	}
	set("user", q.User)
	set("pool", q.Pool)
	set("kind", q.Kind)
	set("after", strconv.FormatInt(q.After, 10))
	set("before", strconv.FormatInt(q.Before, 10))
	if !q.Since.IsZero() {
		set("since", q.Since.Format(time.RFC3339Nano))
	}
	if q.Newest {
		set("newest", "true")
	}
	if q.Waits {
		set("waits", "true")
	}
	return v
}

// Alter changes jobs and reports on each. The same change of jobs that follow each other is one request.
func (c *Client) Alter(ctx context.Context, changes ...queue.Alteration) ([]error, error) {
	out := make([]error, 0, len(changes))
	for rest := changes; len(rest) > 0; {
		a, jobs := rest[0], alike(rest)
		r, err := c.api.Jobs.Alter(ctx, api.AlterRequest{Verb: string(a.Verb), Jobs: jobs, Priority: a.Priority, QOS: a.QOS, Nice: a.Nice, Pool: a.Pool, Cause: a.Cause})
		if err != nil {
			return nil, err
		}
		for i := range jobs {
			out = append(out, r.Results[i].Err())
		}
		rest = rest[len(jobs):]
	}
	return out, nil
}

// maxAlter is how many jobs go into one request.
const maxAlter = 50_000

// alike are the jobs that the first changes are about, as far as these are the same.
func alike(changes []queue.Alteration) (jobs []int64) {
	for _, a := range changes[:min(len(changes), maxAlter)] {
		first := changes[0]
		first.Job = a.Job
		if a != first {
			break
		}
		jobs = append(jobs, a.Job)
	}
	return jobs
}

// Cancel cancels a job: waiting tasks never start, running tasks are stopped.
func (c *Client) Cancel(ctx context.Context, id int64) error {
	errs, err := c.Alter(ctx, queue.Alteration{Job: id, Verb: queue.VerbCancel})
	if err != nil {
		return err
	}
	return errs[0]
}

// Why says why a job is where it is.
func (c *Client) Why(ctx context.Context, id int64, o fairlead.WhyOptions) (*why.Answer, error) {
	return c.api.Jobs.Why(ctx, id, o)
}

// Pools returns the tree of shares.
func (c *Client) Pools(ctx context.Context) ([]fairlead.PoolView, error) {
	s, err := c.api.Pools.Shares(ctx, "")
	if err != nil {
		return nil, err
	}
	return s.Pools, nil
}

// Nodes returns the nodes.
func (c *Client) Nodes(ctx context.Context) ([]NodeView, error) {
	n, err := c.api.Nodes.List(ctx)
	if err != nil {
		return nil, err
	}
	return n.Nodes, nil
}

// Limits returns the licenses and rates of the cluster.
func (c *Client) Limits(ctx context.Context) ([]LicenseView, []RateView, error) {
	l, err := c.api.Nodes.Limits(ctx)
	if err != nil {
		return nil, nil, err
	}
	return l.Licenses, l.Rates, nil
}

// Watch calls f for each event until ctx ends or f returns an error.
func (c *Client) Watch(ctx context.Context, f func(queue.Event) error) error {
	return c.api.Events(ctx, nil, func(e api.Event) error {
		return f(queue.Event{Job: e.Job, Task: e.Task, At: e.At, Code: e.Code, Text: e.Text, User: e.User, Pool: e.Pool, State: queue.State(e.State)})
	})
}

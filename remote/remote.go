// Package remote is an HTTP client of a server, with the methods of fairlead.Client: a program that keeps its own store
// can switch to a server by changing one line.
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

// Types of a server's reports about its nodes and limits.
type (
	// NodeView is a node with its resources, and its running tasks.
	NodeView = views.NodeView
	// LicenseView is a license with its holders.
	LicenseView = engine.LicenseView
	// RateView is a rate with the number of starts that it allows now.
	RateView = engine.RateView
)

// Client submits, queries and changes jobs at a server, as a [queue.Client]. The user of the connection owns the jobs.
type Client struct{ api *api.Client }

// Option changes how a client connects.
type Option func(*options) error

type options struct {
	trusted []int
	token   string
}

// ServerUser also accepts a server that runs as this user, given by name or number. Without it the server must run as
// root or as the user of this process.
func ServerUser(name string) Option {
	return func(o *options) error {
		uid, err := socket.UserID(name)
		o.trusted = append(o.trusted, uid)
		return err
	}
}

// TokenFile authenticates the program by the token in a file, made by fairlead token create, instead of by the user
// that runs the program. Other users must not be able to read the file.
func TokenFile(path string) Option {
	return func(o *options) (err error) {
		o.token, err = token.ReadFile(path)
		return err
	}
}

// Dial returns a client of the server with the socket at path. On each connection, before the client sends anything, it
// asks the operating system which user runs the server. It accepts only root, the user of this process, and the user of
// [ServerUser]. To reach a server on another machine, forward its socket with ssh: ssh -N -L
// ./lab.sock:/run/fairlead/fairlead.sock lab1.
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

// Close closes idle connections.
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

// SubmitAll is Submit with a result for each job. If the arguments of one job cannot be encoded, nothing is sent.
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

// pageSize is the number of jobs in one request.
const pageSize = 5000

// Jobs returns the jobs that match, without their data and environment; [Client.Job] returns these.
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

// Values returns a query as URL parameters, for a page of n jobs.
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
	if q.Failing {
		set("failing", "true")
	}
	if q.Waits {
		set("waits", "true")
	}
	return v
}

// Alter changes jobs and returns one error for each. Successive changes that differ only in the job go in one request.
func (c *Client) Alter(ctx context.Context, changes ...queue.Alteration) ([]error, error) {
	out := make([]error, 0, len(changes))
	for rest := changes; len(rest) > 0; {
		a, jobs := rest[0], alike(rest)
		r, err := c.api.Jobs.Alter(ctx, api.AlterRequest{
			Verb: string(a.Verb), Jobs: jobs, Priority: a.Priority, QOS: a.QOS, Nice: a.Nice, Pool: a.Pool,
			Limit: a.Limit.Seconds(), Cause: a.Cause, Waiting: a.Waiting,
		})
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

// maxAlter is the maximum number of jobs in one request.
const maxAlter = 50_000

// alike returns the jobs of the leading changes that differ only in the job.
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

// Why explains the state of a job.
func (c *Client) Why(ctx context.Context, id int64, o fairlead.WhyOptions) (*why.Answer, error) {
	return c.api.Jobs.Why(ctx, id, o)
}

// Pools returns the tree of pools.
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
	l, err := c.api.Nodes.Limits(ctx, false)
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

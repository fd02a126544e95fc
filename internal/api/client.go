package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fairlead/fairlead"
	ipc "github.com/fairlead/fairlead/internal/socket"
	"github.com/fairlead/fairlead/why"
)

// Client speaks to a server.
type Client struct {
	http    *http.Client
	base    string
	Address string
	As      string // for whom to submit; for administrators only
	Trace   string // to which submissions belong, as W3C writes it
}

// ErrUnreachable says that no server answers.
var ErrUnreachable = errors.New("no server answers")

// Dial returns a client of the server with a socket at a path. It connects when it is first used.
// Each connection is used only if root, the user of this process or one of the trusted users (by
// their numbers) listens there. There are no other addresses: nothing says who listens on a port.
func Dial(address string, trusted ...int) (*Client, error) {
	path, socket := strings.CutPrefix(address, "unix://")
	switch {
	case path == "":
		return nil, errors.New("the path of the server's socket is empty")
	case !socket && !isPath(address):
		return nil, fmt.Errorf("%.100q is no path of a socket: nothing says who listens on a port, so programs use the server's socket, such as /run/fairlead/fairlead.sock; browsers get an address with: fairlead dashboard", address)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute}
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return ipc.Dial(ctx, path, trusted...) }
	return &Client{Address: address, base: "http://fairlead", http: &http.Client{Transport: transport}}, nil
}

// isPath tells the path of a socket, which may begin in the working directory, from HOST:PORT.
func isPath(address string) bool {
	host, _, _ := strings.Cut(address, "/")
	if !strings.Contains(host, ":") {
		return true
	}
	is, err := os.Stat(address)
	return err == nil && is.Mode()&os.ModeSocket != 0
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Call sends in as JSON, if it is not nil, and reads the answer into out.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	var reader io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(text)
	}
	resp, err := c.do(ctx, method, path, reader)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil || resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("%s %s: the server's answer is not understood: %w", method, path, err)
	}
	return nil
}

// Open asks for something that is no JSON document, to be read and closed.
func (c *Client) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	resp, err := c.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// do sends a request; an error that the server tells is returned as one.
func (c *Client) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.As != "" {
		req.Header.Set("X-Fairlead-As", c.As)
	}
	if c.Trace != "" {
		req.Header.Set("Traceparent", c.Trace)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if stranger := new(ipc.StrangerError); errors.As(err, &stranger) {
			return nil, fmt.Errorf("%w that may be trusted: %w", ErrUnreachable, stranger)
		}
		return nil, fmt.Errorf("%w at %s: %w", ErrUnreachable, c.Address, shorten(err))
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, problem(resp)
}

// shorten leaves out of a connection's error what the caller says anyway.
func shorten(err error) error {
	var no syscall.Errno
	var u *url.Error
	switch {
	case errors.As(err, &no):
		return no
	case errors.As(err, &u):
		return u.Err
	}
	return err
}

// problem reads an error document. What is not one of ours is told as it is.
func problem(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var doc struct {
		Error
		Errors []struct{ Message, Location string }
	}
	if json.Unmarshal(text, &doc) != nil || doc.Detail == "" {
		return fmt.Errorf("the server says: %s: %s", resp.Status, strings.TrimSpace(string(text)))
	}
	for _, e := range doc.Errors {
		doc.Detail += fmt.Sprintf("; %s: %s", strings.TrimPrefix(e.Location, "body."), e.Message)
	}
	if doc.Code == "" && resp.StatusCode == http.StatusUnprocessableEntity {
		doc.Code = "invalid"
	}
	return doc.Error.Err()
}

func get[T any](ctx context.Context, c *Client, path string, query url.Values) (*T, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	out := new(T)
	return out, c.Call(ctx, http.MethodGet, path, nil, out)
}

func post[T any](ctx context.Context, c *Client, path string, in any) (*T, error) {
	out := new(T)
	return out, c.Call(ctx, http.MethodPost, path, in, out)
}

// Submit submits jobs.
func (c *Client) Submit(ctx context.Context, r SubmitRequest) (*SubmitResponse, error) {
	for i := range r.Jobs {
		if err := r.Jobs[i].checkText(); err != nil {
			return nil, err
		}
	}
	return post[SubmitResponse](ctx, c, "/v1/jobs", r)
}

// Jobs lists jobs; see the query parameters of the interface.
func (c *Client) Jobs(ctx context.Context, q url.Values) (*JobList, error) {
	return get[JobList](ctx, c, "/v1/jobs", q)
}

// pageMost is how much of a long list the interface gives at once.
const pageMost = 10_000

// Job returns a job with all its tasks, which are asked for page by page.
func (c *Client) Job(ctx context.Context, id int64) (*JobResponse, error) {
	whole, err := c.JobTasks(ctx, id, -1, pageMost)
	for err == nil && whole.More {
		var next *JobResponse
		if next, err = c.JobTasks(ctx, id, whole.Tasks[len(whole.Tasks)-1].Task, pageMost); err == nil {
			next.Tasks = append(whole.Tasks, next.Tasks...)
			whole = next
		}
	}
	return whole, err
}

// JobTasks returns a job with at most so many of its tasks: those with an index above a number, which
// is -1 for the first of them.
func (c *Client) JobTasks(ctx context.Context, id int64, after, limit int) (*JobResponse, error) {
	q := url.Values{"after": {strconv.Itoa(after)}, "limit": {strconv.Itoa(limit)}}
	return get[JobResponse](ctx, c, fmt.Sprint("/v1/jobs/", id), q)
}

// Alter changes jobs.
func (c *Client) Alter(ctx context.Context, r AlterRequest) (*AlterResponse, error) {
	return post[AlterResponse](ctx, c, "/v1/jobs/alter", r)
}

// History returns what happened to a job, all of it.
func (c *Client) History(ctx context.Context, id int64) (*History, error) {
	return c.events(ctx, id, -1)
}

// TaskHistory returns what happened to one task of a job.
func (c *Client) TaskHistory(ctx context.Context, id int64, task int) (*History, error) {
	return c.events(ctx, id, task)
}

// events asks for what happened to a task, or to all if it is -1, page by page.
func (c *Client) events(ctx context.Context, id int64, task int) (*History, error) {
	var whole History
	for {
		q := url.Values{"task": {strconv.Itoa(task)}, "after": {strconv.Itoa(len(whole.Events))}, "limit": {strconv.Itoa(pageMost)}}
		next, err := get[History](ctx, c, fmt.Sprintf("/v1/jobs/%d/history", id), q)
		if err != nil {
			return nil, err
		}
		next.Events = append(whole.Events, next.Events...)
		if whole = *next; !whole.More {
			return &whole, nil
		}
	}
}

// Stops lists the tasks that were stopped so that others got their room, oldest first:
// those of one job if it is above 0, and the latest if there are more than limit.
func (c *Client) Stops(ctx context.Context, since time.Time, job int64, limit int) (*StopList, error) {
	q := url.Values{"since": {since.Format(time.RFC3339Nano)}, "limit": {strconv.Itoa(limit)}}
	if job > 0 {
		q.Set("job", strconv.FormatInt(job, 10))
	}
	return get[StopList](ctx, c, "/v1/stops", q)
}

// Why says why a job is where it is.
func (c *Client) Why(ctx context.Context, id int64, o fairlead.WhyOptions) (*why.Answer, error) {
	q := url.Values{"siblings": {strconv.Itoa(o.Siblings)}}
	if o.Evidence {
		q.Set("evidence", "true")
	}
	if o.Estimate {
		q.Set("estimate", "true")
	}
	return get[why.Answer](ctx, c, fmt.Sprintf("/v1/jobs/%d/why", id), q)
}

// WhatIf says what would become of a job if it asked for something else.
func (c *Client) WhatIf(ctx context.Context, id int64, v Variation) (*why.WhatIf, error) {
	return post[why.WhatIf](ctx, c, fmt.Sprintf("/v1/jobs/%d/what-if", id), v)
}

// WhyPool says why a pool, or a user's pool, gets what it gets.
func (c *Client) WhyPool(ctx context.Context, pool string) (*why.Answer, error) {
	return get[why.Answer](ctx, c, "/v1/why/pool", url.Values{"pool": {pool}})
}

// Versus is a comparison with its units.
type Versus struct {
	Comparison *why.Comparison `json:"comparison"`
	Units      why.Units       `json:"units"`
}

// Versus says which of two goes first.
func (c *Client) Versus(ctx context.Context, id int64, other string) (*Versus, error) {
	return get[Versus](ctx, c, fmt.Sprintf("/v1/jobs/%d/versus", id), url.Values{"other": {other}})
}

// NodeTasks returns what runs on nodes, or on all if none is named, and before it what ended there
// within the past.
func (c *Client) NodeTasks(ctx context.Context, nodes []string, past time.Duration) (*NodeTasks, error) {
	q := url.Values{"node": nodes}
	if past > 0 {
		q.Set("past_seconds", strconv.FormatFloat(past.Seconds(), 'f', -1, 64))
	}
	return get[NodeTasks](ctx, c, "/v1/nodes/tasks", q)
}

// Shares returns the tree of pools, or the part below one.
func (c *Client) Shares(ctx context.Context, pool string) (*Shares, error) {
	q := url.Values{}
	if pool != "" {
		q.Set("pool", pool)
	}
	return get[Shares](ctx, c, "/v1/shares", q)
}

// Nodes returns the nodes.
func (c *Client) Nodes(ctx context.Context) (*Nodes, error) {
	return get[Nodes](ctx, c, "/v1/nodes", nil)
}

// Limits returns the licences and rates.
func (c *Client) Limits(ctx context.Context) (*Limits, error) {
	return get[Limits](ctx, c, "/v1/limits", nil)
}

// LimitCourses asks how much of licences and rates was used in so much of the past, a day at most, and by
// when they are free again.
func (c *Client) LimitCourses(ctx context.Context, past time.Duration) (*LimitCourses, error) {
	return get[LimitCourses](ctx, c, "/v1/limits/course", url.Values{"past_seconds": {strconv.FormatFloat(past.Seconds(), 'f', -1, 64)}})
}

// Drain drains a node, or lets it take tasks again, and returns its state then.
func (c *Client) Drain(ctx context.Context, node string, r DrainRequest) (*NodeState, error) {
	var out NodeState
	if err := c.Call(ctx, http.MethodPost, "/v1/nodes/"+url.PathEscape(node)+"/drain", r, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Status returns what the server says about itself.
func (c *Client) Status(ctx context.Context) (*ServerStatus, error) {
	return get[ServerStatus](ctx, c, "/v1/status", nil)
}

// Doctor returns what the server finds when it looks at itself and its agents.
func (c *Client) Doctor(ctx context.Context) (*Diagnosis, error) {
	return get[Diagnosis](ctx, c, "/v1/doctor", nil)
}

// Config returns the configuration in force.
func (c *Client) Config(ctx context.Context) (*ConfigStatus, error) {
	return get[ConfigStatus](ctx, c, "/v1/config", nil)
}

// Log returns a part of a task's output.
func (c *Client) Log(ctx context.Context, id int64, q url.Values) (*LogChunk, error) {
	return get[LogChunk](ctx, c, fmt.Sprintf("/v1/jobs/%d/log", id), q)
}

// Events calls f for each event until ctx ends or f returns an error.
func (c *Client) Events(ctx context.Context, q url.Values, f func(Event) error) error {
	resp, err := c.do(ctx, http.MethodGet, "/v1/events?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	kind := ""
	for lines.Scan() {
		line := lines.Text()
		if k, ok := strings.CutPrefix(line, "event: "); ok {
			kind = k
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			if line == "" {
				kind = ""
			}
			continue
		}
		var e Event
		if kind == "alive" || json.Unmarshal([]byte(data), &e) != nil {
			continue
		}
		if err := f(e); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w at %s: the stream of events ended", ErrUnreachable, c.Address)
}

// Join offers a machine.
func (c *Client) Join(ctx context.Context, name string, r JoinRequest) (*JoinResponse, error) {
	return post[JoinResponse](ctx, c, "/v1/agents/"+url.PathEscape(name)+"/join", r)
}

// Poll waits for work.
func (c *Client) Poll(ctx context.Context, name string, r PollRequest) (*PollResponse, error) {
	return post[PollResponse](ctx, c, "/v1/agents/"+url.PathEscape(name)+"/poll", r)
}

// Report reports ends and renews leases.
func (c *Client) Report(ctx context.Context, name string, r ReportRequest) (*ReportResponse, error) {
	return post[ReportResponse](ctx, c, "/v1/agents/"+url.PathEscape(name)+"/report", r)
}

// ReplyLog answers a request for output.
func (c *Client) ReplyLog(ctx context.Context, name, id string, r LogReply) error {
	return c.Call(ctx, http.MethodPost, "/v1/agents/"+url.PathEscape(name)+"/log/"+id, r, nil)
}

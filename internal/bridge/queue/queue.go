// Package queue is the bridge's adapter to a queue of fairlead itself: another server, whose
// jobs are submitted into one pool with the policy fifo, where the priorities of jobs are the
// levels. It is there for comparison, and for whoever has two clusters.
package queue

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/user"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/share"
)

// Levels are the priorities that every server has, from the lowest on: the level 0 is very_low.
var Levels = []string{"very_low", "low", "normal", "high", "very_high"}

// Options describe the other queue.
type Options struct {
	Address string // of the server, as api.Dial takes it
	Trusted []int  // users as whom that server may run, besides root and the bridge's own
	Pool    string // into which jobs are submitted
	// Levels are the names of the priorities there, the lowest first. Default: Levels.
	Levels []string
	// Constraint is added to the constraint of each job.
	Constraint string
}

// Queue is an adapter.
type Queue struct {
	o      Options
	client *api.Client
	me     string

	mu sync.Mutex
	as map[string]*api.Client // by the user for whom they submit

	changed chan struct{}
	end     context.CancelFunc
	ended   sync.WaitGroup
}

var _ bridge.QS = (*Queue)(nil)

// Open returns an adapter. It connects when it is first used.
func Open(o Options) (*Queue, error) {
	if o.Pool == "" {
		return nil, errors.New("no pool is named into which jobs are submitted there")
	}
	if err := share.CheckPath(o.Pool); err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	if _, err := cluster.ParseConstraint(o.Constraint); err != nil {
		return nil, fmt.Errorf("constraint: %w", err)
	}
	if len(o.Levels) == 0 {
		o.Levels = Levels
	}
	client, err := api.Dial(o.Address, o.Trusted...)
	if err != nil {
		return nil, err
	}
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	q := &Queue{o: o, client: client, me: me.Username, as: map[string]*api.Client{}, changed: make(chan struct{}, 1), end: cancel}
	q.ended.Go(func() { q.watch(ctx) })
	return q, nil
}

// watch tells of everything that happens there.
func (q *Queue) watch(ctx context.Context) {
	for ctx.Err() == nil {
		_ = q.client.Events(ctx, url.Values{}, func(api.Event) error { // it ends when the server does
			q.tell()
			return nil
		})
		q.tell()
		t := time.NewTimer(time.Second)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
	}
}

func (q *Queue) tell() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// Changed implements bridge.QS, as what follows.
func (q *Queue) Changed() <-chan struct{} { return q.changed }

// Close ends the connection.
func (q *Queue) Close() error {
	q.end()
	q.ended.Wait()
	q.client.Close()
	for _, c := range q.as {
		c.Close()
	}
	return nil
}

// Describe says whether the pool there keeps to priorities, which depends on its policy.
func (q *Queue) Describe(ctx context.Context) (frontback.Queue, error) {
	out := frontback.Queue{Name: "the queue at " + q.o.Address, Lowest: 0, Highest: int64(len(q.o.Levels) - 1)}
	shares, err := q.client.Shares(ctx, "")
	if err != nil {
		return out, q.explain(err)
	}
	for _, p := range shares.Pools {
		if p.Path != q.o.Pool {
			continue
		}
		switch p.Policy {
		case "fifo":
			out.Ages, out.Obeys = frontback.No, frontback.Yes
		case "multifactor":
			out.Ages, out.Obeys = frontback.Yes, frontback.Unknown
		default:
			out.Ages, out.Obeys = frontback.No, frontback.Yes
			out.Found = append(out.Found, frontback.Doubt{Broken: true, Text: fmt.Sprintf("pool %s there has the policy %s, by which priorities do not decide between users: give it `policy: fifo` in the file of that server", q.o.Pool, p.Policy)})
		}
		return out, nil
	}
	out.Ages, out.Obeys = frontback.No, frontback.Yes
	out.Found = append(out.Found, frontback.Doubt{Broken: true, Text: fmt.Sprintf("there is no pool %s there: add `%s: {policy: fifo}` to the pools of that server, or name another with --pool", q.o.Pool, q.o.Pool)})
	return out, nil
}

// explain says of an error where it was, and what to do if nobody answers there.
func (q *Queue) explain(err error) error {
	if errors.Is(err, api.ErrUnreachable) {
		return bridge.Explain(err, "the other server: %v: is it running, and is that its address?", err)
	}
	return bridge.Explain(err, "the other server at %s: %v", q.o.Address, err)
}

// Submit submits for each user what is theirs. The marker is the job's key: what arrives twice
// is one job.
func (q *Queue) Submit(ctx context.Context, all []bridge.Submission) ([]bridge.Receipt, error) {
	out := make([]bridge.Receipt, len(all))
	for begin := 0; begin < len(all); {
		end := begin + 1
		for end < len(all) && all[end].Job.User == all[begin].Job.User {
			end++
		}
		if err := q.submit(ctx, all[begin:end], out[begin:end]); err != nil {
			return nil, err
		}
		begin = end
	}
	return out, nil
}

func (q *Queue) submit(ctx context.Context, all []bridge.Submission, out []bridge.Receipt) error {
	req := api.SubmitRequest{Unsatisfiable: true} // it is up to the queue when it has room
	var at []int
	for i := range all {
		spec, err := q.spec(&all[i])
		if err != nil {
			out[i].Err = err
			continue
		}
		req.Jobs = append(req.Jobs, spec)
		at = append(at, i)
	}
	if len(at) == 0 {
		return nil
	}
	resp, err := q.clientFor(all[0].Job.User).Submit(ctx, req)
	if errors.Is(err, fairlead.ErrInvalid) || errors.Is(err, fairlead.ErrForbidden) {
		for _, i := range at {
			out[i].Err = bridge.Explain(fairlead.ErrInvalid, "%v", err)
		}
		return nil
	}
	if err != nil {
		return q.explain(err)
	}
	if len(resp.Jobs) != len(at) {
		return fmt.Errorf("%d answers for %d jobs", len(resp.Jobs), len(at))
	}
	for k, i := range at {
		if e := resp.Jobs[k].Error; e != nil {
			out[i].Err = e.Err()
		} else {
			out[i].ID = strconv.FormatInt(resp.Jobs[k].ID, 10)
		}
	}
	return nil
}

// spec is the job as it is submitted there. Waiting, trying again and arrays are the bridge's
// part.
func (q *Queue) spec(s *bridge.Submission) (api.Spec, error) {
	if s.Priority < 0 || s.Priority >= int64(len(q.o.Levels)) {
		return api.Spec{}, bridge.Explain(fairlead.ErrInvalid, "the level %d is not one of 0 to %d", s.Priority, len(q.o.Levels)-1)
	}
	j := s.Job
	spec := api.Spec{
		Name: j.Name, Pool: q.o.Pool, Priority: q.o.Levels[s.Priority], Argv: j.Argv, Payload: j.Payload, Script: j.Script, Env: s.Variables(),
		Dir: j.Dir, Output: j.Output, Error: j.Error, Request: j.Request, Constraint: q.o.Constraint, LimitSeconds: j.Limit.Seconds(), Key: s.Marker,
	}
	if j.Limit == 0 {
		spec.LimitSeconds = -1
	}
	return spec, nil
}

// clientFor is the client by which jobs of a user are submitted.
func (q *Queue) clientFor(name string) *api.Client {
	if name == q.me || name == "" {
		return q.client
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.as[name] == nil {
		c, err := api.Dial(q.o.Address, q.o.Trusted...)
		if err != nil {
			return q.client // Open dialled it before
		}
		c.As = name
		q.as[name] = c
	}
	return q.as[name]
}

// Cancel cancels jobs.
func (q *Queue) Cancel(ctx context.Context, all []bridge.Entry) error {
	ids, err := q.ids(ctx, all)
	if err != nil {
		return err
	}
	ids = slices.DeleteFunc(ids, func(id int64) bool { return id == 0 })
	if len(ids) == 0 {
		return nil
	}
	// That one has ended, or is not there, it says for each.
	if _, err = q.client.Alter(ctx, api.AlterRequest{Verb: "cancel", Jobs: ids, Cause: "by the bridge"}); err != nil {
		return q.explain(err)
	}
	return nil
}

// Forget has nothing to do: a server keeps what has ended for as long as it is told to.
func (q *Queue) Forget(ctx context.Context, _ []bridge.Entry) error { return ctx.Err() }

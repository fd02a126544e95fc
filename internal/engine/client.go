package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/poolpath"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// Client submits and queries jobs. It fills in the fields that a job leaves open, by the current shares.
type Client struct {
	store  queue.Store
	Shares atomic.Pointer[allocation.Config]
	tree   func(path string) (there, divides bool) // from the engine's pools; nil without an engine
	find   func(name string) (path string, err error)
	kinds  func(kind string) error // checks a kind; nil: all kinds are accepted
}

// NewClient returns a client of the store. A [Loop] has its own.
func NewClient(store queue.Store, shares allocation.Config) *Client {
	shares = shares.Complete()
	c := &Client{store: store}
	c.Shares.Store(&shares)
	return c
}

// Submit adds jobs and returns their ids when they are on disk. A job may depend on an earlier or later job of the same
// call: After with the number -1 is the first one, -2 the second. The error joins the errors of all jobs; accepted jobs
// still get their ids, and refused ones 0.
func (c *Client) Submit(ctx context.Context, jobs ...queue.Job) ([]int64, error) {
	subs, err := c.SubmitAll(ctx, jobs)
	return idsOf(subs, len(jobs), err)
}

// idsOf returns the ids of submitted jobs, and the errors of the refused ones.
func idsOf(subs []queue.Submission, n int, err error) ([]int64, error) {
	ids := make([]int64, n)
	var errs []error
	for i, s := range subs {
		ids[i] = s.ID
		if s.Err != nil && n > 1 {
			errs = append(errs, fmt.Errorf("job %d: %w", i+1, s.Err))
		} else if s.Err != nil {
			errs = append(errs, s.Err)
		}
	}
	return ids, errors.Join(append(errs, err)...)
}

// SubmitAll is Submit with a result for each job.
func (c *Client) SubmitAll(ctx context.Context, jobs []queue.Job) ([]queue.Submission, error) {
	return c.submitAll(ctx, jobs, func(*queue.Job) error { return nil })
}

// submitAll also refuses the jobs for which check returns an error.
func (c *Client) submitAll(ctx context.Context, jobs []queue.Job, check func(*queue.Job) error) ([]queue.Submission, error) {
	return c.submitBy(ctx, jobs, check, c.store.Submit)
}

// settled fills in the open fields of the jobs, and returns the error of each. The argument "by" is the principal who
// submits them; nil stands for the program itself.
func (c *Client) settled(jobs []queue.Job, by *access.Principal, check func(*queue.Job) error) (
	[]queue.Job, []queue.Submission,
) {
	n := allocation.Naming{By: by, Tree: c.tree}
	shares := c.Shares.Load()
	named := poolpath.Names{Shares: shares, Find: c.find}
	out, own := make([]queue.Submission, len(jobs)), make([]queue.Job, len(jobs))
	for i := range jobs {
		own[i] = jobs[i]
		own[i].Pool = named.OfJob(own[i].Pool, own[i].User)
		if out[i].Err = own[i].Check(); out[i].Err == nil {
			fillDigest(&own[i]) // of the request itself, before the shares fill in fields
			out[i].Err = cmp.Or(shares.CheckUnit(&own[i]), shares.Settle(&own[i], n), c.checkKind(own[i].Kind), check(&own[i]))
		}
	}
	return own, out
}

// checkKind checks whether jobs of a kind are accepted.
func (c *Client) checkKind(kind string) error {
	if c.kinds == nil || kind == "" {
		return nil
	}
	return c.kinds(kind)
}

// submitBy checks the jobs and adds the valid jobs by calling the function add.
func (c *Client) submitBy(ctx context.Context, jobs []queue.Job, check func(*queue.Job) error, add adder) ([]queue.Submission, error) {
	own, out := c.settled(jobs, nil, check)
	if err := submitSettled(ctx, own, out, add); err != nil {
		return nil, err
	}
	return out, nil
}

// submitSettled submits the jobs that have no error.
func submitSettled(ctx context.Context, own []queue.Job, out []queue.Submission, add adder) error {
	rounds, err := inRounds(own, out)
	if err != nil {
		return err
	}
	for _, round := range rounds {
		if err := submitRound(ctx, own, out, round, add); err != nil {
			return err
		}
	}
	return nil
}

// submitRound submits the jobs with the given indices. Any jobs of the same call that these depend on have been
// submitted before.
func submitRound(ctx context.Context, jobs []queue.Job, out []queue.Submission, round []int, add adder) error {
	var batch []*queue.Job
	var at []int
	for _, i := range round {
		j := &jobs[i]
		if out[i].Err != nil {
			continue
		}
		for k, d := range j.After {
			if d.Job < 0 {
				on := out[-d.Job-1]
				if on.Err != nil {
					out[i].Err = queue.Invalidf("after", "job %d of this submission was refused", -d.Job)
				}
				j.After[k].Job = on.ID
			}
		}
		if out[i].Err == nil {
			batch, at = append(batch, j), append(at, i)
		}
	}
	if len(batch) == 0 {
		return nil
	}
	subs, err := add(ctx, batch)
	if err != nil {
		return fmt.Errorf("submit: %w", err)
	}
	for k, s := range subs {
		out[at[k]] = s
	}
	return nil
}

// inRounds divides the jobs of one call into rounds, so that each job comes after the jobs that it depends on. Nearly
// always one round is enough.
func inRounds(jobs []queue.Job, out []queue.Submission) ([][]int, error) {
	placed := make([]bool, len(jobs))
	var rounds [][]int
	for left := len(jobs); left > 0; {
		var round []int
		for i := range jobs {
			if !placed[i] && ready(jobs, i, placed, out) {
				round = append(round, i)
			}
		}
		if len(round) == 0 {
			return nil, queue.Invalidf("after", "the dependencies of jobs %v of this submission are circular", unplaced(placed))
		}
		for _, i := range round {
			placed[i] = true
		}
		rounds, left = append(rounds, round), left-len(round)
	}
	return rounds, nil
}

// ready reports whether all jobs of the call that job i depends on are placed. An invalid number is an error of job i.
func ready(jobs []queue.Job, i int, placed []bool, out []queue.Submission) bool {
	for _, d := range jobs[i].After {
		switch on := int(-d.Job - 1); {
		case d.Job > 0:
		case on < 0 || on >= len(jobs):
			out[i].Err = queue.Invalidf("after", "there is no job %d in this submission", -d.Job)
		case !placed[on]:
			return false
		}
	}
	return true
}

func unplaced(placed []bool) []int {
	var numbers []int
	for i, p := range placed {
		if !p {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// Job returns a job.
func (c *Client) Job(ctx context.Context, id int64) (*queue.Job, error) {
	jobs, err := c.store.Jobs(ctx, queue.Query{IDs: []int64{id}})
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, queue.NoJob(id)
	}
	return jobs[0], nil
}

// Jobs returns the jobs that match.
func (c *Client) Jobs(ctx context.Context, q queue.Query) ([]*queue.Job, error) {
	return c.store.Jobs(ctx, q)
}

// Tasks returns the tasks of a job that have started.
func (c *Client) Tasks(ctx context.Context, id int64) ([]queue.Task, error) {
	return c.store.Tasks(ctx, id)
}

// Alter changes jobs and returns one error for each.
func (c *Client) Alter(ctx context.Context, changes ...queue.Alteration) ([]error, error) {
	return c.alterBy(ctx, nil, changes)
}

// alterBy is [Client.Alter] with the rights of a user; nil is the program itself.
func (c *Client) alterBy(ctx context.Context, by *access.Principal, changes []queue.Alteration) ([]error, error) {
	shares := c.Shares.Load()
	for _, a := range changes {
		if a.Verb == queue.VerbPrioritise {
			if err := shares.CheckRaise(a); err != nil {
				return nil, err
			}
		}
	}
	asks := func(a queue.Alteration) bool {
		return a.Verb == queue.VerbMove || a.Verb == queue.VerbLimit || by != nil && a.Verb == queue.VerbPrioritise
	}
	if slices.ContainsFunc(changes, asks) {
		return c.alterKnown(ctx, by, changes)
	}
	return c.store.Alter(ctx, changes)
}

// Cancel cancels a job: waiting tasks never start, running tasks are stopped.
func (c *Client) Cancel(ctx context.Context, id int64) error {
	errs, err := c.Alter(ctx, queue.Alteration{Job: id, Verb: queue.VerbCancel})
	if err != nil {
		return err
	}
	return errs[0]
}

// PromisesByLimits reports whether the current shares promise starts that depend on the time limits of jobs.
func (c *Client) PromisesByLimits() bool {
	return c.Shares.Load().Sched.Backfill == sched.Conservative
}

// alterKnown makes changes for which the job must be known: moves, time limits, and changes of priority by users.
func (c *Client) alterKnown(
	ctx context.Context, by *access.Principal, changes []queue.Alteration,
) ([]error, error) {
	out := make([]error, len(changes))
	var good []queue.Alteration
	var at []int
	for i, a := range changes {
		if out[i] = c.settleChange(ctx, by, &a); out[i] != nil {
			continue
		}
		good, at = append(good, a), append(at, i)
	}
	if len(good) == 0 {
		return out, nil
	}
	errs, err := c.store.Alter(ctx, good)
	if err != nil {
		return nil, err
	}
	for k, err := range errs {
		out[at[k]] = err
	}
	return out, nil
}

// settleChange fills in the fields that a change leaves open, and returns an error if the user may not make it.
func (c *Client) settleChange(ctx context.Context, by *access.Principal, a *queue.Alteration) error {
	if a.Verb != queue.VerbMove && a.Verb != queue.VerbPrioritise && a.Verb != queue.VerbLimit {
		return nil
	}
	j, err := c.Job(ctx, a.Job)
	if err != nil {
		return err
	}
	asked := a.Pool
	if a.Verb == queue.VerbPrioritise {
		if err := c.Shares.Load().CheckRights(by, j, *a); err != nil {
			return fmt.Errorf("job %d: %w", a.Job, err)
		}
		return nil
	}
	if a.Verb == queue.VerbLimit {
		return c.settleLimit(j, a)
	}
	if err := c.settleMove(by, j, a); err != nil {
		return fmt.Errorf("job %d cannot move to %q: %w", a.Job, asked, err)
	}
	return nil
}

// settleLimit decides about the new time limit of a job, as if the job were submitted with it.
func (c *Client) settleLimit(j *queue.Job, a *queue.Alteration) error {
	limit, err := c.Shares.Load().LimitIn(j.Pool, a.Limit)
	if err != nil {
		return fmt.Errorf("job %d: %w", a.Job, err)
	}
	a.Limit = limit
	return nil
}

// settleMove decides into which pool a moved job goes.
func (c *Client) settleMove(by *access.Principal, j *queue.Job, a *queue.Alteration) error {
	a.Pool = poolpath.Names{Shares: c.Shares.Load(), Find: c.find}.OfJob(a.Pool, j.User)
	return c.Shares.Load().SettleMove(j, a, allocation.Naming{By: by, Tree: c.tree})
}

// adder adds jobs that were checked, as [queue.Store.Submit] does.
type adder func(ctx context.Context, jobs []*queue.Job) ([]queue.Submission, error)

// submitted has the fields of a submission that distinguish one job from another. It leaves out fields that change if
// the same job is submitted again, such as its trace.
type submitted struct {
	Name        string             `json:",omitzero"`
	Kind        string             `json:",omitzero"`
	Requestor   string             `json:",omitzero"`
	Pool        string             `json:",omitzero"`
	Priority    string             `json:",omitzero"`
	QOS         string             `json:",omitzero"`
	Nice        int                `json:",omitzero"`
	Argv        []string           `json:",omitempty"`
	Payload     []byte             `json:",omitempty"`
	Script      bool               `json:",omitzero"`
	Env         map[string]string  `json:",omitempty"`
	Dir         string             `json:",omitzero"`
	Output      string             `json:",omitzero"`
	Error       string             `json:",omitzero"`
	Request     queue.Amounts      `json:",omitempty"`
	Constraint  string             `json:",omitzero"`
	Reservation string             `json:",omitzero"`
	Licenses    queue.Amounts      `json:",omitempty"`
	Rates       []string           `json:",omitempty"`
	Limit       time.Duration      `json:",omitzero"`
	Begin       time.Time          `json:",omitzero"`
	Retries     int                `json:",omitzero"`
	Backoff     time.Duration      `json:",omitzero"`
	Array       string             `json:",omitzero"`
	MaxRunning  int                `json:"Most,omitzero"`
	Gang        int                `json:",omitzero"`
	Spread      bool               `json:",omitzero"`
	After       []queue.Dependency `json:",omitempty"`
	Held        bool               `json:",omitzero"`
}

// Undigested is the digest of jobs whose key identifies them whatever their contents.
const Undigested = "-"

// fillDigest sets the digest of a job as it was submitted.
func fillDigest(j *queue.Job) {
	switch {
	case j.Digest == Undigested:
		j.Digest = ""
	case j.Key != "" && j.Digest == "":
		j.Digest = digestOf(j)
	}
}

func digestOf(j *queue.Job) string {
	env := maps.Clone(j.Env)
	delete(env, "TRACEPARENT")
	delete(env, "TRACESTATE")
	begin := j.Begin
	if !begin.IsZero() {
		begin = begin.UTC()
	}
	text, err := json.Marshal(submitted{
		j.Name, j.Kind, j.Requestor, j.Pool, j.Priority, j.QOS, j.Nice, j.Argv, j.Payload, j.Script, env, j.Dir, j.Output, j.Error,
		j.Request, j.Constraint, j.Reservation, j.Licenses, j.Rates, j.Limit, begin, j.Retries, j.Backoff, j.Array, j.MaxRunning, j.Gang, j.Spread,
		j.After, j.Held,
	})
	if err != nil {
		return "" // because of a time that JSON cannot represent; the job is accepted
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// SubmitTx is [Client.Submit] as part of your own transaction, in the same database as the jobs. The jobs come into
// existence together with the other writes of the transaction, when it commits. Until then nobody sees them, and only
// another submission with the same Key waits for the transaction. After an error that is not about one of the jobs,
// roll the transaction back; you may then try again.
func (c *Client) SubmitTx(ctx context.Context, tx queue.Tx, jobs ...queue.Job) ([]int64, error) {
	subs, err := c.submitBy(ctx, jobs, func(*queue.Job) error { return nil }, func(ctx context.Context, jobs []*queue.Job) ([]queue.Submission, error) {
		return tx.Submit(ctx, c.store, jobs)
	})
	return idsOf(subs, len(jobs), err)
}

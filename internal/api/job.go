package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// Spec describes a job to submit.
type Spec struct {
	Name           string            `json:"name,omitempty" doc:"Shown in tables"`
	Kind           string            `json:"kind,omitempty" doc:"Type of work; may choose the pool"`
	Requestor      string            `json:"requestor,omitempty" doc:"Free text that placement rules may match; default: the user"`
	Pool           string            `json:"pool,omitempty" doc:"Path in the tree of shares; default: by the placement rules" example:"physics/markov"`
	Priority       string            `json:"priority,omitempty" doc:"Name of a priority; default: normal"`
	QOS            string            `json:"qos,omitempty" doc:"Quality of service, under the policy multifactor; default: the one with the name of the priority"`
	Nice           int               `json:"nice,omitempty" doc:"Number to subtract from the priority under the policy multifactor; below 0 for administrators only" minimum:"-10000" maximum:"10000"`
	Argv           []string          `json:"argv,omitempty" doc:"Command and arguments; no shell is involved"`
	Args           json.RawMessage   `json:"args,omitempty" doc:"Arguments for a handler of the kind, any JSON; shown to their owner only, and not in lists"`
	Payload        []byte            `json:"payload,omitempty" doc:"Data for a handler that is not JSON, or a script; shown to its owner only, and not in lists"`
	Script         bool              `json:"script,omitempty" doc:"The payload is a script, to be run with the arguments after the first of argv"`
	Env            map[string]string `json:"env,omitempty" doc:"Environment variables; shown to their owner only, and not in lists"`
	Dir            string            `json:"dir,omitempty" doc:"Working directory"`
	Output         string            `json:"output,omitempty" doc:"File for the output; default: a log kept by the agent"`
	Error          string            `json:"error,omitempty" doc:"File for the error output; default: with the output"`
	Request        map[string]int64  `json:"request,omitempty" doc:"Resources per task; a task that does not name the unit of shares takes one unit"`
	Reservation    string            `json:"reservation,omitempty" doc:"Name of the reservation in which it runs"`
	Constraint     string            `json:"constraint,omitempty" doc:"Constraint on labels of the node" example:"arch=amd64 & rack!=b"`
	Licenses       map[string]int64  `json:"licenses,omitempty" doc:"Licenses that each task holds while it runs"`
	Rates          []string          `json:"rates,omitempty" doc:"Rates that limit the starts of tasks; unknown names are refused"`
	LimitSeconds   float64           `json:"limit_seconds,omitempty" doc:"Time limit of each task; in a submission, 0 is the limit of the pool and -1 is none; in answers, 0 is none"`
	Begin          *time.Time        `json:"begin,omitempty" doc:"Earliest start"`
	Retries        int               `json:"retries,omitempty" doc:"Number of retries of a task that fails"`
	BackoffSeconds float64           `json:"backoff_seconds,omitempty" doc:"Delay before the first retry; doubles each time"`
	Array          string            `json:"array,omitempty" doc:"Task numbers, e.g. 0-99%10" example:"0-99%10"`
	MaxRunning     int               `json:"max_running,omitempty" doc:"Maximum number of running tasks; 0 is no limit"`
	Gang           int               `json:"gang,omitempty" doc:"Number of tasks that start all at once, or not at all, and end or wait again together; 0 and 1: no gang. Not with array" minimum:"0"`
	Spread         bool              `json:"spread,omitempty" doc:"Each task of the gang on a node of its own"`
	After          []After           `json:"after,omitempty" doc:"Jobs that have to end first"`
	Key            string            `json:"key,omitempty" doc:"Idempotency key: a repeated submission returns the first job"`
	KeyUntilEnd    bool              `json:"key_until_end,omitempty" doc:"The key is valid only until its job ends; then a new job may use it"`
	Held           bool              `json:"held,omitempty" doc:"Wait until released"`
}

// checkText refuses text that JSON cannot carry, because it would arrive changed.
func (s *Spec) checkText() error {
	refuse := func(field, text string) error {
		if utf8.ValidString(text) {
			return nil
		}
		return fmt.Errorf("%s: %.60q is not valid UTF-8: %w", field, text, queue.ErrInvalid)
	}
	errs := []error{refuse("name", s.Name), refuse("kind", s.Kind), refuse("qos", s.QOS), refuse("dir", s.Dir), refuse("output", s.Output), refuse("error", s.Error), refuse("key", s.Key), refuse("constraint", s.Constraint), refuse("reservation", s.Reservation)}
	for _, a := range s.Argv {
		errs = append(errs, refuse("argv", a))
	}
	for name, value := range s.Env {
		errs = append(errs, refuse("env", name+"="+value))
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// After is a dependency.
type After struct {
	Job int64  `json:"job" doc:"Id; -1 is the first job of the same submission, -2 the second"`
	On  string `json:"on,omitempty" doc:"ok, failed or any; default: ok"`
}

// Job is a submitted job.
type Job struct {
	ID int64 `json:"id"`
	Spec
	User      string     `json:"user"`
	State     string     `json:"state"`
	Tasks     int        `json:"tasks"`
	Waiting   int        `json:"waiting"`
	Running   int        `json:"running" doc:"Tasks that run, or wait in another queueing system"`
	Queued    int        `json:"queued,omitempty" doc:"Of these: tasks that wait in another queueing system"`
	Succeeded int        `json:"succeeded"`
	Failed    int        `json:"failed"`
	Cancelled int        `json:"cancelled"`
	Pending   int        `json:"pending,omitempty" doc:"Jobs in after that have not ended"`
	Cancel    bool       `json:"cancel,omitempty" doc:"The job was canceled; while it runs, its tasks are being stopped"`
	HeldBy    string     `json:"held_by,omitempty" doc:"Who holds it, if that is known"`
	HeldWhy   string     `json:"held_why,omitempty" doc:"Reason of the hold, as text"`
	Submitted time.Time  `json:"submitted"`
	Started   *time.Time `json:"started,omitempty"`
	Ended     *time.Time `json:"ended,omitempty"`
	Attempts
	Cause   string         `json:"cause,omitempty"`
	Rank    int64          `json:"rank,omitempty" doc:"Place of its next task in the order of starts, from 1"`
	Reason  *Reason        `json:"reason,omitempty" doc:"Why it waits"`
	Points  *why.Number    `json:"points,omitempty" doc:"Its priority under the policy multifactor: the sum of the terms, minus nice"`
	Terms   []priorityTerm `json:"terms,omitempty" doc:"Terms of its priority, in the order of the formula"`
	Bridged []why.Bridged  `json:"bridged,omitempty" doc:"Places of its tasks in another queueing system, if a bridge has them; in lists only of the first ten"`
}

// Attempts describes the tasks of a job in a list.
type Attempts struct {
	RunsSince *time.Time `json:"runs_since,omitempty" doc:"Start of the first task that runs now; in lists"`
	Nodes     []string   `json:"nodes,omitempty" doc:"Nodes on which its tasks run: the first ten by name; in lists"`
	// Used is measured by agents with each renewal of a lease, some seconds apart.
	Used      *views.Used `json:"used,omitempty" doc:"What its running tasks use, as reported to this server"`
	StartBy   *time.Time  `json:"start_by,omitempty" doc:"Latest start of its next task, if no new job goes ahead"`
	StartKept bool        `json:"start_kept,omitempty" doc:"Room is kept for the task from start_by on"`
	// StartPredicted means that StartBy rests on predicted run times of tasks without a time limit.
	StartPredicted bool `json:"start_predicted,omitempty" doc:"start_by is predicted: the likely start, not the latest"`
	// LastEnd needs ends=true.
	LastEnd *Task `json:"last_end,omitempty" doc:"The task that ended last or, if tasks failed, failed last; in lists"`
}

// priorityTerm is one term of a job's priority.
type priorityTerm struct {
	Name  string     `json:"name"`
	Value why.Number `json:"value"`
}

// SetPriority sets the priority of a job and its terms.
func (d *Job) SetPriority(t why.Terms) {
	points := why.Number(0 - t.Key)
	d.Points = &points
	for i, term := range t.Formula.Terms {
		d.Terms = append(d.Terms, priorityTerm{term.Name, why.Number(t.Values[i])})
	}
}

// Reason is why a job waits, in short.
type Reason struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Task is one task of a job.
type Task struct {
	Job        int64      `json:"job"`
	Task       int        `json:"task"`
	Number     int        `json:"number"`
	State      string     `json:"state"`
	Attempt    int        `json:"attempt"`
	Node       string     `json:"node"`
	Begin      *time.Time `json:"begin,omitempty"`
	Started    time.Time  `json:"started,omitzero"`
	Queued     bool       `json:"queued,omitempty" doc:"Waiting in another queueing system, or ended before it began"`
	Ended      *time.Time `json:"ended,omitempty"`
	ExitCode   int        `json:"exit_code"`
	Signal     string     `json:"signal,omitempty"`
	Cause      string     `json:"cause,omitempty"`
	CPUSeconds float64    `json:"cpu_seconds"`
	MaxRSS     int64      `json:"max_rss_bytes"`
	Losses     int        `json:"losses,omitempty"`
	Fails      int        `json:"fails,omitempty"`
}

// CheckArgs refuses arguments that the job cannot use.
func (s *Spec) CheckArgs() error {
	switch {
	case !s.hasArgs():
		return nil
	case len(s.Payload) > 0:
		return fmt.Errorf("args: a job has either arguments or a payload, not both: %w", queue.ErrInvalid)
	case len(s.Argv) > 0:
		return fmt.Errorf("args: only handlers take arguments, and this job runs a command; leave out argv: %w", queue.ErrInvalid)
	}
	return nil
}

// hasArgs reports whether there are arguments. It ignores null, which some programs write for none.
func (s *Spec) hasArgs() bool { return len(s.Args) > 0 && string(s.Args) != "null" }

// argsOf returns the data of a job for a handler if it is compact JSON, so that programs in Go and in other languages
// read and write the same jobs. It returns nil if encoding as JSON would change the data.
func argsOf(j *queue.Job) json.RawMessage {
	if len(j.Argv) > 0 || j.Script || len(j.Payload) == 0 {
		return nil
	}
	if text, err := json.Marshal(json.RawMessage(j.Payload)); err != nil || !bytes.Equal(text, j.Payload) {
		return nil
	}
	return j.Payload
}

// payload returns the job's data as the store keeps it.
func (s *Spec) payload() []byte {
	if !s.hasArgs() {
		return s.Payload
	}
	text, err := json.Marshal(s.Args)
	if err != nil {
		return s.Args // not valid JSON; its handler will say so
	}
	return text
}

// ToJob converts a spec to a job.
func (s *Spec) ToJob() queue.Job {
	j := queue.Job{
		Name: s.Name, Kind: s.Kind, Requestor: s.Requestor, Pool: s.Pool, Priority: s.Priority, QOS: s.QOS, Nice: s.Nice,
		Argv: s.Argv, Payload: s.payload(), Script: s.Script, Env: s.Env, Dir: s.Dir, Output: s.Output, Error: s.Error,
		Request: s.Request, Constraint: s.Constraint, Reservation: s.Reservation, Licenses: s.Licenses, Rates: s.Rates, Limit: duration(s.LimitSeconds), Retries: s.Retries, Backoff: duration(s.BackoffSeconds),
		Array: s.Array, MaxRunning: s.MaxRunning,
		Gang: s.Gang, Spread: s.Spread, Key: s.Key, KeyUntilEnd: s.KeyUntilEnd, Held: s.Held,
	}
	if s.Begin != nil {
		j.Begin = *s.Begin
	}
	for _, a := range s.After {
		j.After = append(j.After, queue.Dependency{Job: a.Job, On: queue.DependsOn(a.On)})
	}
	return j
}

// FromSpec converts a job to a spec for submission.
func FromSpec(j *queue.Job) Spec {
	s := Spec{
		Name: j.Name, Kind: j.Kind, Requestor: j.Requestor, Pool: j.Pool, Priority: j.Priority, QOS: j.QOS, Nice: j.Nice,
		Argv: j.Argv, Payload: j.Payload, Script: j.Script, Env: j.Env, Dir: j.Dir, Output: j.Output, Error: j.Error,
		Request: j.Request, Constraint: j.Constraint, Reservation: j.Reservation, Licenses: j.Licenses, Rates: j.Rates, LimitSeconds: j.Limit.Seconds(), Begin: pointer(j.Begin), Retries: j.Retries,
		BackoffSeconds: j.Backoff.Seconds(), Array: j.Array, MaxRunning: j.MaxRunning, Gang: j.Gang, Spread: j.Spread, Key: j.Key, KeyUntilEnd: j.KeyUntilEnd, Held: j.Held,
	}
	if s.Args = argsOf(j); s.Args != nil {
		s.Payload = nil
	}
	for _, d := range j.After {
		s.After = append(s.After, After{d.Job, string(d.On)})
	}
	return s
}

// FromJob converts a submitted job.
func FromJob(j *queue.Job) Job {
	return Job{
		ID: j.ID, Spec: FromSpec(j), User: j.User, State: string(j.State), Tasks: j.Tasks,
		Waiting: j.Waiting, Running: j.Running, Queued: j.Queued, Succeeded: j.Succeeded, Failed: j.Failed, Cancelled: j.Cancelled, Pending: j.Pending, Cancel: j.Cancel,
		HeldBy: j.HeldBy, HeldWhy: j.HeldWhy,
		Submitted: j.Submitted, Started: pointer(j.Started), Ended: pointer(j.Ended), Cause: j.Cause,
	}
}

// ToJob converts the description back to a job.
func (d *Job) ToJob() *queue.Job {
	j := d.Spec.ToJob()
	j.ID, j.User, j.State, j.Tasks = d.ID, d.User, queue.State(d.State), d.Tasks
	j.Waiting, j.Running, j.Succeeded, j.Failed, j.Cancelled = d.Waiting, d.Running, d.Succeeded, d.Failed, d.Cancelled
	j.Queued, j.Pending, j.Cancel = d.Queued, d.Pending, d.Cancel
	j.HeldBy, j.HeldWhy = d.HeldBy, d.HeldWhy
	j.Submitted, j.Started, j.Ended, j.Cause = d.Submitted, value(d.Started), value(d.Ended), d.Cause
	return &j
}

// FromTask converts a task.
func FromTask(t *queue.Task) Task {
	return Task{
		Job: t.Job, Task: t.Index, Number: t.Number, State: string(t.State), Attempt: t.Attempt, Node: t.Holder,
		Begin: pointer(t.Begin), Started: t.Started, Ended: pointer(t.Ended), ExitCode: t.Outcome.ExitCode,
		Signal: t.Outcome.Signal, Cause: t.Outcome.Cause, CPUSeconds: t.Outcome.CPU.Seconds(), MaxRSS: t.Outcome.MaxRSS,
		Losses: t.Losses, Fails: t.Fails, Queued: t.Queued,
	}
}

// ToTask converts the description back to a task.
func (d *Task) ToTask() queue.Task {
	t := queue.Task{
		Job: d.Job, Index: d.Task, Number: d.Number, State: queue.State(d.State), Attempt: d.Attempt, Holder: d.Node,
		Begin: value(d.Begin), Started: d.Started, Ended: value(d.Ended), Losses: d.Losses, Fails: d.Fails, Queued: d.Queued,
	}
	t.Outcome = queue.Outcome{ExitCode: d.ExitCode, Signal: d.Signal, Cause: d.Cause, CPU: duration(d.CPUSeconds), MaxRSS: d.MaxRSS}
	if t.State.Ended() {
		t.Outcome.State = t.State
	}
	return t
}

// duration converts seconds, which users write, and clamps them to the range of a time.Duration.
func duration(seconds float64) time.Duration {
	const most = 100 * 365 * 24 * 3600
	return time.Duration(min(max(seconds, -most), most) * float64(time.Second))
}

func pointer(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func value(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

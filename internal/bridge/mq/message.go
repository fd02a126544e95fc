package mq

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/queue"
)

// Formats of the messages. A number rises when older readers would misunderstand the messages.
const (
	TaskFormat   = "task/1"
	ReportFormat = "report/1"
)

// Task asks for one attempt of a task.
type Task struct {
	Fairlead string `json:"fairlead"`
	// Marker names the attempt. Reports repeat it.
	Marker string `json:"marker"`
	queue.Ref
	Number int      `json:"number"` // in the user's array
	Tasks  int      `json:"tasks"`  // of the job
	User   string   `json:"user"`
	Spec   api.Spec `json:"spec"`
}

// NewTask returns the message of a submission. It omits the options that the scheduler has already handled.
func NewTask(s *bridge.Submission) *Task {
	all := api.FromSpec(s.Job)
	return &Task{
		Fairlead: TaskFormat, Marker: s.Marker, Ref: s.Ref, Number: s.Number, Tasks: s.Job.Tasks, User: s.Job.User,
		Spec: api.Spec{
			Name: all.Name, Kind: all.Kind, Pool: all.Pool, Argv: all.Argv, Args: all.Args, Payload: all.Payload,
			Script: all.Script, Env: s.Variables(), Dir: all.Dir, Output: all.Output, Error: all.Error, Request: all.Request,
			Array: all.Array, LimitSeconds: all.LimitSeconds,
		},
	}
}

// Lease returns the task in the form in which an agent would receive it.
func (t *Task) Lease() *api.Lease {
	return &api.Lease{Ref: t.Ref, Number: t.Number, User: t.User, Job: t.Spec, Tasks: t.Tasks}
}

// Encode returns the message to send.
func (t *Task) Encode() ([]byte, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, bridge.Explain(queue.ErrInvalid, "the job cannot be written as JSON: %v", err)
	}
	return text, nil
}

// ReadTask reads a message of the work queue.
func ReadTask(text []byte) (*Task, error) {
	var t Task
	if err := read(text, TaskFormat, &t, &t.Fairlead); err != nil {
		return nil, err
	}
	if t.Marker == "" {
		return nil, fmt.Errorf("a %s without a marker", TaskFormat)
	}
	return &t, nil
}

// Started is the state of a report that a task has started. Reports of ends use the states of tasks.
const Started = "started"

// Report says that an attempt has started, or how it ended.
type Report struct {
	Fairlead string         `json:"fairlead"`
	Marker   string         `json:"marker"`
	ID       string         `json:"id,omitempty"` // of the message in the queue, if it has one
	State    string         `json:"state"`        // started, succeeded, failed or cancelled
	Worker   string         `json:"worker,omitempty"`
	Began    time.Time      `json:"began,omitzero"`
	Ended    time.Time      `json:"ended,omitzero"`
	ExitCode int            `json:"exit_code,omitempty"`
	Error    string         `json:"error,omitempty"`
	Output   string         `json:"output,omitempty"`
	Used     *frontback.Use `json:"used,omitempty"`
}

// Over reports whether the report is about an end.
func (r *Report) Over() bool { return r.State != Started }

// Encode returns the message to send, at most limit bytes: it cuts the error, and the start of the output.
func (r Report) Encode(limit int) []byte {
	r.Fairlead = ReportFormat
	for {
		text, err := json.Marshal(&r)
		if err != nil {
			panic(err) // every value in it has a form in JSON
		}
		if len(text) <= limit || r.Output == "" && r.Error == "" {
			return text
		}
		r.Error = strings.ToValidUTF8(r.Error[:min(len(r.Error), limit/8)], "")
		r.Output = strings.ToValidUTF8(r.Output[(len(r.Output)+1)/2:], "")
		if r.Output == "" && r.Error != "" {
			r.Error = strings.ToValidUTF8(r.Error[:len(r.Error)/2], "")
		}
	}
}

// ReadReport reads a message of the queue of reports.
func ReadReport(text []byte) (*Report, error) {
	var r Report
	if err := read(text, ReportFormat, &r, &r.Fairlead); err != nil {
		return nil, err
	}
	switch r.State {
	case Started, string(queue.Succeeded), string(queue.Failed), string(queue.Cancelled):
	default:
		return nil, fmt.Errorf("a %s with the state %q, which is not started, succeeded, failed or cancelled", ReportFormat,
			r.State)
	}
	return &r, nil
}

// read reads a message of a format into a struct.
func read(text []byte, format string, into any, got *string) error {
	if !bytes.Contains(text, []byte(`"fairlead"`)) {
		return fmt.Errorf("no message of a bridge: it has no %q", "fairlead")
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("no %s: %w", format, err)
	}
	if *got != format {
		return fmt.Errorf("the message is of the format %.20q, and not %s", *got, format)
	}
	return nil
}

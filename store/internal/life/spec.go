package life

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// states lists the states by their numbers in databases.
var states = []queue.State{
	queue.Held, queue.Blocked, queue.Waiting, queue.Running,
	queue.Succeeded, queue.Failed, queue.Cancelled, queue.Queued,
}

// StateNumber returns the number of a state in a database.
func StateNumber(s queue.State) int { return slices.Index(states, s) }

// StateOf returns the state with the number.
func StateOf(n int) queue.State { return states[n] }

// Spec holds the fields of a job that hardly ever change and are not searched for, in their stored form.
type Spec struct {
	Name      string             `json:"name,omitempty"`
	Group     string             `json:"group,omitempty"`
	Requestor string             `json:"requestor,omitempty"`
	Argv      []string           `json:"argv,omitempty"`
	Payload   []byte             `json:"payload,omitempty"`
	Script    bool               `json:"script,omitempty"`
	Env       map[string]string  `json:"env,omitempty"`
	Dir       string             `json:"dir,omitempty"`
	Output    string             `json:"output,omitempty"`
	Error     string             `json:"error,omitempty"`
	Limit     time.Duration      `json:"limit,omitempty"`
	Retries   int                `json:"retries,omitempty"`
	Backoff   time.Duration      `json:"backoff,omitempty"`
	Array     string             `json:"array,omitempty"`
	After     []queue.Dependency `json:"after,omitempty"`
	Key       string             `json:"key,omitempty"`
	Licenses  queue.Amounts      `json:"licenses,omitempty"`
	Rates     []string           `json:"rates,omitempty"`
	QOS       string             `json:"qos,omitempty"`
	Nice      int                `json:"nice,omitempty"`

	Constraint  string        `json:"constraint,omitempty"`
	Gang        int           `json:"gang,omitempty"`
	Spread      bool          `json:"spread,omitempty"`
	Reservation string        `json:"reservation,omitempty"`
	Request     queue.Amounts `json:"request,omitempty"` // unless it is stored elsewhere
	KeyUntilEnd bool          `json:"key_until_end,omitempty"`

	Avoid []queue.Avoided `json:"avoid,omitempty"`

	HeldBy  string `json:"held_by,omitempty"`
	HeldWhy string `json:"held_why,omitempty"`
}

// SpecOf returns the spec of a job.
func SpecOf(j *queue.Job) Spec {
	return Spec{
		j.Name, j.Group, j.Requestor, j.Argv, j.Payload, j.Script, j.Env, j.Dir, j.Output, j.Error,
		j.Limit, j.Retries, j.Backoff, j.Array, j.After, j.Key, j.Licenses, j.Rates, j.QOS, j.Nice,
		j.Constraint, j.Gang, j.Spread, j.Reservation, j.Request, j.KeyUntilEnd, j.Avoid,
		j.HeldBy, j.HeldWhy,
	}
}

// byUser is the spec of a job whose requestor is its user and that sets nothing else.
const byUser = "="

// SpecText encodes the spec of a job for databases that store the payload separately. For most jobs with handlers it is
// empty or [byUser].
func SpecText(j *queue.Job) ([]byte, error) {
	switch {
	case !plain(j):
	case j.Requestor == "":
		return []byte{}, nil
	case j.Requestor == j.User:
		return []byte(byUser), nil
	}
	s := SpecOf(j)
	s.Payload = nil
	return json.Marshal(&s)
}

// plain reports whether the spec of a job is empty, except for payload and requestor.
func plain(s *queue.Job) bool {
	return len(s.Argv)+len(s.Env)+len(s.After)+len(s.Licenses)+len(s.Rates)+len(s.Request)+len(s.Avoid) == 0 &&
		s.Name+s.Group+s.Dir+s.Output+s.Error+s.Array+s.Key+s.QOS+s.Constraint+s.Reservation+s.HeldBy+s.HeldWhy == "" &&
		s.Limit == 0 && s.Backoff == 0 && s.Retries == 0 && s.Nice == 0 && s.Gang == 0 && !s.Script && !s.Spread && !s.KeyUntilEnd
}

// specs pools specs for reading, because a spec is large and many are read.
var specs = sync.Pool{New: func() any { return &Spec{} }}

// ReadSpec decodes the text of [SpecText], or the JSON of [SpecOf], into a job.
func ReadSpec(text []byte, j *queue.Job) error {
	switch string(text) {
	case byUser:
		j.Requestor = j.User
		return nil
	case "":
		return nil
	}
	s := specs.Get().(*Spec)
	defer specs.Put(s)
	*s = Spec{Payload: j.Payload} // unless it is stored separately
	if err := json.Unmarshal(text, s); err != nil {
		return fmt.Errorf("job %d: %w", j.ID, err)
	}
	j.Name, j.Group, j.Requestor, j.Argv, j.Payload = s.Name, s.Group, s.Requestor, s.Argv, s.Payload
	j.Script = s.Script
	j.Env, j.Dir, j.Output, j.Error, j.Limit = s.Env, s.Dir, s.Output, s.Error, s.Limit
	j.QOS, j.Nice, j.Constraint = s.QOS, s.Nice, s.Constraint
	j.Gang, j.Spread, j.Reservation = s.Gang, s.Spread, s.Reservation
	j.Retries, j.Backoff, j.Array, j.After, j.Key = s.Retries, s.Backoff, s.Array, s.After, s.Key
	j.Licenses, j.Rates, j.KeyUntilEnd, j.Avoid = s.Licenses, s.Rates, s.KeyUntilEnd, s.Avoid
	j.HeldBy, j.HeldWhy = s.HeldBy, s.HeldWhy
	if s.Request != nil {
		j.Request = s.Request
	}
	return nil
}

// The bits of [AgainBits] say why a task does or does not wait again when its attempt ends, that the attempt has not
// begun, or that the task was canceled alone.
const (
	onRequeue = 1 << iota
	onStop
	inQueue // the attempt waits, or ended, in another queueing system without having begun
	alone   // it was canceled, and its job was not
	noRetry
)

// AgainBits encodes Requeue, Stopped, Queued, Alone and NoRetry of a task as one number.
func AgainBits(t *queue.Task) (bits int) {
	if t.Requeue {
		bits |= onRequeue
	}
	if t.Stopped {
		bits |= onStop
	}
	if t.Queued {
		bits |= inQueue
	}
	if t.Alone {
		bits |= alone
	}
	if t.NoRetry {
		bits |= noRetry
	}
	return bits
}

// SetAgain decodes the number of AgainBits.
func SetAgain(t *queue.Task, bits int) {
	t.Requeue, t.Stopped, t.Queued, t.Alone = bits&onRequeue != 0, bits&onStop != 0, bits&inQueue != 0, bits&alone != 0
	t.NoRetry = bits&noRetry != 0
}

// plainOutcome stands for a success without details.
const plainOutcome = "ok"

// OutcomeText encodes an outcome for databases.
func OutcomeText(o queue.Outcome) (string, error) {
	switch o {
	case queue.Outcome{}:
		return "", nil
	case queue.Outcome{State: queue.Succeeded}:
		return plainOutcome, nil
	}
	text, err := json.Marshal(o)
	return string(text), err
}

// ReadOutcome decodes the text of OutcomeText into a task.
func ReadOutcome(text string, t *queue.Task) error {
	switch text {
	case "":
	case plainOutcome:
		t.Outcome.State = queue.Succeeded
	default:
		if err := json.Unmarshal([]byte(text), &t.Outcome); err != nil {
			return fmt.Errorf("job %d, task %d: %w", t.Job, t.Index, err)
		}
	}
	return nil
}

// Nanos encodes an instant for databases; the zero time is 0.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Instant decodes the number of Nanos.
func Instant(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}

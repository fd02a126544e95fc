// Package bridge submits jobs to another queueing system (QS), and follows the jobs there until they end. It works
// in one of two ways: it submits all jobs, with priorities that package frontback decides; or it submits jobs in the
// order of the scheduler, as capacity frees.
//
// A bridge is a worker like an agent: it leases tasks, but lets a QS run them. It must never submit one task
// twice. So each submission has its own marker: the bridge writes the marker to its ledger before it sends
// the submission, and finds the submission again by its marker.
package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/queue"
)

// ErrUnsure is wrapped by an error after which a submission may or may not have arrived, because the reply
// was lost. The bridge looks for its marker before it sends the submission again.
var ErrUnsure = errors.New("bridge: the submission may have arrived")

// QS is a queueing system; each has one adapter. Several goroutines may call its methods. Each call has the
// deadline of its context. An error is about the QS as a whole (it does not answer); after it the bridge
// tries again later.
type QS interface {
	// Describe returns how the QS treats priorities: whether it ages them, and whether it obeys ours with the
	// privileges that we have.
	Describe(ctx context.Context) (frontback.Queue, error)
	// Submit submits to the QS in this order. It returns for each submission the number or name that the QS
	// gave it, or an error that says why the QS refused it. The error wraps ErrUnsure if the submission may
	// have arrived, and queue.ErrInvalid if the QS will never take it. If Submit itself returns an error,
	// each submission may have arrived.
	Submit(ctx context.Context, all []Submission) ([]Receipt, error)
	// Look returns the states of entries, in their order. It looks for an entry without an ID by its marker. After
	// Forget, an entry may be Absent, Unsure, or unchanged.
	Look(ctx context.Context, all []Entry) ([]Status, error)
	// Cancel removes entries from the QS, or ends them if they run. It returns no error for an entry that is
	// over.
	Cancel(ctx context.Context, all []Entry) error
	// Forget tells the QS that the bridge has saved the ends of entries. The QS may drop all data about them that it
	// keeps only for us.
	Forget(ctx context.Context, all []Entry) error
	// Changed has an element when Look would return something new. Nil: the bridge must ask at an interval.
	Changed() <-chan struct{}
	Close() error
}

// Submission is one submission of a task to the QS.
type Submission struct {
	Marker   string // unique forever; at most 64 letters, digits, - and .
	Priority int64  // one of the levels, as the QS counts them
	Job      *queue.Job
	Ref      queue.Ref // the lease
	Number   int       // the task's number in the user's array
}

// Receipt is the answer to a submission.
type Receipt struct {
	ID  string
	Err error
}

// Entry is a submission that the QS has, or may have.
type Entry struct {
	Marker    string
	ID        string // "" if the reply was lost
	Submitted time.Time
}

// Phase is the state of an entry in the QS.
type Phase int

const (
	// Unsure: the QS cannot answer now; the bridge asks again.
	Unsure Phase = iota
	// Absent: the QS certainly does not have it, it never ran to an end, and it will not appear later.
	Absent
	Pending
	Running
	Succeeded
	Failed
	// Cancelled: by us, or by somebody else in the QS.
	Cancelled
)

// Status is the answer of the QS about an entry.
type Status struct {
	Phase Phase
	ID    string
	// Says holds the QS's own state and reason, for people: "PENDING (Resources)", "ready, 41st".
	Says     string
	Began    time.Time // zero: not yet, or unknown
	Ended    time.Time
	ExitCode int
	Error    string         // reason of a failure
	Output   string         // as much of its output as the QS returns
	Used     *frontback.Use // measured; nil: unknown
}

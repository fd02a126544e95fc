// Package bridge carries jobs into a queueing system (QS) that somebody else runs, and
// follows them there to the end. Where a job goes in the QS decides package frontback, or,
// where jobs are fed as capacity frees, the scheduler itself.
//
// A bridge is a worker like an agent: it leases tasks, and instead of running them has a QS
// run them. It must never put one task into the QS twice: each submission has
// a marker of its own, which is written down before it is sent, and finds it again.
package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/queue"
)

// ErrUnsure is wrapped by an error after which a submission may have arrived, or not: the
// reply was lost. It is looked for by its marker before it is sent again.
var ErrUnsure = errors.New("bridge: the submission may have arrived")

// QS is a queueing system: one adapter each. All methods may be called from several
// goroutines, each has the deadline of its context, and an error is about the QS as a
// whole (it does not answer), after which the bridge tries again later.
type QS interface {
	// Describe tells what the QS does with priorities: whether it ages them, and whether
	// it obeys ours with the privileges that we have.
	Describe(ctx context.Context) (frontback.Queue, error)
	// Submit puts submissions into the QS in this order, and returns for each the number or
	// name that the QS gave it, or why it did not take it: an error that wraps ErrUnsure if it
	// may have, an error that wraps fairlead.ErrInvalid if it never will. After an error beside
	// the receipts each of them may have arrived.
	Submit(ctx context.Context, all []Submission) ([]Receipt, error)
	// Look tells what became of entries, in their order. One without an ID is looked for by its
	// marker. What has been forgotten may be Absent, Unsure, or as it was.
	Look(ctx context.Context, all []Entry) ([]Status, error)
	// Cancel takes entries out of the QS, or ends them if they run. That one is over already is
	// no error.
	Cancel(ctx context.Context, all []Entry) error
	// Forget says that the ends of entries are written down: what the QS keeps of them only
	// for us may go.
	Forget(ctx context.Context, all []Entry) error
	// Changed has an element when Look would tell something new. Nil: the bridge has to ask
	// from time to time.
	Changed() <-chan struct{}
	Close() error
}

// Submission is one try of a task, for the QS.
type Submission struct {
	Marker   string // unique for ever; at most 64 letters, digits, - and .
	Priority int64  // one of the levels, as the QS counts
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

// Phase is how far an entry has come in the QS.
type Phase int

const (
	// Unsure: the QS cannot tell now; it is asked again.
	Unsure Phase = iota
	// Absent: it surely is not there, never ran to an end, and will not turn up.
	Absent
	Pending
	Running
	Succeeded
	Failed
	// Cancelled: by somebody at the QS, or by us.
	Cancelled
)

// Status is what the QS says of an entry.
type Status struct {
	Phase Phase
	ID    string
	// Says is the QS's own word and reason, for people: "PENDING (Resources)", "ready, 41st".
	Says     string
	Began    time.Time // zero: not yet, or not told
	Ended    time.Time
	ExitCode int
	Error    string         // of a failure
	Output   string         // what there is of its result
	Used     *frontback.Use // measured; nil: not told
}

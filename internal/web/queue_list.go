package web

import (
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// queuePath is the path of the queue.
const queuePath = "queue"

// Queue is the data of the page.
type Queue struct {
	*api.JobList
	Filter filter
	Tabs   []tab
	Tab    string
	// Columns says which columns the list has.
	Columns layout
	Rows    []queueRow
	// First and Next are the addresses of the first and the next page of the list.
	First, Next string
	// Matches counts the jobs that match, if they need several pages; it is 0 if that would take long.
	Matches int
	// Sort is the requested order, such as -size; "" is the order of the list itself.
	Sort string
	// Bound names the jobs that were sorted, if there are more.
	Bound string
	// Short is set if the search ended before it had found enough.
	Short bool
	Now   time.Time
	Verbs []verb
	Later bool
	// Submits is set if the user may submit jobs.
	Submits bool

	// The list may be folded: for example, one line for all jobs of a user.
	Foldings  []sortLink
	Ages      []sortLink // choices of how long ago the jobs ended
	Fold      string
	Folds     []fold
	MoreFolds int
	// UserLimit is the limit of the running tasks of each user, in a list by user; 0 is none.
	UserLimit int

	order *sorter
	heads map[string]sortHead
}

// newestFirst reports whether the list begins with the last job.
func (q *Queue) newestFirst() bool { return q.Columns == asEnded || q.Columns == asAny }

// queueRow is a job with the rights of the user.
type queueRow struct {
	*api.Job
	Mine, May bool
}

type tab struct {
	Name, Says, Link string
	On               bool
}

// fold is a line for some jobs of the queue, at the place of the first of them.
type fold struct {
	Name, Link     string
	Jobs           int
	Waiting, Runs  int64 // tasks
	Units          int64 // the units that these tasks ask for or have
	Oldest         time.Time
	First          *api.Job   // of these jobs
	Last           *time.Time // when the last of them ended, if any did
	Users, Pools   []string   // the first few
	Nodes          []string   // the first few on which they ended
	MoreU, MoreP   int
	MoreN          int
	known          map[string]bool
	firstID, Place int64
}

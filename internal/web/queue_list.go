package web

import (
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// queuePath is where the queue is.
const queuePath = "queue"

// Queue is what the page shows.
type Queue struct {
	*api.JobList
	Filter filter
	Tabs   []tab
	Tab    string
	Rows   []queueRow
	// First and Next are the addresses of the beginning and of what follows.
	First, Next string
	// Short is set if the search ended before enough was found.
	Short bool
	Now   time.Time
	Verbs []verb
	Later bool

	// The list may be folded: a line for all jobs of a user, say.
	Foldings  []sortLink
	Fold      string
	Folds     []fold
	MoreFolds int
}

// queueRow is a job with what the one who asks may do to it.
type queueRow struct {
	*api.Job
	Mine, May bool
}

type tab struct {
	Name, Says, Link string
	On               bool
}

// fold is some jobs of the queue as one line, at the place of the first of them.
type fold struct {
	Name, Link     string
	Jobs           int
	Waiting, Runs  int64 // tasks
	Units          int64 // that these ask for or have
	Oldest         time.Time
	First          *api.Job // of these jobs
	Users, Pools   []string // the first few
	MoreU, MoreP   int
	known          map[string]bool
	firstID, Place int64
}

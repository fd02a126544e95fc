package engine

import (
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// provenFor is the time for which a task that has begun counts as proof that its node and its command work.
const provenFor = time.Hour

// A doubt holds the tasks of a job that a node could not begin, until it is known whether the job is to blame.
type doubt struct {
	user, cause string
	tasks       int
}

// doubts are the doubts about a node, by job.
type doubts map[int64]*doubt

// maxDoubts bounds the jobs that are remembered for a node.
const maxDoubts = 1000

func (d *doubts) add(job int64, user, cause string) {
	if *d == nil {
		*d = doubts{}
	}
	x := (*d)[job]
	if x == nil {
		if len(*d) >= maxDoubts {
			return
		}
		x = &doubt{user: user}
		(*d)[job] = x
	}
	x.cause = cause
	x.tasks++
}

// users returns the number of users who named different missing things. Many jobs with the same mistake are no sign
// of a broken node.
func (d doubts) users() int {
	users, causes := map[string]bool{}, map[string]bool{}
	for _, x := range d {
		users[x.user], causes[x.cause] = true, true
	}
	return min(len(users), len(causes))
}

// last returns the cause of the job that was submitted last.
func (d doubts) last() (cause string) {
	var latest int64
	for job, x := range d {
		if job > latest {
			latest, cause = job, x.cause
		}
	}
	return cause
}

// jobSet holds no job, one, or several.
type jobSet struct {
	job  int64
	more bool
}

func (s *jobSet) add(job int64) {
	s.more = s.more || s.job != 0 && s.job != job
	s.job = job
}

// only reports whether no other job is in the set.
func (s jobSet) only(job int64) bool { return !s.more && (s.job == 0 || s.job == job) }

// commands holds when a task was last begun with a command.
type commands map[string]time.Time

// maxCommands bounds the commands that are remembered.
const maxCommands = 10_000

// recent reports whether a task has begun with a command lately.
func (c commands) recent(command string, now time.Time) bool {
	at, known := c[command]
	return known && now.Sub(at) < provenFor
}

func (c commands) begun(command string, at time.Time) {
	if command == "" {
		return
	}
	if _, known := c[command]; !known && len(c) >= maxCommands {
		for old := range c { // an arbitrary one
			delete(c, old)
			break
		}
	}
	c[command] = at
}

// commandOf returns the command of a job as its nodes look it up; "" for scripts and handlers.
func commandOf(j *queue.Job) string {
	switch {
	case j.Script || len(j.Argv) == 0:
		return ""
	case strings.Contains(j.Argv[0], "/") && !strings.HasPrefix(j.Argv[0], "/"):
		return j.Dir + "/" + j.Argv[0]
	}
	return j.Argv[0]
}

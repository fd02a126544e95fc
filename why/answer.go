package why

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why/room"
)

// Version is the version of the JSON form of an [Answer].
const Version = 1

// Answer explains why a job waits, runs or ended, with the numbers that the scheduler compared. It is data;
// [Answer.Text] writes it for people.
type Answer struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Subject Subject   `json:"subject"`
	Verdict Verdict   `json:"verdict"`
	Reason  Reason    `json:"reason"`
	// Others are the reasons that would still hold the job back if Reason were gone.
	Others []Reason `json:"others,omitempty"`
	// Stop describes the preemption of the job's last attempt, if the job was preempted and waits again.
	Stop *Stop `json:"stop,omitempty"`
	Rank *Rank `json:"rank,omitempty"`
	// Bridged locates the tasks that a bridge handed to another queueing system.
	Bridged []Bridged `json:"bridged,omitempty"`
	// Start estimates when the job will start. It is set only on request.
	Start *Estimate `json:"start,omitempty"`
	// Changes are requests that would start the job sooner. They are computed together with Start.
	Changes []Change `json:"changes,omitempty"`
	// Advice says which change helps most, or that none does; empty if none was tried.
	Advice string `json:"advice,omitempty"`
	// Kept is the planned start of this job, if backfilling keeps room for it.
	Kept   *room.Kept `json:"kept,omitempty"`
	Units  Units      `json:"units"`
	Levels []Level    `json:"levels,omitempty"`
	Ahead  []Ahead    `json:"ahead,omitempty"`
	Gates  []Gate     `json:"gates,omitempty"`
	// Nodes shows how the requirements narrow all nodes down to none, for a job that no node can run.
	Nodes  []Narrowing `json:"nodes,omitempty"`
	Step   uint64      `json:"step"`             // number of the last scheduling step
	Config string      `json:"config,omitempty"` // hash of the current configuration
	// Evidence is set only on request.
	Evidence *Evidence `json:"evidence,omitempty"`
}

// Subject is the job, or the pool, that the answer is about.
type Subject struct {
	Job       int64      `json:"job,omitempty"`
	Name      string     `json:"name,omitempty"`
	User      string     `json:"user,omitempty"`
	Pool      string     `json:"pool"`
	Priority  string     `json:"priority,omitempty"`
	State     string     `json:"state"`
	Waiting   int64      `json:"waiting_tasks"`
	Running   int64      `json:"running_tasks"`
	Request   string     `json:"request,omitempty"`
	Limit     float64    `json:"limit_seconds,omitempty"` // of each task; 0 is none
	Submitted *time.Time `json:"submitted,omitempty"`
	Gang      int        `json:"gang,omitempty"`   // number of tasks that start at the same moment
	Spread    bool       `json:"spread,omitempty"` // each of them needs its own node
}

// AtOnce says in words how many tasks of the job need room at the same time. It is "" if each task starts by itself.
func (s *Subject) AtOnce() string {
	switch {
	case s.Gang < 2:
		return ""
	case s.Spread:
		return fmt.Sprintf("on each of %d nodes at once", s.Gang)
	}
	return fmt.Sprintf("for each of %d tasks at once", s.Gang)
}

// Units names the units of the numbers.
type Units struct {
	Unit string `json:"unit"` // e.g. cpu; one slot is one unit
	// Usage names the unit of received service if it differs from Unit: charge.
	Usage string `json:"usage,omitempty"`
	// AsOf is the instant at which the levels were computed: the time of the answer, or the time at which the job was
	// chosen.
	AsOf time.Time `json:"as_of"`
	// Decayed amounts in the levels refer to the instant Reference. Divide them by Growth to get the amounts
	// at the answer's instant.
	Reference       time.Time `json:"reference"`
	Growth          float64   `json:"growth"`
	HalfLifeSeconds float64   `json:"half_life_seconds"`
}

// Verdict tells the user whether to wait, to change something, or to ask the administrator.
type Verdict string

// The verdicts.
const (
	AsDesigned Verdict = "working as designed"
	Limited    Verdict = "limit"
	Impossible Verdict = "impossible"
	NeedsAdmin Verdict = "needs admin"
	MayStarve  Verdict = "may starve"
	Ended      Verdict = "ended"
)

// Reason is one thing that holds a job back, or the outcome of the job.
type Reason struct {
	Code Code   `json:"code"`
	Text string `json:"text"`
	Next string `json:"next,omitempty"` // what to do about it
	// Until is when the reason ends by itself, for example a pause with an end.
	Until *time.Time `json:"until,omitempty"`
}

// Narrowing is a step on the way from all nodes to the nodes that could run a job.
type Narrowing struct {
	Left        int    `json:"nodes_left"`
	Requirement string `json:"requirement"`
	Nearest     string `json:"nearest,omitempty"` // if Left is 0: the nearest value that would leave some nodes
}

// Rank is the position of a job's next task among all tasks that could start, if slots became free one at a
// time and no job ended or arrived.
type Rank struct {
	Position int64 `json:"position"` // of the next task, from 1
	Of       int64 `json:"of"`       // waiting tasks that could start
	Jobs     int64 `json:"jobs_ahead"`
	Pools    int64 `json:"pools_ahead"`
	// Units is the number of units that the tasks ahead ask for.
	Units  float64 `json:"units_ahead"`
	Capped bool    `json:"capped,omitempty"` // the preview ended before the job's turn
}

// Level is the comparison in one pool on the job's path, from the root down.
type Level struct {
	Pool    string `json:"pool"` // the pool that divides; "" is the root
	Policy  string `json:"policy"`
	Formula string `json:"formula"`
	Order   string `json:"order"`
	Terms   []Term `json:"terms"`
	Says    string `json:"says,omitempty"` // a child's terms in words, with expressions in braces
	Called  string `json:"called"`         // the key in words, with {key} for its value
	Tied    string `json:"tied,omitempty"` // the rule for equal keys, if not the larger weight
	// TermByTerm means that the terms are compared one by one; the key only combines them.
	TermByTerm bool    `json:"term_by_term,omitempty"`
	Clock      float64 `json:"clock"`          // level at which a returning child enters
	You        string  `json:"you"`            // the child on the job's path
	Before     int     `json:"before"`         // children that go before it
	Children   []Child `json:"children"`       // in order; children before You may be omitted, see Left
	Left       int     `json:"left_out"`       // number of children before You that are omitted
	Jobs       bool    `json:"jobs,omitempty"` // the children are jobs, compared by priority
	Behind     int     `json:"behind"`         // for a decision already made: omitted children behind the listed ones
}

// Child is one child of the pool that divides, as it was compared.
type Child struct {
	Name  string            `json:"name"`
	Terms map[string]Number `json:"terms"`
	Key   Number            `json:"key"` // the formula's result
	Tie   Number            `json:"tie"`
	// Resource is the one in which the child is compared, if children are compared in different resources.
	Resource string  `json:"resource,omitempty"`
	Fixed    Number  `json:"fixed,omitempty"` // decides between equal keys and equal ties
	Number   int32   `json:"number"`          // decides last: the older child goes first
	BelowMin bool    `json:"below_min,omitempty"`
	Lack     *Lack   `json:"lack,omitempty"`    // the resource that a child below its minimum lacks
	Open     bool    `json:"open"`              // some of its work may start
	NoRoom   bool    `json:"no_room,omitempty"` // none may, but some lacks room only
	Share    float64 `json:"share"`
	Used     float64 `json:"used"` // its fraction of the service that the pool received
	Waiting  int64   `json:"waiting"`
	Running  int32   `json:"running"`
	// Base is the weight without boosts; Boosts are the factors that multiply it, if there are any.
	Base   float64 `json:"base_weight,omitempty"`
	Boosts []Boost `json:"boosts,omitempty"`
}

// Lack is a resource that a pool has less of than its minimum.
type Lack struct {
	Pool     string `json:"pool"` // the child itself, or one below it
	Resource string `json:"resource"`
	Has      int64  `json:"has"`
	Min      int64  `json:"min"`
}

func (l *Lack) text(of string) string {
	if l == nil {
		return "below its minimum"
	}
	who := ""
	if l.Pool != of {
		who = share.Original(l.Pool) + " is "
	}
	return fmt.Sprintf("%sbelow its minimum: %s of %s %s", who, amount(l.Has), amount(l.Min), l.Resource)
}

// Boost is something that multiplies the weight of a child for a time.
type Boost struct {
	What   string     `json:"what"` // boost, starter or new jobs
	Factor float64    `json:"factor"`
	Until  *time.Time `json:"until,omitempty"`
	// Usage is the number of slot-seconds that end it; Had is how many the child received.
	Usage float64 `json:"usage,omitempty"`
	Had   float64 `json:"had,omitempty"`
	Note  string  `json:"note,omitempty"` // who set it, and why
}

// Ahead sums up the tasks of one pool that start before the job. If jobs of several priorities wait in the
// pool, it sums up one priority.
type Ahead struct {
	Pool     string  `json:"pool"`
	Priority string  `json:"priority,omitempty"`
	Tasks    int64   `json:"tasks"`
	Jobs     int64   `json:"jobs"`
	Units    float64 `json:"units"`
	// Level is the pool in which they were compared, "" for the root. Own marks jobs of the same leaf pool:
	// its own order puts them first.
	Level string `json:"level"`
	Own   bool   `json:"own,omitempty"`
}

// Gate is one restriction that can keep the job from starting.
type Gate struct {
	Name  string `json:"name"`  // e.g. max_running
	Where string `json:"where"` // pool, "job" or "nodes"
	Open  bool   `json:"open"`  //
	// Used and Limit are amounts of one quantity, shown as "used/limit full" while the gate is closed. A gate without
	// such amounts has only a Text.
	Used  string `json:"used,omitempty"`
	Limit string `json:"limit,omitempty"`
	Text  string `json:"text,omitempty"`
	Code  Code   `json:"code,omitempty"` // reason code while the gate is closed
	// Need is the amount that the job asks for at once, if that is above the limit.
	Need string `json:"need,omitempty"`
	// Kept is the planned start of another job that blocks this one.
	Kept *room.Kept `json:"kept,omitempty"`
	// Window is the reservation or maintenance that the job asks for or that blocks it.
	Window *Window `json:"window,omitempty"`
	// Next is when the gate opens by itself: at a begin time, when an exhausted rate allows a start again, or when a pause
	// ends.
	Next *time.Time `json:"next,omitempty"`
	// Holders are the users who hold most of a license.
	Holders []Holder `json:"holders,omitempty"`
}

// Estimate is when a job will start, if nothing new is submitted.
type Estimate struct {
	// By is when the job starts if every task runs up to its time limit. It is nil if that is unknown; Text
	// then says why.
	By *time.Time `json:"by,omitempty"`
	// Kept means that By is the start that conservative backfilling planned for the job. Unless MayMove is set, By
	// stays valid whoever submits jobs and however early tasks end.
	Kept bool `json:"kept,omitempty"`
	// MayMove means that the order of the jobs changes as tasks run. A start that was planned in the present order is
	// delayed by jobs that get ahead. By is no bound then: tasks that end early may put others ahead.
	MayMove bool   `json:"may_move,omitempty"`
	Node    string `json:"node,omitempty"` // on which the job would then start
	Text    string `json:"text,omitempty"`
	// Early, Middle and Late are the 10th, 50th and 90th percentile of the start in replays that draw the run time of
	// each task from recent tasks of its pool.
	Early   *time.Time `json:"early,omitempty"`
	Middle  *time.Time `json:"middle,omitempty"`
	Late    *time.Time `json:"late,omitempty"`
	Replays int        `json:"replays,omitempty"`
	// Guess means that the range rests on fewer than nine past run times of some pool.
	Guess bool `json:"guess,omitempty"`
	// Known is the number of those run times if Guess is set. It counts recent tasks of the pool that ran for longer
	// than a running task already has. If it is 0, the replays assume up to ten times the present run time.
	Known int `json:"known,omitempty"`
	// AsOf is the time of the state that By was computed from, if that state is older than the answer.
	AsOf *time.Time `json:"as_of,omitempty"`
}

// Window is a time span in which nodes are kept for some jobs, or for none.
type Window struct {
	Name        string    `json:"name"`
	Nodes       []string  `json:"nodes,omitempty"`
	Maintenance bool      `json:"maintenance,omitempty"`
	From        time.Time `json:"from"`
	To          time.Time `json:"until"`
	// Max is the longest time limit, in seconds, with which the window does not block the job.
	Max float64 `json:"most_seconds,omitempty"`
}

// Holder is a user whose running tasks hold licenses.
type Holder struct {
	User  string  `json:"user"`
	Count int64   `json:"count"`
	Jobs  []int64 `json:"jobs"` // up to ten
}

// Change is a different request with which the job would start sooner. The scheduler found it by replacing
// the job with one that makes this request.
type Change struct {
	Flags string `json:"flags"` // of fairlead submit, or of alter
	// Only the fields that change are set.
	LimitSeconds float64          `json:"limit_seconds,omitempty"` // the longest that suffices
	Request      map[string]int64 `json:"request,omitempty"`
	Pool         string           `json:"pool,omitempty"`
	Priority     string           `json:"priority,omitempty"`
	// By is when the job would start if every task ran up to its time limit.
	By      time.Time `json:"by"`
	Now     bool      `json:"now"` // By is now
	Seconds float64   `json:"sooner_seconds,omitempty"`
	// Alter means that the waiting job can be altered; otherwise it has to be canceled and submitted again.
	Alter bool   `json:"alter,omitempty"`
	Text  string `json:"text,omitempty"`
}

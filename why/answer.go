package why

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/share"
)

// Version is the version of the JSON form of an [Answer].
const Version = 1

// Answer says why a job is where it is, with the numbers that were compared. It is
// data first; [Answer.Text] is its form for a person.
type Answer struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Subject Subject   `json:"subject"`
	Verdict Verdict   `json:"verdict"`
	Reason  Reason    `json:"reason"`
	// Others are the further reasons that would hold the job back if the first were
	// gone.
	Others []Reason `json:"others,omitempty"`
	// Stop is how its last attempt was ended early for others, if it was and waits again.
	Stop *Stop `json:"stop,omitempty"`
	Rank *Rank `json:"rank,omitempty"`
	// Bridged is where its tasks are in another queueing system, if a bridge has them.
	Bridged []Bridged `json:"bridged,omitempty"`
	// Start is when the job will start, if it was asked for.
	Start *Estimate `json:"start,omitempty"`
	// Changes would make it start sooner. They are there if Start is.
	Changes []Change `json:"changes,omitempty"`
	// Kept is the room that is kept for the job itself.
	Kept   *Kept   `json:"kept,omitempty"`
	Units  Units   `json:"units"`
	Levels []Level `json:"levels,omitempty"`
	Ahead  []Ahead `json:"ahead,omitempty"`
	Gates  []Gate  `json:"gates,omitempty"`
	// Nodes is the way from all nodes to none, for a job that none of them can run.
	Nodes  []Narrowing `json:"nodes,omitempty"`
	Step   uint64      `json:"step"`             // number of the last scheduling step
	Config string      `json:"config,omitempty"` // hash of the configuration in force
	// Evidence is there when it was asked for.
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
	Gang      int        `json:"gang,omitempty"`   // tasks that start all at once
	Spread    bool       `json:"spread,omitempty"` // each of them on a node of its own
}

// AtOnce says in words for how many tasks a job asks for room at once; "" if each starts for
// itself.
func (s *Subject) AtOnce() string {
	switch {
	case s.Gang < 2:
		return ""
	case s.Spread:
		return fmt.Sprintf("on each of %d nodes at once", s.Gang)
	}
	return fmt.Sprintf("for each of %d tasks at once", s.Gang)
}

// Units says in what the numbers are.
type Units struct {
	Unit string `json:"unit"` // e.g. cpu; a slot is one of it
	// Usage is what received service is counted in, where that is not the unit: charge.
	Usage string `json:"usage,omitempty"`
	// AsOf is the instant for which the levels were computed: that of the answer, or that
	// at which the job was chosen.
	AsOf time.Time `json:"as_of"`
	// Reference is the instant to which decayed amounts of the levels refer. Divided by Growth
	// they refer to the answer's instant.
	Reference       time.Time `json:"reference"`
	Growth          float64   `json:"growth"`
	HalfLifeSeconds float64   `json:"half_life_seconds"`
}

// Verdict tells the one who asks whether to wait, to change something, or to ask
// the administrator.
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

// Reason is one thing that holds a job back, or what became of it.
type Reason struct {
	Code Code   `json:"code"`
	Text string `json:"text"`
	Next string `json:"next,omitempty"` // what to do about it
	// Until is when it ends by itself, of a pause that does.
	Until *time.Time `json:"until,omitempty"`
}

// Narrowing is a step on the way from all nodes to the nodes that could run a job.
type Narrowing struct {
	Left        int    `json:"nodes_left"`
	Requirement string `json:"requirement"`
	Nearest     string `json:"nearest,omitempty"` // what would leave some, for the one that leaves none
}

// Rank is the place of a job's next task among all that could start, if room came
// slot by slot and nothing ended or arrived.
type Rank struct {
	Position int64 `json:"position"` // of the next task, from 1
	Of       int64 `json:"of"`       // tasks that wait and could start
	Jobs     int64 `json:"jobs_ahead"`
	Pools    int64 `json:"pools_ahead"`
	// Units are the units that the tasks ahead ask for.
	Units  float64 `json:"units_ahead"`
	Capped bool    `json:"capped,omitempty"` // the preview ended before the job's turn
}

// Level is the comparison at one pool on the way from the root down to the job.
type Level struct {
	Pool    string `json:"pool"` // that divides; "" is the root
	Policy  string `json:"policy"`
	Formula string `json:"formula"`
	Order   string `json:"order"`
	Terms   []Term `json:"terms"`
	Says    string `json:"says,omitempty"` // what the terms of a child say in words, with expressions in braces
	Tied    string `json:"tied,omitempty"` // what decides between equal keys, if not the larger weight
	// TermByTerm: the key only makes one number of the terms, which are compared one after the other.
	TermByTerm bool    `json:"term_by_term,omitempty"`
	Clock      float64 `json:"clock"`          // where a child enters that comes back
	You        string  `json:"you"`            // the child on the job's way
	Before     int     `json:"before"`         // children that go before it
	Children   []Child `json:"children"`       // in order; those before it may be cut, see Left
	Left       int     `json:"left_out"`       // children before it that are not listed
	Jobs       bool    `json:"jobs,omitempty"` // the children are jobs, by the priority of each
	Behind     int     `json:"behind"`         // of a choice that was made: children behind those listed that are not
}

// Child is one child of the pool that divides, as it was compared.
type Child struct {
	Name  string            `json:"name"`
	Terms map[string]Number `json:"terms"`
	Key   Number            `json:"key"` // what the formula gives
	Tie   Number            `json:"tie"`
	// Resource is the one in which it is compared, where that is not the same for all.
	Resource string  `json:"resource,omitempty"`
	Fixed    Number  `json:"fixed,omitempty"` // decides between keys and ties that are equal
	Number   int32   `json:"number"`          // decides at last: the older first
	BelowMin bool    `json:"below_min,omitempty"`
	Lack     *Lack   `json:"lack,omitempty"` // of a child that is below its minimum: what of
	Open     bool    `json:"open"`           // has work that may start
	Share    float64 `json:"share"`
	Used     float64 `json:"used"` // fraction of what the pool has received
	Waiting  int64   `json:"waiting"`
	Running  int32   `json:"running"`
	// Base is the weight without boosts, and Boosts what multiplies it, if anything does.
	Base   float64 `json:"base_weight,omitempty"`
	Boosts []Boost `json:"boosts,omitempty"`
}

// Lack is what a pool has less of than its minimum.
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
	// Usage is after how many slot-seconds it ends, Had what the child received of them.
	Usage float64 `json:"usage,omitempty"`
	Had   float64 `json:"had,omitempty"`
	Note  string  `json:"note,omitempty"` // by whom, and why
}

// Ahead sums up what goes before the job from one pool or, where jobs of several priorities wait in
// it, from one of these.
type Ahead struct {
	Pool     string  `json:"pool"`
	Priority string  `json:"priority,omitempty"`
	Tasks    int64   `json:"tasks"`
	Jobs     int64   `json:"jobs"`
	Units    float64 `json:"units"`
	// Level is the pool at which it was decided, e.g. "" for the root; Own is set for
	// jobs of the same leaf, which come in order of submission.
	Level string `json:"level"`
	Own   bool   `json:"own,omitempty"`
}

// Gate is one secondary restriction on the job's way.
type Gate struct {
	Name  string `json:"name"`           // e.g. max_running
	Where string `json:"where"`          // pool, "job" or "nodes"
	Open  bool   `json:"open"`           //
	Used  string `json:"used,omitempty"` //
	Limit string `json:"limit,omitempty"`
	Text  string `json:"text,omitempty"`
	Code  Code   `json:"code,omitempty"` // of the reason when closed
	// Need is what the job asks for at once, where that is more than the limit.
	Need string `json:"need,omitempty"`
	// Kept is the room kept for another job that is in the way.
	Kept *Kept `json:"kept,omitempty"`
	// Window is the reservation or maintenance that the job asks for or that is in its way.
	Window *Window `json:"window,omitempty"`
	// Next is when it opens by itself: when a rate that has no start left has one again, or a
	// pause ends.
	Next *time.Time `json:"next,omitempty"`
	// Holders are those who hold most of a licence.
	Holders []Holder `json:"holders,omitempty"`
}

// Estimate is when a job will start, if nothing new is submitted.
type Estimate struct {
	// By is when it starts if every task runs as long as it may. It is missing where that
	// cannot be said: Text says why.
	By *time.Time `json:"by,omitempty"`
	// Kept is set if By is from when room is kept for it, under conservative backfilling. Unless
	// MayMove is set, too, it holds whoever comes and however early tasks end.
	Kept bool `json:"kept,omitempty"`
	// MayMove is set if the room was planned in the order of now, and jobs that come before it in
	// the order, as the claims of others grow, move it to later.
	MayMove bool   `json:"may_move,omitempty"`
	Node    string `json:"node,omitempty"` // on which it would start then
	Text    string `json:"text,omitempty"`
	// Early, Middle and Late are the 10th, 50th and 90th percentile of the starts in
	// replays in which each task runs as long as one of its pool did lately.
	Early   *time.Time `json:"early,omitempty"`
	Middle  *time.Time `json:"middle,omitempty"`
	Late    *time.Time `json:"late,omitempty"`
	Replays int        `json:"replays,omitempty"`
	// AsOf is of when the state is that By was worked out of, if that is an older one.
	AsOf *time.Time `json:"as_of,omitempty"`
}

// Kept is room that is kept for a job.
type Kept struct {
	Job   int64     `json:"job"`
	Nodes []string  `json:"nodes"`
	From  time.Time `json:"from"`
	To    time.Time `json:"to"` // if it runs as long as it may
	// Predicted is set if From follows from predictions of tasks without a time limit.
	Predicted bool `json:"predicted,omitempty"`
	// Overdue is set if those tasks have run for longer than predicted: the room is free when they have ended.
	Overdue bool `json:"overdue,omitempty"`
	// Held is set if nodes are held for the job, as it has waited for too long: it starts at the latest
	// when the tasks there have ended. HeldFrom is from when on they will be, if that is known.
	Held     bool       `json:"held,omitempty"`
	HeldFrom *time.Time `json:"held_from,omitempty"`
	// MayMove is set if it is planned in the order of now, under conservative backfilling, and moves to
	// later if other jobs come before it.
	MayMove bool `json:"may_move,omitempty"`
	// Units are what it takes of the unit of shares on the node that lists it.
	Units int64 `json:"units,omitempty"`
}

// Window is a time for which nodes are kept for some jobs, or for none.
type Window struct {
	Name        string    `json:"name"`
	Nodes       []string  `json:"nodes,omitempty"`
	Maintenance bool      `json:"maintenance,omitempty"`
	From        time.Time `json:"from"`
	To          time.Time `json:"until"`
	// Max is the time limit up to which the job is not in its way.
	Max float64 `json:"most_seconds,omitempty"`
}

// Holder is a user whose running tasks hold licences.
type Holder struct {
	User  string  `json:"user"`
	Count int64   `json:"count"`
	Jobs  []int64 `json:"jobs"` // up to ten
}

// Change is something to ask for that would make a job start sooner. It was found by the
// scheduler itself, with the job exchanged for one that asks for it.
type Change struct {
	Flags string `json:"flags"` // of fairlead submit, or of alter
	// Of these those are set that change.
	LimitSeconds float64          `json:"limit_seconds,omitempty"` // the longest that will do
	Request      map[string]int64 `json:"request,omitempty"`
	Pool         string           `json:"pool,omitempty"`
	Priority     string           `json:"priority,omitempty"`
	// By is when the job would start, if every task runs as long as it may.
	By      time.Time `json:"by"`
	Now     bool      `json:"now"` // that is at once
	Seconds float64   `json:"sooner_seconds,omitempty"`
	// Alter is set if the job can be changed so where it waits; else it has to be cancelled and
	// submitted again.
	Alter bool   `json:"alter,omitempty"`
	Text  string `json:"text,omitempty"`
}

package web

import (
	"context"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// jobPage explains the state of a job, and the changes that would help it.
var jobPage = &Page{Name: "job", Of: "queue", Path: "jobs/{id}",
	Parts: []string{"head", "output", "why", "start", "held", "levels", "gates", "tasks", "history"},
	Seen:  ByUser, Load: loadJob}

// Job is the data of the page.
type Job struct {
	*api.JobResponse
	Why *why.Answer
	// Events holds the last events of the job, Held the reasons of its wait over time, List some of its
	// tasks.
	Events eventList
	Held   heldList
	List   taskList
	// May says that the user may read the output of the job.
	May bool
	// Tail is the end of the output of a job that failed.
	Tail tail
	// Later says that the estimate of the start is still being computed.
	Later bool
	// Likely is the predicted start that lists show, if no start is guaranteed.
	Likely *time.Time
	Start  plot.Figure
	Ahead  plot.Figure
	// First holds the first pools with jobs before this one, and More is the number of other pools.
	First  []why.Ahead
	More   int
	Levels []level
	Runs   plot.Figure // its tasks over time
	Verbs  []verb
	Copies bool // it offers to submit a copy
	Try    *try
}

func loadJob(ctx context.Context, src Source, r *Request) (any, error) {
	id, err := strconv.ParseInt(r.ID, 10, 64)
	if err != nil {
		return nil, missing("there is no job %.40q; see fairlead queue --all", r.ID)
	}
	j := &Job{}
	var happened *api.History
	if j.JobResponse, happened, err = src.Jobs.History(ctx, id); err != nil {
		return nil, err
	}
	// The time for the estimate of a start depends on the number of jobs before it.
	j.Later = !r.patient(src) && !r.Query.Has("start")
	if j.Why, err = src.Jobs.Why(ctx, id, explain.WhyOptions{Siblings: siblingsShown, Estimate: !j.Later}); err != nil {
		return nil, err
	}
	j.Events, j.List = eventsOf(happened.Events, r), tasksOf(j.JobResponse, r)
	j.Held = heldOf(&j.Job, happened.Events, j.Why.At)
	j.May = r.You.can(access.Output, access.Object{Owner: j.Job.User, Pool: j.Job.Pool})
	j.Tail = tailOf(ctx, src, j.JobResponse, j.May, &r.You)
	j.Verbs, j.Copies = verbsFor(&j.Job, &r.You), copies(&j.Job, &r.You)
	for i := range j.Why.Levels {
		j.Levels = append(j.Levels, levelOf(&j.Why.Levels[i], j.Why.Units.Growth))
	}
	j.Likely = likelyStart(ctx, src, j)
	j.Later = j.Later && j.Why.Rank != nil
	j.First = j.Why.Ahead[:min(aheadShown, len(j.Why.Ahead))]
	j.More = len(j.Why.Ahead) - len(j.First)
	j.Start, j.Ahead, j.Runs = startOf(j.Why), aheadOf(j.Why), runsOf(&j.Job, j.List.Rows, happened.Events, j.Why.At)
	j.Try = tryOf(ctx, src, &j.Job, j.Why.Units.Unit, r)
	return j, nil
}

// likelyStart returns the predicted start that lists show for a job without a guaranteed start.
func likelyStart(ctx context.Context, src Source, j *Job) *time.Time {
	if j.Later || j.Why.Start == nil || j.Why.Start.By != nil {
		return nil
	}
	list, err := src.Jobs.List(ctx, queue.Query{IDs: []int64{j.Job.ID}, Limit: 1}, JobOptions{Start: true})
	if err != nil || len(list.Jobs) == 0 || !list.Jobs[0].StartPredicted {
		return nil
	}
	return list.Jobs[0].StartBy
}

// Makes returns the action that makes an advised change, if the user may change the job. Its addresses are relative to
// the root of the pages.
func (j *Job) Makes(c why.Change) *try {
	t := &try{}
	if !c.Alter || len(j.Verbs) == 0 {
		return t
	}
	var v api.Variation
	fields := 2 * len(c.Request) // a request cannot be changed
	if c.LimitSeconds > 0 {
		v.LimitSeconds = &c.LimitSeconds
		fields++
	}
	if c.Pool != "" {
		v.Pool = &c.Pool
		fields++
	}
	if c.Priority != "" {
		v.Priority = &c.Priority
		fields++
	}
	t.apply(&j.Job, v, fields, "act?")
	return t
}

// siblingsShown is the number of first siblings that each level lists.
const siblingsShown = 6

// aheadShown is the number of listed pools with jobs that go first.
const aheadShown = 8

// startOf draws the estimate of the start.
func startOf(a *why.Answer) plot.Figure {
	if a.Start == nil {
		return nil
	}
	return plot.Spans{Title: "", Width: 620, Rows: []plot.Span{spanOf("starts", a.Start, a.At)}}
}

// aheadOf draws the jobs that go before the job.
func aheadOf(a *why.Answer) plot.Figure {
	if len(a.Ahead) == 0 {
		return nil
	}
	s := plot.Pieces{Title: "jobs ahead", Unit: a.Units.Unit, Width: 620}
	for _, x := range a.Ahead {
		s.Parts = append(s.Parts, plot.Piece{Name: x.Pool, Value: x.Units, Count: x.Jobs})
	}
	return s
}

// level is a comparison with its pictures.
type level struct {
	*why.Level
	Where    string
	Children []child
	Shares   bool   // compares shares and usage
	Tie      string // the criterion that decides if the first two are equal
}

type child struct {
	why.Child
	You, First bool
	Formula    string // with the numbers of the child
	Says       string
	Bar        plot.Bullet
}

func levelOf(l *why.Level, growth float64) level {
	out := level{Level: l, Where: words.Pool(l.Pool)}
	if out.Where == "" {
		out.Where = "cluster"
	}
	most := 0.0
	for _, c := range l.Children {
		most = max(most, c.Share, c.Used)
		out.Shares = out.Shares || c.Share > 0
	}
	for i, c := range l.Children {
		out.Children = append(out.Children, child{
			Child: c, You: c.Name == l.You, First: i == 0 &&
				(l.Policy != "lottery" || c.BelowMin), Formula: l.Put(c, growth), Says: l.Words(c, growth),
			Bar: plot.Bullet{Name: c.Name, Bar: c.Used, Mark: c.Share, To: most, Width: 150, Percent: true},
		})
	}
	if len(l.Children) > 1 && l.Policy != "lottery" {
		first, second := l.Children[0], l.Children[1]
		if first.Key == second.Key && first.BelowMin == second.BelowMin {
			out.Tie = l.Wins(share.Original(first.Name), first, second, growth)
		}
	}
	return out
}

package web

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// poolPage shows a pool or a user: the entitlement and the usage, the waits of the jobs, and the jobs.
var poolPage = &Page{Name: "pool", Of: "now", Path: "pool",
	Parts: []string{"head", "compare", "versus", "members", "waits", "jobs"}, Seen: ByRole, Load: loadPool}

// Pool is the data of the page.
type Pool struct {
	*api.Shares
	// Pool is the pool, nil if the page shows a user.
	Pool *views.PoolView
	User string
	Path string
	// Way holds the pools above, the topmost first.
	Way     []string
	Why     *why.Answer
	Levels  []level
	Had     plot.Figure
	History poolHistory
	Versus  versus
	// Members holds the child pools, or the pools of the user.
	Members poolTable
	Waits   waits
	Reasons reasons
	Jobs    *api.JobList
	// Query finds all of its jobs in the queue.
	Query string
	// Own sums up the jobs of the user that have not ended.
	Own   standing
	first []int64 // the first jobs of the user that wait or run
}

// standing sums up the unfinished jobs of a user.
type standing struct {
	Jobs, Waiting, Running, Queued int
	// Stopped are waiting tasks of held and blocked jobs.
	Stopped int
	// More is set if the user has more jobs than were read.
	More bool
	// Limit is the limit of running tasks per user, or 0.
	Limit int
}

// maxOwn bounds the jobs of a user that the page reads.
const maxOwn = 1000

// standingOf sums up jobs.
func standingOf(list *api.JobList, limit int) standing {
	s := standing{Jobs: len(list.Jobs), More: list.More, Limit: limit}
	for i := range list.Jobs {
		j := &list.Jobs[i]
		if state := queue.State(j.State); j.Held || state == queue.Blocked {
			s.Stopped += j.Waiting
		} else {
			s.Waiting += j.Waiting
		}
		s.Waiting += j.Queued
		s.Running += j.Running - j.Queued
		s.Queued += j.Queued
	}
	return s
}

// jobsShown is the maximum number of jobs that the page lists.
const jobsShown = 12

func loadPool(ctx context.Context, src Source, r *Request) (any, error) {
	p := &Pool{User: r.Word("user"), Path: r.Word("pool")}
	query := queue.Query{User: p.User, Pool: p.Path}
	p.Query = "pool:" + filterValue(p.Path)
	var err error
	switch {
	case p.User != "":
		query.Pool = ""
		p.Query = "user:" + filterValue(p.User)
		err = p.ofUser(ctx, src, r)
	case p.Path == "":
		return nil, &queue.Invalid{Field: "address", Msg: "add a pool or a user: pool?pool=physics or pool?user=ann"}
	default:
		err = p.ofPool(ctx, src, r)
	}
	if err != nil {
		return nil, err
	}
	if err = p.listJobs(ctx, src, query, r); err != nil {
		return nil, err
	}
	p.Waits = waitsOf(ctx, src, query.Pool, query.User)
	return p, nil
}

// listJobs lists the first jobs that wait or run. The jobs of a user have been found already: to find them again would
// take as long, because the store reads all unfinished jobs for that.
func (p *Pool) listJobs(ctx context.Context, src Source, query queue.Query, r *Request) (err error) {
	query.States, query.Limit = listed, jobsShown
	if p.User != "" {
		query.IDs = append(slices.Clone(p.first[:min(jobsShown, len(p.first))]), noJob)
	}
	p.Jobs, err = src.Jobs.List(ctx, query, JobOptions{Rank: true, Start: r.patient(src)})
	if err == nil && p.User != "" {
		p.Jobs.More = len(p.first) > jobsShown
	}
	return err
}

// listed are the states of the jobs that the page lists, and noJob is the number of no job.
var listed = []queue.State{queue.Waiting, queue.Queued, queue.Running}

const noJob = -1

// ofPool gets the data of a pool.
func (p *Pool) ofPool(ctx context.Context, src Source, r *Request) (err error) {
	if p.Shares, err = src.Pools.Shares(ctx, p.Path); err != nil {
		return err
	}
	p.Pool = &p.Shares.Pools[0]
	if err = p.Versus.compare(ctx, src, p.Pool, p.Path, r); err != nil {
		return err
	}
	if !r.Live { // curves stay as they were when the page was opened
		p.History = historyOf(ctx, src, p.Path, p.Versus.With, r)
	}
	if p.Why, err = src.Pools.Why(ctx, p.Path, siblingsShown); err != nil {
		return err
	}
	for i := range p.Why.Levels {
		p.Levels = append(p.Levels, levelOf(&p.Why.Levels[i], p.Why.Units.Growth))
	}
	p.Way = above(p.Path)
	below := p.Shares.Pools[1:]
	p.Members = tableOf(p.Shares, below, r)
	p.Members.drawSparklines(ctx, src, p.Unit)
	p.Reasons = reasonsOf(ctx, src, p.Path)
	f := p.Pool.Fairness
	had := plot.Bars{Width: 620, Series: []string{"entitled", "received"}, Groups: []plot.Group{
		{Name: spanName("hour", p.Fairness.Hour.Seconds, 3600),
			Values: []float64{f.Hour.Ideal / 3600, f.Hour.Received / 3600}},
	}}
	if p.Fairness.Day.Seconds > p.Fairness.Hour.Seconds { // else the server is new, and both are the same
		had.Groups = append(had.Groups, plot.Group{
			Name: spanName("day", p.Fairness.Day.Seconds, 24*3600), Values: []float64{f.Day.Ideal / 3600, f.Day.Received / 3600},
		})
	}
	p.Had = had
	return nil
}

// Received compares the service of the last day with the entitlement. Unlike the column SERVED it is not cut off at
// 100 %: it also tells how much the pool borrowed.
func (p *Pool) Received() string {
	const many = 10
	day := p.Pool.Fairness.Day
	switch {
	case day.Ideal <= 0:
		return fmt.Sprintf("%s %s-h, entitled to nothing", words.OneDigit(day.Received/3600), p.Unit)
	case day.Received > many*day.Ideal:
		return fmt.Sprintf("more than %d times its entitlement", many)
	}
	return words.Percent(day.Received/day.Ideal) + " of its entitlement"
}

// ofUser finds the pools of a user: pools with the user's name, and pools with unfinished jobs of the user.
func (p *Pool) ofUser(ctx context.Context, src Source, r *Request) (err error) {
	if p.Shares, err = src.Pools.Shares(ctx, ""); err != nil {
		return err
	}
	list, err := src.Jobs.List(ctx, queue.Query{User: p.User,
		States: []queue.State{queue.Waiting, queue.Queued, queue.Running, queue.Held,
			queue.Blocked}, Limit: maxOwn}, JobOptions{})
	if err != nil {
		return err
	}
	p.Own = standingOf(list, src.Nodes.RunningPerUser())
	in := map[string]bool{}
	for i := range list.Jobs {
		in[list.Jobs[i].Pool] = true
		if slices.Contains(listed, queue.State(list.Jobs[i].State)) && len(p.first) <= jobsShown {
			p.first = append(p.first, list.Jobs[i].ID)
		}
	}
	own, pool := []views.PoolView(nil), share.UserPool(p.User)
	for _, v := range p.Shares.Pools {
		if in[v.Path] || v.Path == pool || strings.HasSuffix(v.Path, "/"+pool) {
			own = append(own, v)
		}
	}
	p.Members = tableOf(p.Shares, own, r)
	p.Members.drawSparklines(ctx, src, p.Unit)
	return nil
}

// spanName names a time span, or the shorter time since the server started.
func spanName(name string, seconds, whole float64) string {
	if seconds >= whole-1 {
		return name
	}
	return timeCovered(seconds)
}

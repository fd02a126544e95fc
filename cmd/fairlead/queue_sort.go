package main

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/internal/api"
)

// jobOrder sorts jobs by a number, the largest first.
type jobOrder struct {
	of func(j *api.Job) float64
}

// queueOrders are the numbers that queue --sort compares; the argument "unit" is the unit of shares.
func queueOrders(unit string) map[string]func(j *api.Job) float64 {
	atOnce := func(j *api.Job) float64 { return float64(max(1, j.Gang)) }
	return map[string]func(j *api.Job) float64{
		"width":  func(j *api.Job) float64 { return atOnce(j) * float64(max(1, j.Request[unit])) },
		"memory": func(j *api.Job) float64 { return atOnce(j) * float64(j.Request["mem"]) },
		"limit":  func(j *api.Job) float64 { return j.LimitSeconds },
		"age":    func(j *api.Job) float64 { return -float64(j.Submitted.UnixNano()) },
	}
}

func (o *jobOrder) sort(jobs []api.Job) {
	slices.SortStableFunc(jobs, func(a, b api.Job) int {
		return cmp.Or(cmp.Compare(o.of(&b), o.of(&a)), cmp.Compare(a.ID, b.ID))
	})
}

// sorted returns the order of --sort. It reads all jobs that match v, and limits v to the first of them, so that the
// server computes places and starts only for the listed jobs.
func sorted(ctx context.Context, client *api.Client, v url.Values, by string, limit int) (*jobOrder, error) {
	all := maps.Clone(v)
	all.Set("limit", "10000")
	var jobs []api.Job
	var order *jobOrder
	for {
		list, err := client.Jobs.List(ctx, all)
		if err != nil {
			return nil, err
		}
		order = &jobOrder{queueOrders(list.Summary.Unit)[by]}
		jobs = append(jobs, list.Jobs...)
		if !list.More {
			break
		}
		all.Set("after", strconv.FormatInt(jobs[len(jobs)-1].ID, 10))
	}
	order.sort(jobs)
	delete(v, "ids")
	for i := range jobs[:min(len(jobs), limit)] {
		v.Add("ids", strconv.FormatInt(jobs[i].ID, 10))
	}
	if len(jobs) == 0 {
		v.Set("ids", "0") // no job has this number
	}
	return order, nil
}

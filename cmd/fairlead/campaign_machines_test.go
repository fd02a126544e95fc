//go:build campaign

package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/explain"
)

// shapes lists eight machines of eight kinds, as their agents describe them.
var shapes = []struct {
	name  string
	has   cluster.Amounts
	flags []string
}{
	{"n1", cluster.Amounts{"cpu": 4, "mem": 8}, nil},
	{"n2", cluster.Amounts{"cpu": 4, "mem": 16}, []string{"--label", "rack=b"}},
	{"n3", cluster.Amounts{"cpu": 8, "mem": 16}, nil},
	{"n4", cluster.Amounts{"cpu": 8, "mem": 64}, []string{"--label", "rack=b"}},
	{"n5", cluster.Amounts{"cpu": 16, "mem": 64}, []string{"--label", "rack=b"}},
	{"n6", cluster.Amounts{"cpu": 8, "mem": 32, "gpu": 2, "gpu:a100": 2}, []string{"--gpus", "a100:2"}},
	{"n7", cluster.Amounts{"cpu": 6, "mem": 32, "gpu": 4, "gpu:a100": 1, "gpu:h100": 3}, []string{"--gpus", "a100:1,h100:3"}},
	{"n8", cluster.Amounts{"cpu": 2, "mem": 4}, nil},
}

// onOrder starts jobs in the order of submission, so that no new job goes ahead.
const onOrder = `policy: fifo
backfill: %s
licenses: {matlab: 3, ansys: 2}
`

const (
	machineJobs = 70
	// blocked is the minimum time limit of the tasks that occupy every node until all jobs are submitted and the test
	// has asked for all bounds.
	blocked = 20 * time.Second
	// lateness is how late a process may begin or end.
	lateness = 700 * time.Millisecond
)

// TestCampaignMachines has five users run gangs, arrays, and jobs with GPUs, memory, constraints and licenses on eight
// machines of different shapes, with backfilling. Then it replays the log: no resource was ever taken twice, no
// backfilled job delayed a planned start, and every job started by the bound that was computed after the submissions.
// EASY plans only the start of the first job: its bounds for the other jobs are no promises if tasks end early, so the
// test only counts these. On a busy machine a task may run over its limit, which voids all earlier promises. Finally
// the test spoils the log and checks that it finds each fault.
func TestCampaignMachines(t *testing.T) {
	for _, backfill := range []string{"easy", "conservative"} {
		t.Run(backfill, func(t *testing.T) {
			l := newLab(t, fmt.Sprintf(onOrder, backfill))
			l.serve()
			log := &machineLog{nodes: map[string]cluster.Amounts{}, licenses: map[string]int64{"matlab": 3, "ansys": 2}, late: lateness}
			began := time.Now()
			for _, s := range shapes {
				l.offer(s.name, append([]string{"--cpus", fmt.Sprint(s.has["cpu"]), "--mem", fmt.Sprintf("%dG", s.has["mem"])}, s.flags...)...)
				log.nodes[s.name] = maps.Clone(s.has)
				log.nodes[s.name]["mem"] <<= 30 // GiB
			}
			hold := max(blocked, 6*time.Since(began)) // the time to start the agents shows how slow the machine is
			l.block(hold)
			began = time.Now()
			l.submitMix(rand.New(rand.NewPCG(1, 3)))
			log.promises = l.bounds()
			told := time.Since(began)
			if told > hold*3/4 {
				t.Fatalf("the machine is too busy: it took %v to submit all and to ask", told)
			}
			log.promises = append(log.promises, l.watchRoom()...)
			log.runs = l.machineRuns()
			if n := log.setAside(); n > 0 {
				t.Logf("%d promises are left out, as a task ran until its limit, or over it, before they were due", n)
			}
			log.report(t, backfill)
			if backfill == "easy" {
				log.estimates(t)
			}
			for _, v := range log.violations() {
				t.Error(v)
			}
			if !t.Failed() {
				findsFaults(t, log)
			}
		})
	}
}

// estimates removes the bounds that did not hold, and counts them.
func (l *machineLog) estimates(t *testing.T) {
	t.Helper()
	before := len(l.promises)
	l.promises = slices.DeleteFunc(l.promises, func(p promise) bool {
		alone := &machineLog{runs: l.runs, promises: []promise{p}, late: l.late}
		return !p.room && len(alone.broken()) > 0
	})
	missed := before - len(l.promises)
	t.Logf("figure: %d of %d jobs started later than EASY had said", missed, machineJobs)
	if missed > machineJobs/4 {
		t.Errorf("what EASY says by when jobs start is worth nothing")
	}
}

// offer starts an agent that claims to have these resources.
func (l *lab) offer(name string, flags ...string) {
	l.t.Helper()
	l.start(name, append([]string{"work", "--server", l.socket, "--name", name, "--label", "node=" + name, "--dir", filepath.Join(l.dir, "agent-"+name), "--any-user"}, flags...)...)
	l.until(name+" joins", func() bool { return l.node(name) == "up" })
}

// one submits a job of a user and returns its number.
func (l *lab) one(user string, s api.Spec, length time.Duration) int64 {
	l.t.Helper()
	l.client.As = user
	defer func() { l.client.As = "" }()
	s.Dir, s.Output = "/", "/dev/null"
	s.Argv = []string{"sleep", fmt.Sprint(length.Seconds())}
	r, err := l.client.Jobs.Submit(l.t.Context(), api.SubmitRequest{Jobs: []api.Spec{s}})
	if err == nil {
		err = r.Jobs[0].Error.Err()
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return r.Jobs[0].ID
}

// block occupies all processors of all nodes until three seconds before a time limit.
func (l *lab) block(limit time.Duration) {
	l.t.Helper()
	for _, s := range shapes {
		spec := api.Spec{Request: map[string]int64{"cpu": s.has["cpu"]}, Constraint: "node=" + s.name, LimitSeconds: limit.Seconds()}
		l.one("root", spec, limit-3*time.Second)
	}
	l.until("all nodes are busy", func() bool { return len(list(l.t, l.client, "running")) == len(shapes) })
}

// submitMix submits jobs of all kinds, for five users in turn.
func (l *lab) submitMix(rng *rand.Rand) {
	l.t.Helper()
	users := []string{"ann", "bob", "cid", "dan", "eva"}
	for i := range machineJobs {
		s := mixedSpec(rng, i)
		limit := time.Duration(3000+rng.IntN(6000)) * time.Millisecond
		s.LimitSeconds = limit.Seconds()
		l.one(users[i%len(users)], s, limit*time.Duration(30+rng.IntN(40))/100)
	}
}

// mixedSpec returns a job of one of the kinds, in turn.
func mixedSpec(rng *rand.Rand, i int) api.Spec {
	n := func(from, to int) int64 { return int64(from + rng.IntN(to-from+1)) }
	switch i % 7 {
	case 0:
		return api.Spec{Gang: int(n(2, 5)), Spread: true, Request: map[string]int64{"cpu": n(1, 4)}}
	case 1:
		return api.Spec{Gang: int(n(4, 12)), Request: map[string]int64{"cpu": n(1, 2)}}
	case 2:
		return api.Spec{Request: map[string]int64{"cpu": n(1, 4), []string{"gpu", "gpu:a100", "gpu:h100"}[rng.IntN(3)]: n(1, 2)}}
	case 3:
		return api.Spec{Licenses: map[string]int64{[]string{"matlab", "ansys"}[rng.IntN(2)]: n(1, 2)}, Request: map[string]int64{"cpu": n(1, 3)}}
	case 4:
		return api.Spec{Array: fmt.Sprintf("1-%d", n(3, 7)), Request: map[string]int64{"cpu": n(1, 3)}}
	case 5:
		return api.Spec{Request: map[string]int64{"cpu": n(4, 16), "mem": n(1, 16) << 30}}
	}
	return api.Spec{Gang: 2, Spread: true, Constraint: "rack=b", Request: map[string]int64{"cpu": n(1, 4), "mem": n(1, 8) << 30}, Licenses: map[string]int64{"matlab": 1}}
}

// bounds asks for the latest start of each waiting job.
func (l *lab) bounds() (all []promise) {
	l.t.Helper()
	for _, j := range list(l.t, l.client, "waiting") {
		a, err := l.client.Jobs.Why(l.t.Context(), j.ID, explain.WhyOptions{Estimate: true, Siblings: 1})
		if err != nil {
			l.t.Fatal(err)
		}
		if a.Start == nil || a.Start.By == nil {
			l.t.Errorf("job %d has no bound: %+v\n%s", j.ID, a.Start, a.Text())
			continue
		}
		all = append(all, promise{job: int(j.ID), at: a.At, by: *a.Start.By})
	}
	return all
}

// watchRoom records planned starts until nothing waits any more, and waits until nothing runs.
func (l *lab) watchRoom() (all []promise) {
	l.t.Helper()
	const looked = 12 // how many of the next jobs it asks about
	for end := time.Now().Add(5 * time.Minute); ; {
		waiting := list(l.t, l.client, "waiting")
		if len(waiting) == 0 && len(list(l.t, l.client, "running")) == 0 {
			return all
		}
		if time.Now().After(end) {
			l.t.Fatalf("%d jobs wait still", len(waiting))
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		for _, j := range waiting[:min(len(waiting), looked)] {
			wg.Go(func() {
				a, err := l.client.Jobs.Why(context.Background(), j.ID, explain.WhyOptions{Siblings: 1})
				if err == nil && a.Kept != nil && j.Running == 0 {
					mu.Lock()
					defer mu.Unlock()
					all = append(all, promise{job: int(j.ID), room: true, at: a.At, by: a.Kept.From})
				}
			})
		}
		wg.Wait()
		time.Sleep(200 * time.Millisecond)
	}
}

// machineRuns returns all tasks from the server's history. Every task ran once, to its end.
func (l *lab) machineRuns() (all []machineRun) {
	l.t.Helper()
	jobs, err := l.client.Jobs.List(l.t.Context(), url.Values{"limit": {"1000"}})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, j := range jobs.Jobs {
		r, err := l.client.Jobs.Get(l.t.Context(), j.ID)
		if err != nil {
			l.t.Fatal(err)
		}
		if len(r.Tasks) != j.Tasks {
			l.t.Errorf("job %d: %d of %d tasks ran", j.ID, len(r.Tasks), j.Tasks)
		}
		for _, k := range r.Tasks {
			if k.State != "succeeded" || k.Attempt != 1 || k.Ended == nil {
				l.t.Errorf("job %d: task %+v", j.ID, k)
				continue
			}
			all = append(all, machineRun{
				job: int(j.ID), task: k.Task, node: k.Node, request: j.Request, licenses: j.Licenses, gang: j.Gang, spread: j.Spread,
				limit: time.Duration(j.LimitSeconds * float64(time.Second)), start: k.Started, end: *k.Ended,
			})
		}
	}
	return all
}

// report prints how much the log holds, and fails if that is too little for a check.
func (l *machineLog) report(t *testing.T, backfill string) {
	t.Helper()
	first := slices.MinFunc(l.runs, func(a, b machineRun) int { return a.start.Compare(b.start) })
	last := slices.MaxFunc(l.runs, func(a, b machineRun) int { return a.end.Compare(b.end) })
	ids, runs := l.byJob()
	ahead, latest := 0, time.Time{}
	for _, id := range ids {
		if runs[id][0].start.Before(latest) {
			ahead++
		}
		if runs[id][0].start.After(latest) {
			latest = runs[id][0].start
		}
	}
	rooms, tightest := 0, time.Duration(1<<62)
	for _, p := range l.promises {
		if p.room {
			rooms++
		}
		if early := p.by.Sub(runs[p.job][0].start); !p.room {
			tightest = min(tightest, early)
		}
	}
	t.Logf("figure: %s: %d tasks of %d jobs in %v; %d jobs went ahead of others; %d bounds, the tightest %v before its time; room was seen to be kept %d times",
		backfill, len(l.runs), len(ids), last.end.Sub(first.start).Round(time.Second), ahead, len(l.promises)-rooms, tightest.Round(time.Millisecond), rooms)
	if ahead < len(ids)/10 || rooms < 10 {
		t.Errorf("too little happened for that to say anything")
	}
}

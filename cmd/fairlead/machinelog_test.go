package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// machineLog records the tasks on a cluster and the promises to jobs. A replay checks that no rule was broken.
type machineLog struct {
	nodes    map[string]cluster.Amounts // resources of each node, types included
	licenses map[string]int64
	runs     []machineRun
	promises []promise
	late     time.Duration // how late a process may be on a busy machine
}

// machineRun is one task from its start to its end.
type machineRun struct {
	job, task  int
	node       string
	request    cluster.Amounts
	licenses   map[string]int64
	gang       int
	spread     bool
	limit      time.Duration
	start, end time.Time
}

// promise is the latest start of a job: either a bound, which holds as long as no new job goes ahead, or a planned
// start. No job that keeps its time limit may delay a planned start.
type promise struct {
	job  int
	room bool
	at   time.Time // when it was made
	by   time.Time
}

// violations describes every broken rule, adjacent duplicates once.
func (l *machineLog) violations() []string {
	var out []string
	for _, check := range []func() []string{l.overfull, l.torn, l.overrun, l.broken} {
		out = append(out, check()...)
	}
	return slices.Compact(out)
}

// overfull replays starts and ends, and finds resources and licenses that are exceeded at a start.
func (l *machineLog) overfull() (out []string) {
	runs := slices.SortedStableFunc(slices.Values(l.runs), func(a, b machineRun) int { return a.start.Compare(b.start) })
	for i, r := range runs {
		onNode, held := cluster.Amounts{}, map[string]int64{}
		for _, o := range runs[:i+1] {
			if !o.end.After(r.start) {
				continue
			}
			for name, n := range o.licenses {
				held[name] += n
			}
			if o.node == r.node {
				for name, n := range asked(o.request) {
					onNode[name] += n
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(onNode)) {
			if have := l.nodes[r.node][name]; onNode[name] > have {
				out = append(out, fmt.Sprintf("job %d: %d of the %d %s of %s are taken", r.job, onNode[name], have, name, r.node))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(held)) {
			if held[name] > l.licenses[name] {
				out = append(out, fmt.Sprintf("job %d: %d of the %d licenses %s are held", r.job, held[name], l.licenses[name], name))
			}
		}
	}
	return out
}

// asked returns a request with everything that it implies.
func asked(a cluster.Amounts) cluster.Amounts {
	all := cluster.Amounts{}
	maps.Copy(all, cluster.WithTypes(a))
	all["cpu"] = max(1, all["cpu"])
	return all
}

// byJob returns the runs of each job, and the jobs in order.
func (l *machineLog) byJob() (ids []int, runs map[int][]machineRun) {
	runs = map[int][]machineRun{}
	for _, r := range l.runs {
		runs[r.job] = append(runs[r.job], r)
	}
	return slices.Sorted(maps.Keys(runs)), runs
}

// torn finds gangs that did not start at one moment, or not on separate nodes if they had to.
func (l *machineLog) torn() (out []string) {
	ids, runs := l.byJob()
	for _, id := range ids {
		first, nodes := runs[id][0], map[string]bool{}
		if first.gang < 2 {
			continue
		}
		for _, r := range runs[id] {
			nodes[r.node] = true
			if !r.start.Equal(first.start) {
				out = append(out, fmt.Sprintf("job %d: its gang starts at different times", id))
			}
		}
		if len(runs[id]) != first.gang || first.spread && len(nodes) != first.gang {
			out = append(out, fmt.Sprintf("job %d: %d of %d tasks of its gang run, on %d nodes", id, len(runs[id]), first.gang, len(nodes)))
		}
	}
	return out
}

// overrun finds tasks that ran longer than their limit.
func (l *machineLog) overrun() (out []string) {
	for _, r := range l.runs {
		if ran := r.end.Sub(r.start); r.limit > 0 && ran > r.limit+l.late {
			out = append(out, fmt.Sprintf("job %d: ran %v, and its limit is %v", r.job, ran, r.limit))
		}
	}
	return out
}

// broken finds broken promises. Bounds must hold; a planned start may be late only because of tasks that exceeded their
// limits.
func (l *machineLog) broken() (out []string) {
	_, runs := l.byJob()
	for _, p := range l.promises {
		started := slices.MinFunc(runs[p.job], func(a, b machineRun) int { return a.start.Compare(b.start) }).start
		delay := started.Sub(p.by)
		switch {
		case delay <= l.late:
		case !p.room:
			out = append(out, fmt.Sprintf("job %d: starts %v after the bound that was given", p.job, delay.Round(time.Millisecond)))
		default:
			if thief := l.thief(p, started); thief > 0 {
				out = append(out, fmt.Sprintf("job %d: starts %v late, and job %d went ahead", p.job, delay.Round(time.Millisecond), thief))
			}
		}
	}
	return out
}

// setAside removes void promises, and returns their number. A promise is void if, between the promise and the start, a
// task exceeded its limit, or came close enough to it that the scheduler may have learned of its end too late. The plan
// then gives this task more time, and other jobs may use it.
func (l *machineLog) setAside() int {
	_, runs := l.byJob()
	before := len(l.promises)
	l.promises = slices.DeleteFunc(l.promises, func(p promise) bool {
		started := slices.MinFunc(runs[p.job], func(a, b machineRun) int { return a.start.Compare(b.start) }).start
		return slices.ContainsFunc(l.runs, func(r machineRun) bool {
			due := r.start.Add(r.limit)
			return r.limit > 0 && due.After(p.at) && due.Before(started) && r.end.After(due.Add(-l.late))
		})
	})
	return before - len(l.promises)
}

// thief returns a job that started ahead of a job with a planned start, kept its limit, and still ran at that
// planned start; 0 if there is none.
func (l *machineLog) thief(p promise, started time.Time) int {
	for _, r := range l.runs {
		if r.job > p.job && r.start.After(p.at) && r.start.Before(started) && r.end.After(p.by) && r.end.Sub(r.start) <= r.limit {
			return r.job
		}
	}
	return 0
}

// wellRun returns a log without faults: two nodes, a gang, GPUs, a license, and a job that is backfilled
// before a planned start.
func wellRun() *machineLog {
	began := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return began.Add(time.Duration(s) * time.Second) }
	run := func(job, task int, node string, cpu int64, from, to, limit int) machineRun {
		return machineRun{job: job, task: task, node: node, request: cluster.Amounts{"cpu": cpu}, start: at(from), end: at(to), limit: time.Duration(limit) * time.Second}
	}
	l := &machineLog{
		nodes:    map[string]cluster.Amounts{"n1": {"cpu": 4}, "n2": {"cpu": 8, "gpu": 2, "gpu:a100": 2}},
		licenses: map[string]int64{"matlab": 1}, late: 500 * time.Millisecond,
		runs: []machineRun{
			run(1, 0, "n1", 3, 0, 9, 10), run(2, 0, "n2", 4, 0, 19, 20),
			run(3, 0, "n1", 4, 9, 15, 10), run(3, 1, "n2", 4, 9, 15, 10), // a gang
			run(4, 0, "n1", 1, 1, 8, 8), // backfilled
			run(5, 0, "n2", 1, 15, 20, 9), run(6, 0, "n2", 1, 20, 25, 9),
		},
		promises: []promise{{3, true, at(1), at(10)}, {5, false, at(1), at(20)}},
	}
	for i := range l.runs {
		r := &l.runs[i]
		if r.job == 3 {
			r.gang, r.spread = 2, true
		}
		if r.job >= 5 {
			r.licenses = map[string]int64{"matlab": 1}
			r.request = cluster.Amounts{"cpu": 1, "gpu:a100": 2}
		}
	}
	return l
}

// faults are ways to spoil a log so that at least one violation can be found. Each returns a part of the text of the
// expected violation, or "" if the log has nothing of that kind.
var faults = map[string]func(*machineLog) string{
	"a processor too many": func(l *machineLog) string {
		r := l.runs[0]
		r.job, r.gang, r.request = 9999, 0, cluster.Amounts{"cpu": 1 + l.nodes[r.node]["cpu"]}
		l.runs = append(l.runs, r)
		return "cpu of " + r.node
	},
	"a GPU too many": func(l *machineLog) string {
		return l.again(func(r *machineRun) bool { return asked(r.request)["gpu"] > 0 }, func(r *machineRun) string {
			r.request = cluster.Amounts{"gpu": 1 + l.nodes[r.node]["gpu"]}
			return "gpu of " + r.node
		})
	},
	"a license too many": func(l *machineLog) string {
		return l.again(func(r *machineRun) bool { return len(r.licenses) > 0 }, func(r *machineRun) string {
			name := slices.Sorted(maps.Keys(r.licenses))[0]
			r.licenses = map[string]int64{name: 1 + l.licenses[name]}
			return "licenses " + name
		})
	},
	"a gang in parts": func(l *machineLog) string {
		return l.spoil(func(r *machineRun) bool { return r.gang > 1 && r.task == 1 }, func(r *machineRun) string {
			r.start = r.start.Add(time.Millisecond)
			return "starts at different times"
		})
	},
	"a gang on fewer nodes": func(l *machineLog) string {
		return l.spoil(func(r *machineRun) bool { return r.spread && r.task == 1 }, func(r *machineRun) string {
			i := slices.IndexFunc(l.runs, func(o machineRun) bool { return o.job == r.job && o.task == 0 })
			r.node = l.runs[i].node
			return "of its gang run, on"
		})
	},
	"a limit that nobody ends": func(l *machineLog) string {
		return l.spoil(func(r *machineRun) bool { return r.limit > 0 }, func(r *machineRun) string {
			r.end = r.start.Add(r.limit + time.Hour)
			return "and its limit is"
		})
	},
	"a bound that was too early": func(l *machineLog) string {
		return l.breach(false, func(*promise, time.Time) string { return "after the bound that was given" })
	},
	"room that another takes": func(l *machineLog) string {
		return l.breach(true, func(p *promise, late time.Time) string {
			r := l.runs[0]
			r.job, r.gang, r.request, r.licenses, r.limit = 9999, 0, nil, nil, 30*time.Minute
			r.start, r.end = p.at.Add(time.Millisecond), late
			l.runs = append(l.runs, r)
			return "late, and job "
		})
	},
}

// spoil changes the first run of a kind.
func (l *machineLog) spoil(of func(*machineRun) bool, f func(*machineRun) string) string {
	for i := range l.runs {
		if of(&l.runs[i]) {
			return f(&l.runs[i])
		}
	}
	return ""
}

// again adds a changed copy of the first run of a kind.
func (l *machineLog) again(of func(*machineRun) bool, f func(*machineRun) string) string {
	i := slices.IndexFunc(l.runs, func(r machineRun) bool { return of(&r) })
	if i < 0 {
		return ""
	}
	r := l.runs[i]
	r.job, r.gang = 9999, 0
	text := f(&r)
	l.runs = append(l.runs, r)
	return text
}

// breach makes the job of the first promise of a kind start a quarter of an hour late.
func (l *machineLog) breach(room bool, f func(*promise, time.Time) string) string {
	i := slices.IndexFunc(l.promises, func(p promise) bool { return p.room == room })
	if i < 0 {
		return ""
	}
	p := &l.promises[i]
	late := p.by.Add(15 * time.Minute)
	for k := range l.runs {
		if r := &l.runs[k]; r.job == p.job {
			r.start, r.end = late, late.Add(cmp.Or(r.limit, time.Second)/2)
		}
	}
	return f(p, late)
}

func (l *machineLog) clone() *machineLog {
	c := *l
	c.runs, c.promises = slices.Clone(l.runs), slices.Clone(l.promises)
	return &c
}

// findsFaults spoils a log in every way and checks that each fault is found.
func findsFaults(t *testing.T, l *machineLog) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		spoiled := l.clone()
		want := faults[name](spoiled)
		if want == "" {
			t.Errorf("%s: the log has nothing of that kind", name)
			continue
		}
		found := spoiled.violations()
		if !slices.ContainsFunc(found, func(v string) bool { return strings.Contains(v, want) }) {
			t.Errorf("%s: found %q, want %q", name, found, want)
		}
	}
}

// TestMachineLog checks that a log without faults has no violations, and that every fault is found.
func TestMachineLog(t *testing.T) {
	t.Parallel()
	l := wellRun()
	if found := l.violations(); len(found) > 0 {
		t.Errorf("in a log without a fault: %q", found)
	}
	findsFaults(t, l)
}

// TestMachineLogOverLimit checks that a task that exceeds its limit voids the promises that were made before
// and not yet kept, and no others.
func TestMachineLogOverLimit(t *testing.T) {
	t.Parallel()
	l := wellRun()
	if n := l.setAside(); n != 0 {
		t.Errorf("%d promises are left out of a log in which all keep their limits", n)
	}
	second := &l.runs[1] // job 2, with a limit of 20 s
	second.end = second.start.Add(20*time.Second + time.Millisecond)
	for i := range l.runs {
		if r := &l.runs[i]; r.job == 5 {
			r.start, r.end = r.start.Add(6*time.Second), r.end.Add(6*time.Second)
		}
	}
	if n := l.setAside(); n != 1 || len(l.promises) != 1 || l.promises[0].job != 3 {
		t.Errorf("%d promises are left out, and %v are left", n, l.promises)
	}
}

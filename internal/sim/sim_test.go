package sim_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/internal/sim/swf"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// jobs makes a workload of lines "submit run procs user" on a machine with procs processors.
func jobs(t testing.TB, procs int, lines ...string) *sim.Workload {
	t.Helper()
	text := ""
	for i, line := range lines {
		var submit, run, size, user int
		if _, err := fmt.Sscan(line, &submit, &run, &size, &user); err != nil {
			t.Fatal(line, err)
		}
		text += fmt.Sprintf("%d %d -1 %d %d -1 -1 %d %d -1 1 %d -1 -1 -1 -1 -1 -1\n", i+1, submit, run, size, size, run, user)
	}
	return workload(t, "test", []byte(text), swf.Rules{Procs: procs})
}

func run(t testing.TB, w *sim.Workload, c sched.Config) *sim.Result {
	t.Helper()
	r, err := sim.Run(w, sim.Options{Config: c, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestOrderWithinASecond checks that a job that ends makes room for jobs submitted in the same second, and
// that a job of no length makes room for the jobs behind it.
func TestOrderWithinASecond(t *testing.T) {
	r := run(t, jobs(t, 4, "0 10 4 1", "10 0 4 1", "10 5 3 1", "10 5 1 1", "10 5 1 1", "11 0 1 1"), fifo(sched.FCFS))
	if want := []int64{0, 10, 10, 10, 15, 15}; !slices.Equal(r.Schedule.Start, want) {
		t.Errorf("starts %v, want %v", r.Schedule.Start, want)
	}
}

func TestMetrics(t *testing.T) {
	r := run(t, jobs(t, 2, "100 20 1 1", "100 40 2 2", "110 5 1 1"), fifo(sched.FCFS))
	m := r.Metrics
	// The jobs start at 100, 120 and 160; the last ends at 165.
	if m.Jobs != 3 || m.Makespan != 65 || m.Utilisation != 105.0/130 || m.MeanWait != 70.0/3 || m.P50Wait != 20 ||
		m.P95Wait != 50 {
		t.Errorf("%+v", m)
	}
	if want := (1 + 1.5 + 5.5) / 3; m.MeanSlowdown != want || m.P95Slowdown != 5.5 {
		t.Errorf("slowdowns %v %v, want %v", m.MeanSlowdown, m.P95Slowdown, want)
	}
	// From 100 to 120 each user is due one processor of two. From 110 on the first user wants two and is due
	// one. From 120 to 160 both are due one, but the second has both; then the first is due one.
	first, second := m.Users[1], m.Users[0]
	if first.User != "u1" || first.Due != 20+40+5 || first.Received != 25 || first.Lag != 40 || second.Due != 20+40 ||
		second.Lag != -20 {
		t.Errorf("%+v\n%+v", first, second)
	}
	if m.IdleWanted != 10 { // from 110 to 120 the last job would have fitted
		t.Errorf("%+v", m)
	}
	// The service of the second user above its 60 does not count.
	x, y := 25.0/65, 1.0
	if first.Served != x || second.Served != y || m.Served != (x+y)/2 || m.ServedTenth != x {
		t.Errorf("%+v\n%+v", m, first)
	}
	if want := (x + y) * (x + y) / 2 / (x*x + y*y); math.Abs(m.Jain-want) > 1e-12 {
		t.Errorf("Jain's index %v, want %v", m.Jain, want)
	}
	// Alone on one processor, the first user's jobs would end at 120 and 125, the second user's job at 180.
	if first.Share != 0.5*60/65+5.0/65 || first.MaxLate != 40 || first.MeanLate != 20 || second.MaxLate != 0 || m.Late != 10 {
		t.Errorf("%+v\n%+v", first, second)
	}
}

func TestOutput(t *testing.T) {
	text := "7 5 -1 10 2 -1 -1 2 20 -1 1 4 3 2 1 -1 -1 -1\n3 6 -1 30 2 -1 -1 2 20 -1 1 4 3 2 1 -1 -1 -1\n"
	trace, err := swf.Read("t", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := trace.Jobs(swf.Rules{Procs: 2})
	if err != nil {
		t.Fatal(err)
	}
	var origins []share.Origin
	w, err := sim.FromTrace(trace, list, 2, func(o share.Origin) (string, error) {
		origins = append(origins, o)
		return "a/" + o.User, nil
	})
	if err != nil || !slices.Equal(origins, []share.Origin{{User: "u4", Group: "g3", Kind: "e2", Requestor: "q1"}}) {
		t.Fatal(err, origins)
	}
	r := run(t, w, fifo(sched.FCFS))
	var csv bytes.Buffer
	if err := r.WriteCSV(&csv); err != nil || csv.String() != "job,submit,start,end,procs\n3,6,15,35,2\n7,5,5,15,2\n" {
		t.Errorf("%v\n%s", err, csv.String())
	}
	records := r.Records(trace)
	if len(records) != 2 || records[1].Job != 3 || records[1].Wait != 9 || records[1].Run != 20 || records[1].User != 4 {
		t.Errorf("%+v", records)
	}
	_, err = sim.FromTrace(trace, list, 2, func(share.Origin) (string, error) { return "", errors.New("no pool") })
	if err == nil || err.Error() != "job 7 of u4: no pool" {
		t.Error(err)
	}
}

// TestNeverStarts checks that a job that asks for more than the maximum of its pool waits forever, and that
// the simulation ends nevertheless.
func TestNeverStarts(t *testing.T) {
	c := fifo(sched.FirstFit)
	c.Root.Pools = []share.Pool{{Name: "u1", Weight: 1, Max: map[string]int64{"cpu": 2}}}
	r := run(t, jobs(t, 4, "0 10 3 1", "5 10 3 2"), c)
	if r.Metrics.Unstarted != 1 || r.Schedule.Started(0) || r.Schedule.Start[1] != 5 || r.Metrics.Makespan != 15 {
		t.Errorf("%+v %+v", r.Schedule, r.Metrics)
	}
}

// TestStopsBeginAnew checks that stopped jobs wait again and then run in full.
func TestStopsBeginAnew(t *testing.T) {
	c := fifo(sched.FirstFit)
	c.Root.Policy = "fair"
	c.Root.Pools = []share.Pool{{Name: "u1", Weight: 1}, {Name: "u2", Weight: 1, Min: map[string]int64{"cpu": 2}}}
	c.Root.Reclaim = share.Reclaim{MinAfter: 30 * time.Second}
	c.Reclaim = sched.Reclaim{Grace: time.Minute}
	r := run(t, jobs(t, 2, "0 1000 1 1", "0 1000 1 1", "10 50 2 2"), c)
	if r.Metrics.Stopped != 2 || r.Schedule.Start[2] != 40 || r.Schedule.Start[0] != 90 || r.Metrics.LostSeconds != 80 ||
		r.Metrics.Makespan != 1090 {
		t.Errorf("%+v %+v", r.Schedule, r.Metrics)
	}
}

func TestProgressEndsASimulation(t *testing.T) {
	stop := errors.New("enough")
	_, err := sim.Run(jobs(t, 2, "0 10 1 1"),
		sim.Options{Config: fifo(sched.FCFS), Progress: func(int) error { return stop }})
	if err != stop {
		t.Error(err)
	}
}

// drawn returns a random workload with a random configuration.
func drawn(t *rapid.T) (*sim.Workload, sched.Config) {
	w := &sim.Workload{Name: "drawn", Procs: rapid.IntRange(1, 9).Draw(t, "procs"), Zero: time.Unix(1_000_000_000, 0)}
	for u := range rapid.IntRange(1, 5).Draw(t, "users") {
		w.Users = append(w.Users, fmt.Sprint("u", u))
		w.Pools = append(w.Pools, []string{"a/x", "a/y", "b", "c", "d/z"}[u])
	}
	submit := int64(rapid.IntRange(0, 50).Draw(t, "first"))
	for id := range rapid.IntRange(1, 25).Draw(t, "jobs") {
		submit += int64(rapid.IntRange(0, 5).Draw(t, "gap"))
		run := int64(rapid.IntRange(0, 12).Draw(t, "run"))
		w.Jobs = append(w.Jobs, sim.Job{
			ID: int64(id + 1), Submit: submit, Run: run, Estimate: run +
				int64(rapid.IntRange(0, 9).Draw(t, "over")), Procs: int32(rapid.IntRange(1, w.Procs).Draw(t, "size")),
			User: int32(rapid.IntRange(0, len(w.Users)-1).Draw(t, "user")), Pool: int32(rapid.IntRange(0, len(w.Pools)-1).Draw(t,
				"pool")),
		})
	}
	c := sched.Config{NewPolicy: policy.New(policy.Options{}),
		Root: share.Pool{Policy: rapid.SampledFrom([]string{"fifo", "fair", "lottery", "fairtree"}).Draw(t, "policy")}}
	c.Backfill = rapid.SampledFrom(slices.Sorted(maps.Values(backfills))).Draw(t, "backfill")
	c.Root.Pools = []share.Pool{{Name: "a", Weight: float64(rapid.IntRange(1, 3).Draw(t, "a"))}, {Name: "b", Weight: 2}}
	if rapid.Bool().Draw(t, "limits") {
		c.Root.Pools[1].Min = map[string]int64{"cpu": 2}
		c.Root.Pools[0].Max = map[string]int64{"cpu": int64(w.Procs)}
	}
	return w, c
}

// TestSchedulesKeepTheRules checks that no job starts before its submission, that the machine is never
// overfull, that all jobs run in the end, and that a second run gives the same schedule.
func TestSchedulesKeepTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, c := drawn(t)
		r, err := sim.Run(w, sim.Options{Config: c, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		for i, j := range w.Jobs {
			if !r.Schedule.Started(i) || r.Schedule.Start[i] < j.Submit {
				t.Fatalf("job %d starts at %d", i, r.Schedule.Start[i])
			}
			busy := int32(0)
			for k, other := range w.Jobs {
				if s := r.Schedule.Start[k]; s <= r.Schedule.Start[i] && r.Schedule.Start[i] < s+other.Run {
					busy += other.Procs
				}
			}
			if int(busy) > w.Procs {
				t.Fatalf("%d of %d processors at %d", busy, w.Procs, r.Schedule.Start[i])
			}
		}
		again, err := sim.Run(w, sim.Options{Config: c, Seed: 7, Bare: true})
		if err != nil || !slices.Equal(r.Schedule.Start, again.Schedule.Start) {
			t.Fatalf("%v: again %v, before %v", err, again.Schedule.Start, r.Schedule.Start)
		}
	})
}

package sched_test

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
)

// track is a scheduler with jobs whose tasks have their own lengths; it plays on by itself.
type track struct {
	*sched.Scheduler
	now     time.Time
	jobs    map[int64]sched.Job
	length  map[int64]time.Duration // of each task of a job
	running map[sched.RunID]taskRun
	d       sched.Decision
	starts  []int64 // the job of each started task
	stopped bool    // a task was stopped, to make room for others
}

type taskRun struct {
	job int64
	end time.Time
}

// trackPools are leaves of the tree that drawTree draws, and one pool that is made on demand.
var trackPools = []string{"a/x", "a/y", "b/x", "c", "d/u"}

// drawTrack draws a tree and its history so far, with jobs of up to mostTasks tasks.
func drawTrack(t *rapid.T, mostTasks int, backfills ...sched.Backfill) *track {
	cfg := sched.Config{Root: drawTree(t), NewPolicy: policy.New(policy.Options{}), HalfLife: 20 * time.Second}
	cfg.Backfill = rapid.SampledFrom(backfills).Draw(t, "backfill")
	s, err := sched.New(cfg, epoch, rapid.Uint64().Draw(t, "seed"))
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": int64(rapid.IntRange(1, 4).Draw(t, "slots"))}, epoch)
	c := &track{Scheduler: s, now: epoch, jobs: map[int64]sched.Job{}, length: map[int64]time.Duration{}, running: map[sched.RunID]taskRun{}}
	for range rapid.IntRange(2, 25).Draw(t, "events") {
		switch rapid.IntRange(0, 3).Draw(t, "event") {
		case 0:
			c.step()
		case 1:
			c.until(c.now.Add(time.Duration(rapid.IntRange(1, 30).Draw(t, "seconds")) * time.Second))
		default:
			c.submit(t, mostTasks)
		}
	}
	return c
}

func (c *track) submit(t *rapid.T, mostTasks int) {
	id := int64(len(c.jobs) + 1)
	j := sched.Job{
		ID: id, Pool: c.Pool(rapid.SampledFrom(trackPools).Draw(t, "pool")), Key: c.Key(nil), Submitted: c.now,
		Tasks: max(1, rapid.IntRange(-2, mostTasks).Draw(t, "tasks")), Priority: rapid.SampledFrom([]int{0, 1, 2, 2, 2, 3, 4}).Draw(t, "priority"),
	}
	c.length[id] = time.Duration(rapid.IntRange(1, 60).Draw(t, "length")) * time.Second
	j.Limit = 2 * time.Minute
	c.jobs[id] = j
	c.Add(j, c.now)
}

// step starts all tasks that can start now.
func (c *track) step() {
	for more := true; more; more = c.d.More {
		c.Step(c.now, 0, &c.d)
		for _, st := range c.d.Starts {
			c.starts = append(c.starts, st.Job)
			c.running[st.Run] = taskRun{st.Job, c.now.Add(c.length[st.Job])}
			c.waits(st.Job, -1)
		}
		for _, st := range c.d.Stops {
			c.finish(st.Run, false)
			c.stopped = true
		}
	}
}

func (c *track) waits(id int64, n int) {
	j := c.jobs[id]
	j.Tasks += n
	c.jobs[id] = j
}

// finish ends a task; one that was stopped waits again.
func (c *track) finish(run sched.RunID, done bool) {
	id := c.running[run].job
	delete(c.running, run)
	c.Finish(run, c.now, done)
	if !done {
		c.waits(id, +1)
		j := c.jobs[id]
		j.Tasks = 1
		c.Add(j, c.now)
	}
}

// until plays on to an instant; it stops before if nothing else can happen.
func (c *track) until(t time.Time) {
	for c.now.Before(t) {
		next := t
		for _, r := range c.running {
			if r.end.Before(next) {
				next = r.end
			}
		}
		c.now = next
		for _, run := range slices.Sorted(maps.Keys(c.running)) {
			if !c.running[run].end.After(c.now) {
				c.finish(run, true)
			}
		}
		c.Advance(c.now)
		if c.now.Before(t) {
			c.step()
		}
	}
}

// fork returns a copy that plays on by itself.
func (c *track) fork() *track {
	f := *c
	f.Scheduler, f.jobs, f.running = c.Fork(), maps.Clone(c.jobs), maps.Clone(c.running)
	f.d, f.starts, f.stopped = sched.Decision{}, nil, false
	return &f
}

// with returns a copy in which a job has another priority.
func (c *track) with(id int64, priority int) *track {
	f := c.fork()
	was := f.jobs[id]
	is := was
	is.Priority = priority
	f.jobs[id] = is
	f.Exchange(was, []sched.Job{is}, f.now)
	if err := f.Check(); err != nil {
		panic(err)
	}
	return f
}

// startOf plays on until a task of the job starts, and returns the time that passed: the maximum if none starts within
// an hour.
func (c *track) startOf(id int64) time.Duration {
	end := c.now.Add(time.Hour)
	for began := c.now; c.now.Before(end); {
		c.step()
		if slices.Contains(c.starts, id) {
			return c.now.Sub(began)
		}
		next := end
		for _, r := range c.running {
			if r.end.Before(next) {
				next = r.end
			}
		}
		if c.until(next); len(c.running) == 0 && c.d.Next.IsZero() && next.Equal(end) {
			break
		}
	}
	return math.MaxInt64
}

// drawWaiting draws a job with a waiting task.
func (c *track) drawWaiting(t *rapid.T) int64 {
	var all []int64
	for id, j := range c.jobs {
		if j.Tasks > 0 {
			all = append(all, id)
		}
	}
	if len(all) == 0 {
		t.Skip("nothing waits")
	}
	slices.Sort(all)
	return rapid.SampledFrom(all).Draw(t, "job")
}

// fate holds when a task of a job starts, and its place in the order of the preview. A job that a maximum holds back
// has no place.
type fate struct {
	at    time.Duration
	place int
}

func (c *track) fateOf(id int64) fate {
	return fate{c.fork().startOf(id), c.fork().placeOf(id)}
}

// sooner reports whether the start or the place of one is before that of the other.
func (f fate) sooner(g fate) bool { return f.at < g.at || f.place < g.place }

// TestHigherIsNeverLater: a job with a raised priority starts no later than before, and one with a lowered priority no
// earlier, whatever the policies are and whatever happened before.
func TestHigherIsNeverLater(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawTrack(t, 3, sched.FirstFit, sched.FCFS, sched.EASY)
		id := c.drawWaiting(t)
		was, is := c.jobs[id].Priority, rapid.IntRange(0, 4).Draw(t, "new priority")
		before, after := c.fateOf(id), c.with(id, is).fateOf(id)
		if is < was && before.sooner(after) || is > was && after.sooner(before) {
			t.Errorf("job %d of priority %d has %+v; with %d it has %+v", id, was, before, is, after)
		}
	})
}

// TestThePreviewIsWhatHappens: after a change of priority, the jobs of each pool start in the order of the preview.
// (Between pools the order depends on how long tasks run.)
func TestThePreviewIsWhatHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawTrack(t, 1, sched.FirstFit, sched.FCFS, sched.EASY)
		c = c.with(c.drawWaiting(t), rapid.IntRange(0, 4).Draw(t, "new priority"))
		told := map[sched.PoolID][]int64{}
		c.Preview(func(st sched.Start, _ float64) bool {
			told[c.jobs[st.Job].Pool] = append(told[c.jobs[st.Job].Pool], st.Job)
			return true
		})
		really := map[sched.PoolID][]int64{}
		c.step()
		if c.until(c.now.Add(time.Hour)); c.stopped {
			t.Skip("a task comes back, which no forecast shows")
		}
		for _, job := range c.starts {
			really[c.jobs[job].Pool] = append(really[c.jobs[job].Pool], job)
		}
		for pool, order := range told {
			is := really[pool]
			if n := min(len(is), len(order)); !slices.Equal(is[:n], order[:n]) {
				t.Errorf("the jobs of %s start in the order %v, and it was told to be %v", c.Path(pool), is, order)
			}
		}
	})
}

// placeOf is the place of the job's next task in the order of starts.
func (c *track) placeOf(id int64) int {
	place, known := 0, false
	c.Preview(func(st sched.Start, _ float64) bool {
		place++
		known = st.Job == id
		return !known
	})
	if !known {
		return math.MaxInt
	}
	return place
}

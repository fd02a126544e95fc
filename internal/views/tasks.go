package views

import (
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// Queued returns how many of the waiting tasks are in other queueing systems.
func Queued(l *engine.Loop) int64 {
	return engine.Read(l, func(s *engine.State) int64 {
		n, _ := s.Core.Read().Queued(sched.Root)
		return int64(n)
	})
}

// TasksNow summarizes the started tasks of a job, without tasks that wait behind a bridge.
type TasksNow struct {
	Since    time.Time // when the first of them started; an earlier attempt of the job may have started before
	Running  int
	Stopping int // part of Running that was told to stop
	// Nodes are the first nodes by name that have one of them, at most [nodesShown].
	Nodes []string
}

// nodesShown is the maximum number of nodes in [TasksNow].
const nodesShown = 10

// addNode adds a node, and keeps the first ones by name.
func (t *TasksNow) addNode(name string) {
	at, known := slices.BinarySearch(t.Nodes, name)
	if known || at == nodesShown {
		return
	}
	if t.Nodes = slices.Insert(t.Nodes, at, name); len(t.Nodes) > nodesShown {
		t.Nodes = t.Nodes[:nodesShown]
	}
}

// TasksOf returns the TasksNow of each of the jobs that have a running task.
func TasksOf(l *engine.Loop, jobs []*queue.Job) map[int64]TasksNow {
	now := map[int64]TasksNow{}
	for _, j := range jobs {
		if j.Running > 0 {
			now[j.ID] = TasksNow{}
		}
	}
	if len(now) == 0 {
		return now
	}
	return engine.Read(l, func(s *engine.State) map[int64]TasksNow {
		for _, r := range s.Runs {
			t, asked := now[r.Ref.JobID]
			if !asked || r.Queued {
				continue
			}
			if t.Running++; r.Stop != "" {
				t.Stopping++
			}
			if t.Since.IsZero() || r.Started.Before(t.Since) {
				t.Since = r.Started
			}
			t.addNode(r.Holder)
			now[r.Ref.JobID] = t
		}
		maps.DeleteFunc(now, func(_ int64, t TasksNow) bool { return t.Running == 0 })
		return now
	})
}

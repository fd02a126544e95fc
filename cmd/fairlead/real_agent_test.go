//go:build real

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// TestRealAgentKilled kills an agent: its tasks end with it, run again on the other node as soon as their leases are
// over, and complete once. Processes that a task left behind are killed when the agent returns.
func TestRealAgentKilled(t *testing.T) { killAgent(t, 3*time.Second) }

// killAgent is TestRealAgentKilled with a given lease. It returns the time from the death of the agent until its tasks
// ran again.
func killAgent(t *testing.T, lease time.Duration) time.Duration {
	t.Helper()
	const tasks = 4
	r := newRig(t, lease)
	l := r.ledger()
	r.serve()
	a := r.work("a", tasks+1)
	pids := filepath.Join(r.dir, "pids")
	first := fmt.Sprintf("setsid sleep 600 & echo $$ $! >>%s; %s; wait", pids, l.note("b"))
	again := fmt.Sprintf("sleep 0.2; %s; %s", l.note("b"), l.note("e"))
	id := r.submit(api.Spec{
		Array: fmt.Sprintf("0-%d", tasks-1),
		Argv:  []string{"sh", "-c", fmt.Sprintf("if [ $FAIRLEAD_ATTEMPT = 1 ]; then %s; else %s; fi", first, again)},
	})
	r.until("all tasks run", func() bool { return l.count(t, "b", 1) == tasks })
	r.work("b", tasks)
	// The agent sent messages until its death, long after it last renewed the leases. Even so, the server must not hand
	// the tasks to the dead agent again.
	before := r.wire.renewed()
	r.until("the leases are renewed", func() bool { return r.wire.renewed() > before })
	for end := time.Now().Add(lease / 4); time.Now().Before(end); {
		r.finished(r.submit(api.Spec{Argv: []string{"true"}}))
	}

	killed := time.Now()
	a.kill()
	shells, children := numbers(t, pids)
	r.until("the tasks end with their agent", func() bool { return !anyLives(shells) })
	t.Logf("the tasks' first processes were gone %v after the agent; of what had left their session, %d of %d live on",
		time.Since(killed).Round(time.Millisecond), countLive(children), len(children))
	r.until("the tasks run again", func() bool { return l.count(t, "b", 2) == tasks })
	took := time.Since(killed).Round(time.Millisecond)
	t.Logf("the tasks ran again %v after their agent was killed; the lease is %v", took, lease)
	j := r.finished(id)
	r.ranTwice(j, tasks, "b")
	r.succeedOnce(id, tasks)
	r.work("a", tasks+1)
	if anyLives(children) {
		t.Error("what a task left behind lives on though its agent is back")
	}
	r.accounts()
	return took
}

// succeedOnce checks that the server accepted one end of each task of a job, a success of attempt 2. The wire
// sees the server's answers a moment after the job has ended.
func (r *rig) succeedOnce(id int64, tasks int) {
	r.t.Helper()
	for i := range tasks {
		r.until("the agent is told that an end counts", func() bool { return len(r.wire.accepted(id, i)) > 0 })
		if ends := r.wire.accepted(id, i); len(ends) != 1 || ends[2] != string(queue.Succeeded) {
			r.t.Errorf("task %d: the server accepted the ends %v, want one success, of attempt 2", i, ends)
		}
	}
}

// ranTwice checks that each task of a job lost its first attempt, and succeeded in its second on the given
// node.
func (r *rig) ranTwice(j *api.JobResponse, tasks int, node string) {
	r.t.Helper()
	if j.Job.Succeeded != tasks || len(j.Tasks) != tasks {
		r.t.Errorf("job %+v", j.Job)
	}
	for _, k := range j.Tasks {
		if k.State != string(queue.Succeeded) || k.Attempt != 2 || k.Losses != 1 || k.Fails != 0 || k.Node != node {
			r.t.Errorf("task %+v; want a success of attempt 2 on %s, after a loss", k, node)
		}
	}
}

// accounts checks that the wire saw no fault, and that the server's counters agree with its jobs.
func (r *rig) accounts() {
	r.t.Helper()
	for _, text := range r.wire.wrong {
		r.t.Error(text)
	}
	a := &audit{t: r.t}
	a.askServer(r.direct)
}

// TestRealAgentStopped suspends an agent for longer than its leases last. Its tasks run elsewhere. When the agent
// continues, the server refuses its reports about them, and the agent kills the task that still runs.
func TestRealAgentStopped(t *testing.T) {
	const lease = 2 * time.Second
	r := newRig(t, lease)
	l := r.ledger()
	r.serve()
	a := r.work("a", 2)
	pids, gate := filepath.Join(r.dir, "pids"), filepath.Join(r.dir, "gate")
	// Task 0 ends while its agent is suspended, task 1 does not.
	first := fmt.Sprintf("n=$FAIRLEAD_NUMBER; echo $$ $n >>%s; %s; until [ $n = 0 -a -e %s ]; do sleep 0.02; done; %s",
		pids, l.note("b"), gate, l.note("e"))
	again := l.note("b") + "; " + l.note("e")
	id := r.submit(api.Spec{
		Array: "0-1", Retries: 3, BackoffSeconds: 0.01,
		Argv: []string{"sh", "-c", fmt.Sprintf("if [ $FAIRLEAD_ATTEMPT = 1 ]; then %s; else %s; fi", first, again)},
	})
	r.until("both tasks run", func() bool { return l.count(t, "b", 1) == 2 })
	r.work("b", 2)
	a.signal(syscall.SIGSTOP)
	r.ranTwice(r.finished(id), 2, "b")

	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.until("task 0 notes its late end", func() bool { return l.count(t, "e", 1) == 1 })
	shells, ids := numbers(t, pids)
	// The shell may live for a moment after the note. An agent that continues then kills the task and gives it back.
	late := shells[slices.Index(ids, 0)]
	r.until("task 0 ends late", func() bool { return !lives(late) })
	if countLive(shells) == 0 {
		t.Error("task 1 does not run any more, though its agent is suspended")
	}
	a.signal(syscall.SIGCONT)
	r.until("the agent kills the task that it lost", func() bool { return !anyLives(shells) })
	for i := range 2 {
		ref := queue.Ref{JobID: id, Task: i, Attempt: 1}
		// An agent that notices its delay gives the task back instead.
		r.until("the late end is answered", func() bool {
			return r.wire.refusal(ref) != "" || r.wire.accepted(id, i)[1] != "" || i == 1 && r.wire.givenBack(id, i) > 0
		})
		if code := r.wire.refusal(ref); code != "stale_attempt" && (i == 0 || code != "") {
			t.Errorf("task %d: refused as %s", i, code)
		}
	}
	r.succeedOnce(id, 2)
	r.ranTwice(r.job(id), 2, "b") // the late reports have changed nothing

	// The agent takes work again: these tasks need both nodes.
	id = r.submit(api.Spec{Array: "0-3", Argv: []string{"sh", "-c", "sleep 0.5"}})
	nodes := map[string]int{}
	for _, k := range r.finished(id).Tasks {
		nodes[k.Node]++
	}
	if nodes["a"] == 0 {
		t.Errorf("the agent that had been suspended takes no work: %v", nodes)
	}
	r.accounts()
}

// numbers reads pairs of process numbers.
func numbers(t *testing.T, file string) (first, second []int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, field := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			first = append(first, n)
		} else {
			second = append(second, n)
		}
	}
	return first, second
}

func countLive(pids []int) (n int) {
	for _, pid := range pids {
		if lives(pid) {
			n++
		}
	}
	return n
}

func anyLives(pids []int) bool { return countLive(pids) > 0 }

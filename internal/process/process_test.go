//go:build linux

package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/queue"
	"golang.org/x/sys/unix"
)

func TestEnd(t *testing.T) {
	r := runner(t)
	for _, test := range []struct {
		script string
		want   queue.Outcome
	}{
		{"true", queue.Outcome{State: queue.Succeeded}},
		{"exit 3", queue.Outcome{State: queue.Failed, ExitCode: 3}},
		{"kill -SEGV $$", queue.Outcome{State: queue.Failed, Signal: "SIGSEGV"}},
		{"kill -KILL $$", queue.Outcome{State: queue.Failed, Signal: "SIGKILL"}},
	} {
		checkEnd(t, start(t, r, shell(t, test.script)).Wait(), test.want)
	}
}

func TestResources(t *testing.T) {
	r := runner(t)
	o := start(t, r, shell(t, "dd if=/dev/zero of=/dev/null bs=300M count=1 2>/dev/null")).Wait()
	if o.CPU < 10*time.Millisecond || o.CPU > 10*time.Second {
		t.Errorf("CPU time %v to write 300 MiB", o.CPU)
	}
	if o.MaxRSS < 300<<20 || o.MaxRSS > 320<<20 {
		t.Errorf("memory %d, want a little more than %d", o.MaxRSS, 300<<20)
	}
}

// TestSmallMemory checks that a task that is smaller than this process is not reported as being as large as this
// process.
func TestSmallMemory(t *testing.T) {
	p := start(t, runner(t), shell(t, "exec sleep 1000"))
	await.True(t, "its memory was looked at", func() bool {
		p.memory.mu.Lock()
		defer p.memory.mu.Unlock()
		return p.memory.seen > 0
	})
	p.Kill("", queue.Cancelled)
	if got := p.Wait().MaxRSS; got < 100<<10 || got > 8<<20 {
		t.Errorf("memory of sleep: %d", got)
	}
	m := peak{own: 100, seen: 7}
	if got := m.largest(100); got != 7 {
		t.Errorf("largest(100) = %d, want 7", got)
	}
	if got := m.largest(101); got != 101 {
		t.Errorf("largest(101) = %d, want 101", got)
	}
}

func TestStop(t *testing.T) {
	s := shell(t, `trap "echo bye; exit 0" TERM; echo ready; while :; do sleep 0.01; done`)
	p := start(t, runner(t), s)
	untilSays(t, s, "ready")
	p.Stop("cancelled by ada", queue.Cancelled)
	p.Stop("too late", queue.Failed)
	checkEnd(t, p.Wait(), queue.Outcome{State: queue.Cancelled, Cause: "cancelled by ada"})
	if got := output(t, s); !strings.HasSuffix(got, "bye\n") {
		t.Errorf("output %q", got)
	}
	p.Stop("over", queue.Failed)
	p.Kill("over", queue.Failed)
	checkEnd(t, p.Wait(), queue.Outcome{State: queue.Cancelled, Cause: "cancelled by ada"})
}

// TestStopLeavesGraceToChildren checks that the children of a shell still have their grace, although the
// shell dies of SIGTERM at once.
func TestStopLeavesGraceToChildren(t *testing.T) {
	s := shell(t, `sh -c 'trap "sleep 0.05; echo saved; exit" TERM; echo ready; while :; do sleep 0.01; done' & wait`)
	p := start(t, runner(t), s)
	untilSays(t, s, "ready")
	p.Stop("drained", queue.Cancelled)
	checkEnd(t, p.Wait(), queue.Outcome{State: queue.Cancelled, Signal: "SIGTERM", Cause: "drained"})
	if got := output(t, s); !strings.HasSuffix(got, "saved\n") {
		t.Errorf("output %q", got)
	}
}

// TestGraceOfChildrenEnds checks that a child that ignores SIGTERM is killed when the grace is over.
func TestGraceOfChildrenEnds(t *testing.T) {
	s := shell(t, `sh -c 'trap "" TERM; echo ready; sleep 1000' & wait`)
	s.Grace = 50 * time.Millisecond
	p := start(t, runner(t), s)
	untilSays(t, s, "ready")
	p.Stop("drained", queue.Cancelled)
	checkEnd(t, p.Wait(), queue.Outcome{State: queue.Cancelled, Signal: "SIGTERM", Cause: "drained"})
	if err := unix.Kill(-p.pid, 0); err != unix.ESRCH {
		t.Errorf("the group is there: %v", err)
	}
}

func TestStopSuspended(t *testing.T) {
	p := start(t, runner(t), shell(t, "kill -STOP $$"))
	await.True(t, "it is suspended", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
		return strings.Contains(string(stat), ") T ")
	})
	p.Stop("cancelled", queue.Cancelled)
	checkEnd(t, p.Wait(), queue.Outcome{State: queue.Cancelled, Signal: "SIGTERM", Cause: "cancelled"})
}

func TestKill(t *testing.T) {
	s := shell(t, `trap "" TERM; echo ready; while :; do sleep 0.01; done`)
	r := runner(t)
	p := start(t, r, s)
	untilSays(t, s, "ready")
	p.Kill("the lease was lost", queue.Cancelled)
	want := queue.Outcome{State: queue.Cancelled, Signal: "SIGKILL", Cause: "the lease was lost"}
	checkEnd(t, p.Wait(), want)

	s = shell(t, s.Argv[2])
	p = start(t, r, s)
	untilSays(t, s, "ready")
	p.Stop("cancelled", queue.Cancelled)
	p.Kill("impatient", queue.Failed)
	checkEnd(t, p.Wait(), queue.Outcome{State: queue.Cancelled, Signal: "SIGKILL", Cause: "cancelled"})
}

func TestLimit(t *testing.T) {
	s := shell(t, `trap "" TERM; echo ready; while :; do sleep 0.01; done`)
	s.Limit, s.Grace = 300*time.Millisecond, 100*time.Millisecond
	o := start(t, runner(t), s).Wait()
	checkEnd(t, o, queue.Outcome{State: queue.Failed, Signal: "SIGKILL", Cause: "time limit of 300ms"})
	if got := output(t, s); got != "ready\n" {
		t.Errorf("output %q", got)
	}
}

// TestLeftovers checks that processes that a task leaves are gone when the task has ended, in whatever
// session they are.
func TestLeftovers(t *testing.T) {
	for name, script := range map[string]string{
		"group":   "sleep 1000 & echo $!",
		"session": "setsid sh -c 'echo $$; exec sleep 1000' & while ! test -s out; do sleep 0.01; done",
		"nested":  "setsid sh -c 'setsid sleep 1000 & echo $!; wait' & while ! test -s out; do sleep 0.01; done",
		// This shell takes long to die, and its child is found only then.
		"large": "setsid sh -c 'setsid sleep 1000 & pid=$!; x=$(head -c 64M /dev/zero | tr \"\\0\" x); echo $pid; wait' & " +
			"while ! test -s out; do sleep 0.01; done",
	} {
		s := shell(t, script)
		s.Mark = mark(name)
		checkEnd(t, start(t, runner(t), s).Wait(), queue.Outcome{State: queue.Succeeded})
		if pid := number(t, output(t, s)); unix.Kill(pid, 0) != unix.ESRCH {
			t.Errorf("%s: process %d is left", name, pid)
			unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// TestOrphans checks that orphans of a task that continues keep running, and are reaped when they end.
func TestOrphans(t *testing.T) {
	r := runner(t)
	s := shell(t, "(sleep 1000 & echo $!); (true & echo $!); sleep 1000")
	s.Mark = mark("long")
	p := start(t, r, s)
	var running, over int
	await.True(t, "there are orphans", func() bool {
		data, _ := os.ReadFile(s.Dir + "/out")
		n, _ := fmt.Sscan(string(data), &running, &over)
		return n == 2
	})
	other := shell(t, "true")
	other.Mark = mark("short")
	await.True(t, "the orphan that ended is reaped", func() bool {
		start(t, r, other).Wait()
		return unix.Kill(over, 0) == unix.ESRCH
	})
	if !lives(running) {
		t.Error("the end of another task killed an orphan")
	}
	p.Kill("", queue.Cancelled)
	p.Wait()
	if lives(running) {
		t.Error("the orphan has outlived its task")
	}
}

func TestSession(t *testing.T) {
	s := shell(t, `echo $$; cut -d" " -f5,6 /proc/self/stat; grep NoNewPrivs /proc/self/status; `+
		`readlink /proc/self/fd/0; ls /proc/self/fd | wc -l`)
	p := start(t, runner(t), s)
	p.Wait()
	// There are four descriptors: the three standard ones and that of the directory that ls reads.
	want := fmt.Sprintf("%d\n%d %d\nNoNewPrivs:\t1\n/dev/null\n4\n", p.pid, p.pid, p.pid)
	if got := output(t, s); got != want {
		t.Errorf("output %q, want %q", got, want)
	}
}

func TestCloseKills(t *testing.T) {
	r := runner(t)
	p := start(t, r, shell(t, "sleep 1000"))
	r.Close()
	checkEnd(t, p.Wait(), queue.Outcome{State: queue.Cancelled, Signal: "SIGKILL", Cause: "the agent ended"})
	if _, err := r.Start(shell(t, "true")); !errors.Is(err, errClosed) {
		t.Errorf("start after Close: %v", err)
	}
	r.Close()
}

func TestNoLeaks(t *testing.T) {
	r := runner(t)
	batch := func(n int) {
		var tasks sync.WaitGroup
		for range n {
			p := start(t, r, Spec{Argv: []string{"/bin/true"}, Stdout: "/dev/null", Limit: time.Hour})
			tasks.Go(func() { p.Wait() })
			if _, err := r.Start(Spec{Argv: []string{"no-such-command"}, Stdout: "/dev/null"}); err == nil {
				t.Error("a command that does not exist was started")
			}
		}
		tasks.Wait()
	}
	batch(10) // opens the descriptors that the runtime keeps open
	before := entries(t, "/proc/self/fd")
	batch(500)
	if after := entries(t, "/proc/self/fd"); after > before {
		t.Errorf("%d open descriptors after 500 tasks, %d before", after, before)
	}
	if len(r.running) != 0 {
		t.Errorf("%d processes are remembered", len(r.running))
	}
}

// TestNoThreads checks that a running task costs a descriptor and no thread. The runtime may have some more
// threads on a busy machine, and the threads that started the tasks need time to end: a thread for each task
// would be 200 threads that stay.
func TestNoThreads(t *testing.T) {
	r := runner(t)
	before := entries(t, "/proc/self/task")
	for range 200 {
		start(t, r, Spec{Argv: []string{"sleep", "1000"}})
	}
	await.True(t, "there are fewer than 100 threads more for 200 tasks", func() bool {
		return entries(t, "/proc/self/task") < before+100
	})
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

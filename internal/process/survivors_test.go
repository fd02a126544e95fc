//go:build linux

package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/await"
)

// mark returns a mark that no other test run on the machine uses.
func mark(name string) string { return fmt.Sprintf("process-test-%d-%s", os.Getpid(), name) }

// stray starts a process with a mark in its own session, like one that a killed agent left. It returns the
// number of the process when a line of output shows that it runs.
func stray(t *testing.T, script, mark string) int {
	t.Helper()
	c := exec.Command("sh", "-c", script)
	c.Env = []string{"PATH=/usr/bin:/bin", markVariable + "=" + mark}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return number(t, line)
}

func TestKillSurvivors(t *testing.T) {
	marked := stray(t, "echo $$; exec sleep 1000", mark("a")+"/17/0/2")
	unmarked := stray(t, "env -u FAIRLEAD_TASK sleep 1000 & echo $!; wait", mark("a")+"/18/0/1")
	bystander := stray(t, "echo $$; exec sleep 1000", mark("b")+"/1/0/1")

	list, err := survivors(mark("a") + "/")
	if err != nil || len(list) < 2 || !slices.Contains(list, survivor{marked, mark("a") + "/17/0/2"}) {
		t.Errorf("survivors %v, %v; want process %d among them", list, err, marked)
	}
	if n, err := KillSurvivors(mark("a") + "/"); n < 2 || err != nil {
		t.Errorf("killed %d, %v", n, err)
	}
	untilGone(t, marked)
	untilGone(t, unmarked) // killed with its group
	if !lives(bystander) {
		t.Error("a process of another mark was killed")
	}
	if n, err := KillSurvivors(mark("a") + "/"); n != 0 || err != nil {
		t.Errorf("killed %d again, %v", n, err)
	}
}

// TestParentDeath checks that the tasks of an agent that is killed die with it. Their children remain, as
// orphans, until the next agent looks for them.
func TestParentDeath(t *testing.T) {
	dir := t.TempDir()
	agent := exec.Command(os.Args[0])
	agent.Env = append(os.Environ(), "PROCESS_TEST_AGENT="+dir)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	defer agent.Process.Kill()
	pids := make([]int, 2)
	await.True(t, "the task runs", func() bool {
		data, _ := os.ReadFile(filepath.Join(dir, "out"))
		n, _ := fmt.Sscan(string(data), &pids[0], &pids[1])
		return n == 2
	})
	// The threads of the agent come and go; the task must survive that.
	if await.Within(10*time.Millisecond, func() bool { return !lives(pids[0]) || !lives(pids[1]) }) {
		t.Fatal("the task does not live")
	}
	agent.Process.Kill()
	agent.Wait()
	untilGone(t, pids[0])
	if _, err := KillSurvivors(agentMark(agent.Process.Pid)); err != nil {
		t.Error(err)
	}
	untilGone(t, pids[1])
}

func agentMark(pid int) string { return fmt.Sprintf("process-test-agent-%d/", pid) }

// agentToBeKilled starts a task that writes the numbers of its two processes, and waits.
func agentToBeKilled(dir string) {
	r, err := NewRunner()
	if err != nil {
		panic(err)
	}
	p, err := r.Start(Spec{
		Argv:   []string{"sh", "-c", "sleep 1000 & echo $$ $!; wait"},
		Env:    []string{"PATH=/usr/bin:/bin"},
		Dir:    dir,
		Stdout: "out",
		Mark:   agentMark(os.Getpid()) + "1/0/1",
	})
	if err != nil {
		panic(err)
	}
	p.Wait()
	os.Exit(1)
}

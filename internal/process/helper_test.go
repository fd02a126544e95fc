//go:build linux

package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/queue"
)

// TestMain lets the test binary act as an agent that is killed, see TestParentDeath.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PROCESS_TEST_AGENT"); dir != "" {
		agentToBeKilled(dir)
	}
	os.Exit(m.Run())
}

func runner(t testing.TB) *Runner {
	t.Helper()
	r, err := NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// shell returns a Spec of a script whose output goes to the file "out" in a new directory.
func shell(t testing.TB, script string) Spec {
	t.Helper()
	return Spec{
		Argv:   []string{"sh", "-c", script},
		Env:    []string{"PATH=/usr/bin:/bin"},
		Dir:    t.TempDir(),
		Stdout: "out",
		Grace:  10 * time.Second,
	}
}

func start(t testing.TB, r *Runner, s Spec) *Process {
	t.Helper()
	p, err := r.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// output returns the output of a Spec of shell.
func output(t testing.TB, s Spec) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.Dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// untilSays waits for a line of output.
func untilSays(t testing.TB, s Spec, line string) {
	t.Helper()
	await.True(t, "the task says "+line, func() bool {
		data, _ := os.ReadFile(filepath.Join(s.Dir, "out"))
		return bytes.Contains(data, []byte(line+"\n"))
	})
}

// lives reports whether a process exists that is not a zombie.
func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func untilGone(t testing.TB, pid int) {
	t.Helper()
	await.True(t, fmt.Sprintf("process %d is gone", pid), func() bool { return !lives(pid) })
}

func number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// checkEnd compares two outcomes except for the use of resources.
func checkEnd(t testing.TB, got, want queue.Outcome) {
	t.Helper()
	got.CPU, got.MaxRSS = 0, 0
	if got != want {
		t.Errorf("outcome %+v, want %+v", got, want)
	}
}

func asRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		daemon.Skip(t, "only root can run a process as another user")
	}
}

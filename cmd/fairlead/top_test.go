package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
	daemons "github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/internal/terminal"
	"github.com/fairlead/fairlead/internal/words"
)

// watched is fairlead top on a pseudo-terminal.
type watched struct {
	*session
	screen          *terminal.Screen
	person, program *os.File
	cmd             *exec.Cmd
	before          unix.Termios // the settings before the program began
}

// watchTop starts fairlead top on a terminal of this size. It ends with the test.
func (s *session) watchTop(width, height int) *watched {
	s.t.Helper()
	person, program, err := terminal.Open(width, height)
	if err != nil {
		daemons.Skip(s.t, err)
	}
	w := &watched{session: s, screen: terminal.NewScreen(width, height), person: person, program: program}
	w.before = w.settings()
	w.cmd = exec.Command("fairlead", "top")
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = program, program, program
	w.cmd.Dir, w.cmd.Env = s.dir, append(s.env(), "TERM=xterm-256color")
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := w.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go io.Copy(w.screen, person)
	s.t.Cleanup(func() {
		w.cmd.Process.Kill()
		person.Close()
		program.Close()
	})
	return w
}

// until waits until the screen shows all of these texts.
func (w *watched) until(texts ...string) {
	w.t.Helper()
	await.Until(w.t, fmt.Sprintf("the screen says %q", texts), func() (any, bool) {
		seen := w.screen.Text()
		return seen, !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(seen, text) })
	})
}

func (w *watched) settings() unix.Termios {
	w.t.Helper()
	now, err := unix.IoctlGetTermios(int(w.program.Fd()), unix.TCGETS)
	if err != nil {
		w.t.Fatal(err)
	}
	return *now
}

// TestTopOnTerminal runs top on a real terminal: it shows the numbers of --json, follows events and the size
// of the window, and restores the terminal.
func TestTopOnTerminal(t *testing.T) {
	t.Parallel()
	s := newSession(t, "top")
	s.output(prompt{text: "fairlead serve --dev --cpus 2", want: []string{"..."}})
	for range 4 {
		s.run("fairlead submit -J neutro -t 1h -- sleep 600")
	}
	w := s.watchTop(140, 40)
	w.until("* pools", "queue: 2 tasks wait, 2 run", "? help")
	for _, line := range w.numbers() {
		w.until(line)
	}
	s.run("fairlead submit -J latecomer -t 1h -- sleep 600")
	w.until("latecomer")
	w.person.WriteString("\tG\r")
	w.until("why 5", "Waits because")
	w.screen.Resize(70, 20)
	if err := terminal.SetSize(w.person, 70, 20); err != nil {
		t.Fatal(err)
	}
	w.until("why 5", "up/down  Esc back  q quit")
	w.person.WriteString("q")
	if err := w.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	await.True(t, "it gives the screen back, and shows the cursor", func() bool { return !w.screen.Taken() })
	if after := w.settings(); after != w.before {
		t.Errorf("the terminal is left as %+v, was %+v", after, w.before)
	}
}

// numbers returns the lines that the screen has to show, derived from --json.
func (w *watched) numbers() []string {
	w.t.Helper()
	var shares api.Shares
	var queue api.JobList
	for command, into := range map[string]any{"fairlead shares --json": &shares, "fairlead queue --json": &queue} {
		if err := json.Unmarshal([]byte(w.run(command)), into); err != nil {
			w.t.Fatal(err)
		}
	}
	var lines []string
	for _, p := range shares.Pools {
		if p.Path != "" {
			lines = append(lines, fmt.Sprintf("%s  %s", p.Path, words.Percent(p.ShareHere)))
		}
	}
	for i := range queue.Jobs {
		j := &queue.Jobs[i]
		lines = append(lines, fmt.Sprintf("%d  %s", j.ID, j.User), fmt.Sprintf("%s  %s  ", words.Limit(j.LimitSeconds), words.State(j)))
	}
	if len(lines) < 9 {
		w.t.Errorf("too little to compare: %q", lines)
	}
	used := queue.Summary.Capacity["cpu"] - queue.Summary.Free["cpu"]
	return append(lines, fmt.Sprintf("%d/%d", used, queue.Summary.Capacity["cpu"]))
}

// TestTopNeedsTerminal checks that top without a terminal names the commands to use instead.
func TestTopNeedsTerminal(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("fairlead", "top").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "use fairlead shares and fairlead queue, with --json for programs") {
		t.Errorf("%v, %s", err, out)
	}
}

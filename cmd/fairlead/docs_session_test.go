package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/await"
	daemons "github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/internal/terminal"
)

// pace is the pause before each command of a session with -update, as a person would pause, so that the numbers in the
// output are realistic. With pace the test rewrites all output.
var pace = flag.Duration("pace", 0, "with -update: pause before each command of a session in the documentation")

// TestDocsSessions runs the sessions of the documentation and compares the output with the pages, except for
// parts that differ each time. The console blocks of a page are one session, with its own directory and
// server.
func TestDocsSessions(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the scripts that -short runs do the same to servers and agents")
	}
	for _, page := range docPages(t) {
		blocks, _ := blocksOf(readPage(t, page))
		if slices.ContainsFunc(blocks, func(b block) bool { return b.lang == "console" }) {
			t.Run(page, func(t *testing.T) {
				t.Parallel()
				newSession(t, page).runPage(blocks)
			})
		}
	}
}

// session runs the commands of one page.
type session struct {
	t           *testing.T
	page        string
	dir, socket string
	host, user  string
	port        string // replaces nodesPort
	server      *background
	works       map[string]*background // by node name, "" without one
}

func newSession(t *testing.T, page string) *session {
	dir, err := os.MkdirTemp("", "fl-docs-")
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, page: page, dir: filepath.Join(dir, "home"), socket: filepath.Join(dir, "s"), host: hostname(), user: "nobody", works: map[string]*background{}}
	// Other users have to reach the scripts of their jobs.
	for _, err := range []error{os.Chmod(dir, 0o755), os.Mkdir(s.dir, 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	ports, err := daemons.Ports(1)
	if err != nil {
		t.Fatal(err)
	}
	s.port = fmt.Sprintf(":%d", ports[0])
	if u, err := user.Current(); err == nil {
		s.user = u.Username
	}
	t.Cleanup(func() {
		s.stopWorks()
		s.server.stop()
		os.RemoveAll(dir)
	})
	return s
}

// runPage runs the blocks of a page, and rewrites the page with -update.
func (s *session) runPage(blocks []block) {
	lines := strings.Split(readPage(s.t, s.page), "\n")
	shift := 0
	for _, b := range blocks {
		if name, ok := strings.CutPrefix(b.note, "file: "); ok {
			if err := os.WriteFile(filepath.Join(s.dir, name), []byte(s.here(b.text)), 0o644); err != nil {
				s.t.Fatal(err)
			}
		}
		if b.lang != "console" {
			continue
		}
		var now []string
		for _, c := range promptsOf(b) {
			now = append(now, s.follow(c)...)
		}
		was := strings.Split(strings.TrimSuffix(b.text, "\n"), "\n")
		lines = slices.Replace(lines, b.line-1+shift, b.line-1+shift+len(was), now...)
		shift += len(now) - len(was)
	}
	if *update {
		writePage(s.t, s.page, strings.Join(lines, "\n"))
	}
}

// prompt is one command of a session with the output that the page shows.
type prompt struct {
	line int
	text string // continued lines are joined
	as   []string
	want []string
}

func promptsOf(b block) []prompt {
	var all []prompt
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		text, begins := strings.CutPrefix(line, "$ ")
		more, goesOn := strings.CutPrefix(line, "> ")
		switch n := len(all) - 1; {
		case begins:
			all = append(all, prompt{line: b.line + i, text: text, as: []string{line}})
		case goesOn && n >= 0 && len(all[n].want) == 0:
			all[n].text += "\n" + more
			all[n].as = append(all[n].as, line)
		case n >= 0:
			all[n].want = append(all[n].want, line)
		}
	}
	return all
}

// follow runs one command, checks its output, and returns the lines that the page should show.
func (s *session) follow(c prompt) []string {
	time.Sleep(*pace)
	got := s.output(c)
	right, cut := matches(c.want, got), slices.Contains(c.want, "...")
	if !right && (!*update || cut) {
		s.t.Errorf("%s:%d: $ %s\nprints:\n%s\nthe page says:\n%s", s.page, c.line, c.text, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
	}
	if right && *pace == 0 || cut {
		got = c.want
	}
	return append(slices.Clone(c.as), got...)
}

// lookLong is how long a read-only command is repeated until its output matches the page, because the times of jobs
// vary. With -update, a changed page never matches. After a first difference the page is wrong anyway, and the test
// does not wait for its other commands: it must report the difference before its time is over.
func lookLong(t testing.TB) time.Duration {
	switch {
	case *update:
		return 8 * time.Second
	case t.Failed():
		return 0
	}
	return await.Patience
}

var looks = regexp.MustCompile(`^(fairlead (queue|q|why|shares|nodes|limits|history|logs|config (show|history|check|diff|plan|set|unset)|doctor)|curl -s --unix-socket \S+ \S+$|cat )`)

func (s *session) output(c prompt) []string {
	if _, err := exec.LookPath("curl"); err != nil && strings.Contains(c.text, "curl ") {
		s.t.Logf("%s:%d: not run, as there is no curl here", s.page, c.line)
		return c.want
	}
	if kind := regexp.MustCompile(`^fairlead (serve|work)\b`).FindString(c.text); kind != "" {
		return s.begin(kind, c)
	}
	var got []string
	await.Within(lookLong(s.t), func() bool {
		got = s.canonical(s.run(c.text))
		return matches(c.want, got) || !looks.MatchString(c.text) || *pace > 0
	})
	return got
}

func (s *session) run(text string) string {
	x := exec.Command("sh", "-c", s.here(strings.NewReplacer("go run ./cmd/fairlead", "fairlead", "lab1", s.host).Replace(text)))
	x.Dir, x.Env = s.dir, s.env()
	out, _ := x.CombinedOutput()
	return string(out)
}

// nodesPort is the port for other machines on the pages.
const nodesPort = ":7448"

// here replaces the port on the pages with a free one.
func (s *session) here(text string) string { return strings.ReplaceAll(text, nodesPort, s.port) }

func (s *session) env() []string {
	return append(os.Environ(), "HOME="+s.dir, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "FAIRLEAD_SERVER="+s.socket, "FAIRLEAD_POOL=", "TZ=UTC", "NO_COLOR=1", "LC_ALL=C.UTF-8")
}

// stopWorks ends all agents.
func (s *session) stopWorks() {
	for name, work := range s.works {
		work.stop()
		delete(s.works, name)
	}
}

var workName = regexp.MustCompile(`--name (\S+)`)

// begin starts a server or an agent. It stops the previous server, or the previous agent of the same name.
func (s *session) begin(kind string, c prompt) []string {
	name := ""
	if m := workName.FindStringSubmatch(c.text); m != nil {
		name = m[1]
	}
	old := s.works[name]
	if text := c.text; kind == "fairlead serve" {
		old = s.server
		s.stopWorks()
		for _, flag := range []string{"--socket " + s.socket, "--listen 127.0.0.1:0", "--lease 5s"} {
			if name, _, _ := strings.Cut(flag, " "); !strings.Contains(text, name) {
				c.text += " " + flag
			}
		}
	}
	if kind == "fairlead work" && os.Getuid() == 0 {
		c.text += " --allow-root"                // the reader of the page is not root
		if !strings.Contains(c.text, "--dir ") { // root's directory is shared with all agents of this machine
			c.text += " --dir " + filepath.Join(s.dir, ".local/agents", name)
		}
	}
	old.stop()
	x := exec.Command("sh", "-c", "exec "+s.here(c.text))
	x.Dir, x.Env = s.dir, s.env()
	b := inBackground(s.t, x, kind == "fairlead serve")
	if kind == "fairlead serve" {
		s.server = b
	} else {
		s.works[name] = b
	}
	var got []string
	await.Within(lookLong(s.t), func() bool {
		got = s.canonical(strings.ReplaceAll(b.String(), "\r\n", "\n"))
		return matches(c.want, got) && len(got) > 0 || *pace > 0 && len(got) > 5
	})
	return got
}

// background is a process that runs while others run.
type background struct {
	cmd   *exec.Cmd
	ended chan struct{}

	mu  sync.Mutex
	out bytes.Buffer
}

// inBackground starts a process, with a terminal or without one, that runs while others run. It runs until
// [background.stop].
func inBackground(t *testing.T, cmd *exec.Cmd, onTerminal bool) *background {
	t.Helper()
	b := &background{cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = b, b
	started := func() {}
	if onTerminal {
		started = b.onTerminal(t)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started()
	go func() { cmd.Wait(); close(b.ended) }()
	return b
}

// onTerminal gives a process a terminal for its output, because readers of the pages have one. The caller calls the
// returned function when the process has started.
func (b *background) onTerminal(t *testing.T) (started func()) {
	t.Helper()
	person, program, err := terminal.Open(200, 50)
	if err != nil {
		daemons.Skip(t, err)
	}
	b.cmd.Stdout = program
	return func() {
		program.Close()
		go func() {
			defer person.Close()
			io.Copy(b, person)
		}()
	}
}

func (b *background) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *background) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}

// stop ends the process like two presses of Ctrl-C, and then with SIGKILL.
func (b *background) stop() {
	if b == nil {
		return
	}
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGINT, syscall.SIGKILL} {
		b.cmd.Process.Signal(sig)
		select {
		case <-b.ended:
			return
		case <-time.After(300 * time.Millisecond):
		}
	}
	<-b.ended
}

//go:build real

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead/fairlead/internal/await"
	daemons "github.com/fairlead/fairlead/internal/daemon"
)

// reader is an ordinary user who types the commands of the README. The home directory is empty, and the
// environment has the variables of a login.
type reader struct {
	t      *testing.T
	home   string
	lab    string // root's directory, in place of those of the system
	person *person
	binary string
	stays  []*background // servers and agents
}

// readmeSteps lists the commands of the README in their order, each with its check. Commands without a check need
// the network, or begin this test.
var readmeSteps = []struct {
	command string
	follow  func(r *reader, command string)
}{
	{"git clone https://github.com/fairlead/fairlead && cd fairlead", nil},
	{"go run ./cmd/fairlead demo", (*reader).demo},
	{"make test", nil},
	{"go install ./cmd/fairlead", nil},
	{"fairlead serve --dev", (*reader).serveDev},
	{"fairlead submit --array 1-100 -- sleep 1", func(r *reader, c string) { r.sees(c, "job 1 queued", 0) }},
	{"fairlead why 1", func(r *reader, c string) { r.sees(c, "1 sleep (daemon)", 0) }},
	{"fairlead config check fairlead.yaml", (*reader).checkConfig},
	{"fairlead serve --config fairlead.yaml --db /var/lib/fairlead/jobs.db", (*reader).serveLab},
	{"fairlead work", (*reader).work},
	{"fairlead bridge slurm --group physics=50,biology=30,chemistry=20 --above daq --check", (*reader).checkSlurm},
	{"fairlead sim compare trace.swf.gz --policy fifo,easy,fairtree+easy,fair+easy --out report", (*reader).compare},
}

// TestRealReadme types each command of the README.
func TestRealReadme(t *testing.T) {
	if os.Getuid() != 0 {
		daemons.Skip(t, "only root can be another user")
	}
	t.Parallel()
	r := newReader(t)
	commands := readmeCommands(t)
	for i, step := range readmeSteps {
		if i >= len(commands) || commands[i] != step.command {
			t.Fatalf("the README has the commands\n%s\nand this test expects %q as number %d",
				strings.Join(commands, "\n"), step.command, i+1)
		}
		if step.follow != nil {
			step.follow(r, step.command)
		}
	}
	if len(commands) > len(readmeSteps) {
		t.Errorf("this test does not type the last commands of the README: %q", commands[len(readmeSteps):])
	}
}

// readmeCommands returns the indented commands of the README, without the comments behind them.
func readmeCommands(t *testing.T) (commands []string) {
	for line := range strings.Lines(readPage(t, "README.md")) {
		text, isCode := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		first, _, _ := strings.Cut(text, " ")
		if isCode && strings.Contains(" git go make fairlead ", " "+first+" ") {
			command, _, _ := strings.Cut(text, "  #")
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	return commands
}

func newReader(t *testing.T) *reader {
	home, lab := shortDir(t), shortDir(t)
	binary, err := realBinary()
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, home: home, lab: lab, person: people(t)[0], binary: binary}
	if err := os.Chown(home, int(r.person.uid), int(r.person.gid)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, b := range r.stays {
			b.stop()
		}
	})
	return r
}

// shortDir makes a directory that every user may pass through. The path of a socket has to be short.
func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "fl")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// types returns a command as the reader types it, or as root does.
func (r *reader) types(command string, root bool) *exec.Cmd {
	x := exec.Command("sh", "-c", "exec "+command)
	x.Dir = r.home
	x.Env = []string{"HOME=" + r.home, "TMPDIR=" + r.home, "USER=" + r.person.name,
		"PATH=" + filepath.Dir(r.binary) + ":/usr/bin:/bin"}
	if root {
		x.Env[0] = "HOME=" + r.t.TempDir()
	} else {
		x.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: r.person.uid, Gid: r.person.gid}}
	}
	return x
}

// sees types a command, and checks its output and exit status.
func (r *reader) sees(command, want string, status int) {
	r.t.Helper()
	out, got := said(r.types(command, false))
	if !strings.Contains(out, want) || got != status {
		r.t.Errorf("$ %s\nprints, with status %d:\n%s\nwant %q and status %d", command, got, out, want, status)
	}
}

// begins types a command that stays until it is stopped, and waits for a text.
func (r *reader) begins(command, ready string, root bool) {
	r.t.Helper()
	b := &background{ended: make(chan struct{}), cmd: r.types(command, root)}
	b.cmd.Stdout, b.cmd.Stderr = b, b
	if err := b.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() { b.cmd.Wait(); close(b.ended) }()
	r.stays = append(r.stays, b)
	await.Until(r.t, fmt.Sprintf("%s prints %q", command, ready), func() (any, bool) {
		return b.String(), strings.Contains(b.String(), ready)
	})
}

func (r *reader) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.home, name), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *reader) demo(string) { r.sees("fairlead demo", "fair share", 0) }

// serveDev uses another port for the dashboard, because another server may run on this machine.
func (r *reader) serveDev(command string) {
	r.begins(command+" --listen 127.0.0.1:0", "dashboard", false)
}

// checkConfig checks the file of the page to which the README leads, with the paths of this test.
func (r *reader) checkConfig(command string) {
	blocks, _ := blocksOf(readPage(r.t, "docs/how-to/lab.md"))
	for _, b := range blocks {
		if b.note == "file: fairlead.yaml" {
			own := strings.NewReplacer("/run/fairlead/", r.lab+"/", "/var/lib/fairlead/", r.lab+"/")
			r.write("fairlead.yaml", own.Replace(b.text))
		}
	}
	r.sees(command, "no problems", 0)
}

func (r *reader) serveLab(command string) {
	r.begins(strings.ReplaceAll(command, "/var/lib/fairlead/", r.lab+"/")+" --listen none", r.lab+"/fairlead.sock", true)
}

// work runs as root, as the README says, and joins the server of the lab.
func (r *reader) work(command string) {
	server := "--server " + r.lab + "/fairlead.sock"
	r.begins(command+" "+server+" --name lab", "lab", true)
	await.Until(r.t, "the node is there", func() (any, bool) {
		out, _ := said(r.types("fairlead nodes "+server, false))
		return out, strings.Contains(out, "lab")
	})
}

// checkSlurm finds no Slurm on this machine, and is told so.
func (r *reader) checkSlurm(command string) { r.sees(command, "Slurm", 1) }

func (r *reader) compare(command string) {
	r.sees("fairlead sim generate lublin --procs 64 --jobs 300 -o trace.swf.gz", "", 0)
	r.sees(command, "fairtree+easy", 0)
	if _, err := os.Stat(filepath.Join(r.home, "report", comparePage)); err != nil {
		r.t.Error(err)
	}
}

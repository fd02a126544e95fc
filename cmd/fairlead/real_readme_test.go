//go:build real

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/await"
	daemons "github.com/fairlead/fairlead/internal/daemon"
)

// reader is an ordinary user who types the commands of the README in an empty home directory. Where the README says so,
// the reader is root, with one directory in place of the system's directories.
type reader struct {
	t         *testing.T
	uid       int
	home, lab string
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
	{"fairlead submit --array 1-100 -- sleep 1", func(r *reader, c string) { r.sees(r.types(c), "job 1 queued", 0) }},
	{"fairlead why 1", func(r *reader, c string) { r.sees(r.types(c), "1 sleep (daemon)", 0) }},
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
	r := &reader{t: t, uid: int(people(t)[0].uid), home: shared(t), lab: shared(t)}
	if err := os.Chown(r.home, r.uid, r.uid); err != nil {
		t.Fatal(err)
	}
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

// types returns a command as the reader types it.
func (r *reader) types(command string) *exec.Cmd {
	return as(r.t, r.uid, r.home, "fairlead", strings.Fields(command)[1:]...)
}

// asRoot returns a command as root types it.
func (r *reader) asRoot(command string) *exec.Cmd {
	return as(r.t, 0, r.lab, "fairlead", strings.Fields(command)[1:]...)
}

// sees runs a command, and checks its output and exit status.
func (r *reader) sees(cmd *exec.Cmd, want string, status int) {
	r.t.Helper()
	out, got := said(cmd)
	if !strings.Contains(out, want) || got != status {
		r.t.Errorf("$ %s\nprints, with status %d:\n%s\nwant %q and status %d", cmd, got, out, want, status)
	}
}

// demo runs the program; the README uses go run, which would compile it first.
func (r *reader) demo(command string) {
	r.sees(r.types(strings.TrimPrefix(command, "go run ")), "fair share", 0)
}

// serveDev uses another port for the dashboard, because another server may run on this machine.
func (r *reader) serveDev(command string) {
	start(r.t, r.types(command+" --listen 127.0.0.1:0")).says("dashboard")
}

// checkConfig checks the file of the page to which the README leads, with the paths of this test.
func (r *reader) checkConfig(command string) {
	blocks, _ := blocksOf(readPage(r.t, "docs/how-to/lab.md"))
	for _, b := range blocks {
		if b.note == "file: fairlead.yaml" {
			own := strings.NewReplacer("/run/fairlead/", r.lab+"/", "/var/lib/fairlead/", r.lab+"/")
			file := filepath.Join(r.lab, "fairlead.yaml")
			if err := os.WriteFile(file, []byte(own.Replace(b.text)), 0o644); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	r.sees(r.asRoot(command), "no problems", 0)
}

func (r *reader) serveLab(command string) {
	command = strings.ReplaceAll(command, "/var/lib/fairlead/", r.lab+"/")
	start(r.t, r.asRoot(command+" --listen none")).says(r.lab + "/fairlead.sock")
}

// work runs as root, as the README says, and joins the server of the lab.
func (r *reader) work(command string) {
	server := " --server " + r.lab + "/fairlead.sock"
	start(r.t, r.asRoot(command+server+" --name lab --dir "+r.lab+"/agent")).says("lab")
	await.Until(r.t, "the node is there", func() (any, bool) {
		out, _ := said(r.types("fairlead nodes" + server))
		return out, strings.Contains(out, "lab")
	})
}

// checkSlurm finds no Slurm on this machine, and the output says so.
func (r *reader) checkSlurm(command string) { r.sees(r.types(command), "Slurm", 1) }

func (r *reader) compare(command string) {
	r.sees(r.types("fairlead sim generate lublin --procs 64 --jobs 300 -o trace.swf.gz"), "", 0)
	r.sees(r.types(command), "fairtree+easy", 0)
	if _, err := os.Stat(filepath.Join(r.home, "report", comparePage)); err != nil {
		r.t.Error(err)
	}
}

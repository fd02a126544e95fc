//go:build real

package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
)

// lab is a cluster on one machine: a server and agents, each in its own process, a configuration file, and
// users who always have work.
type lab struct {
	t      *testing.T
	dir    string
	file   string // the configuration
	socket string // its path has to be short
	client *api.Client
	procs  map[string]*exec.Cmd // the server, and agents by name
	sent   atomic.Int64         // number of acknowledged jobs
}

func newLab(t *testing.T, configured string) *lab {
	t.Helper()
	short, err := os.MkdirTemp("", "fl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	dir := t.ArtifactDir()
	l := &lab{t: t, dir: dir, file: filepath.Join(dir, "fairlead.yaml"), socket: filepath.Join(short, "s"), procs: map[string]*exec.Cmd{}}
	l.write(configured)
	t.Cleanup(func() {
		for name := range l.procs {
			l.kill(name)
		}
	})
	if l.client, err = api.Dial(l.socket); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.client.Close)
	return l
}

func (l *lab) write(configured string) {
	l.t.Helper()
	if err := os.WriteFile(l.file, []byte(configured), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) start(name string, args ...string) {
	l.t.Helper()
	l.run(name, program(l.t, args...))
}

// run starts a command under a name, as start does.
func (l *lab) run(name string, c *exec.Cmd) {
	l.t.Helper()
	log, err := os.OpenFile(l.log(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		l.t.Fatal(err)
	}
	defer log.Close()
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.procs[name] = c
}

func (l *lab) log(name string) string { return filepath.Join(l.dir, name+".log") }

func (l *lab) db() string { return filepath.Join(l.dir, "jobs.db") }

// serve starts the server and waits until it answers.
func (l *lab) serve() {
	l.t.Helper()
	l.serveWith(l.server())
}

// server returns the command that serve starts.
func (l *lab) server() *exec.Cmd {
	return program(l.t, "serve", "--config", l.file, "--db", l.db(), "--socket", l.socket, "--listen", "none",
		"--lease", "10s", "--log", "warn")
}

// serveWith starts the server with the given command, and waits until it answers.
func (l *lab) serveWith(c *exec.Cmd) {
	l.t.Helper()
	l.run("server", c)
	l.until("the server answers", func() bool { return l.client.Call(l.t.Context(), http.MethodGet, "/healthz", nil, nil) == nil })
}

// work starts an agent that runs the jobs of all users as its own user, and waits until it has joined.
func (l *lab) work(name string, cpus int) {
	l.t.Helper()
	l.start(name, "work", "--server", l.socket, "--name", name, "--cpus", fmt.Sprint(cpus), "--dir", filepath.Join(l.dir, "agent-"+name), "--any-user")
	l.until(name+" joins", func() bool { return l.node(name) == "up" })
}

// node returns the state of a node.
func (l *lab) node(name string) string {
	nodes, err := l.client.Nodes.List(l.t.Context())
	if err != nil {
		return ""
	}
	for _, n := range nodes.Nodes {
		if n.Name == name {
			return n.State
		}
	}
	return ""
}

// kill ends a process without warning.
func (l *lab) kill(name string) {
	l.procs[name].Process.Kill()
	l.procs[name].Wait()
}

// stop interrupts a process, as its administrator would, and waits for its end.
func (l *lab) stop(name string) {
	l.t.Helper()
	l.procs[name].Process.Signal(os.Interrupt)
	if err := l.procs[name].Wait(); err != nil {
		text, _ := os.ReadFile(l.log(name))
		l.t.Errorf("%s: %v\n%s", name, err, text[max(0, len(text)-1500):])
	}
	delete(l.procs, name)
}

// until waits for a condition.
func (l *lab) until(what string, f func() bool) {
	l.t.Helper()
	await.Until(l.t, what+"; the server said", func() (any, bool) { return tail(l.log("server"), 1500), f() })
}

func (l *lab) ledger() ledger { return ledger{filepath.Join(l.dir, "ledger")} }

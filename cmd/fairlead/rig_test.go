//go:build real

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/queue"
)

// rig is a server with agents, each in its own process. Agents and clients reach the server through the wire,
// which sees all messages.
type rig struct {
	t       *testing.T
	dir     string // for everything except the sockets, whose paths have to be short
	socket  string
	db      string
	options []string // further options of the server
	lease   time.Duration
	wire    *wire
	direct  *api.Client // bypasses the wire

	mu     sync.Mutex
	server *proc
	agents map[string]*proc
}

func newRig(t *testing.T, lease time.Duration) *rig {
	t.Helper()
	return newRigWith(t, lease, newWitness())
}

// newRigWith does the same as newRig for one of several servers, which share a witness.
func newRigWith(t *testing.T, lease time.Duration, seen *witness) *rig {
	t.Helper()
	short, err := os.MkdirTemp("", "fl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	dir, err := os.MkdirTemp(t.ArtifactDir(), "rig")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: dir, socket: filepath.Join(short, "s"), lease: lease, agents: map[string]*proc{}}
	r.db = filepath.Join(r.dir, "jobs.db")
	r.wire = newWire(t, seen, filepath.Join(short, "w"), r.socket)
	r.direct = dial(t, r.socket)
	t.Cleanup(r.end)
	return r
}

func dial(t testing.TB, socket string) *api.Client {
	t.Helper()
	c, err := api.Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// end kills the remaining processes. It prints their output if the test failed.
func (r *rig) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]*proc{"server": r.server}
	for name, p := range r.agents {
		all[name] = p
	}
	for name, p := range all {
		if p == nil {
			continue
		}
		p.kill()
		text, _ := os.ReadFile(p.log)
		for _, sign := range []string{"panic:", "fatal error:", "DATA RACE"} {
			if _, after, found := strings.Cut(string(text), sign); found {
				r.t.Errorf("%s: %s%s", name, sign, after[:min(len(after), 4000)])
			}
		}
		if r.t.Failed() {
			r.t.Logf("%s said at last:\n%s", name, tail(p.log, 1500))
		}
	}
}

func tail(file string, n int) string {
	text, _ := os.ReadFile(file)
	return string(text[max(0, len(text)-n):])
}

// startServer starts the server and does not wait until it answers.
func (r *rig) startServer() *proc {
	r.t.Helper()
	p := r.start("server", append([]string{"serve", "--db", r.db, "--socket", r.socket, "--listen", "none",
		"--lease", r.lease.String(), "--log", "warn"}, r.options...)...)
	r.mu.Lock()
	r.server = p
	r.mu.Unlock()
	return p
}

// serve starts the server and waits until it answers.
func (r *rig) serve() {
	r.t.Helper()
	p := r.startServer()
	if !r.answers(p) {
		r.t.Fatalf("the server does not answer; it said:\n%s", tail(p.log, 1500))
	}
}

// answers waits until the server answers. It returns false if the server ends before, or does not answer in
// time.
func (r *rig) answers(p *proc) bool {
	return await.Within(deadline, func() bool {
		return p.ended() || r.direct.Call(context.Background(), http.MethodGet, "/healthz", nil, nil) == nil
	}) && !p.ended()
}

// work starts an agent that runs the tasks of all users, and waits until it has joined.
func (r *rig) work(name string, cpus int) *proc {
	r.t.Helper()
	joined := func() int {
		text, _ := os.ReadFile(filepath.Join(r.dir, name+".log"))
		return strings.Count(string(text), "\nnode "+name+" joined")
	}
	before := joined()
	p := r.startAgent(name, cpus)
	r.until(name+" joins", func() bool { return joined() > before })
	return p
}

// startAgent starts an agent and does not wait until it has joined.
func (r *rig) startAgent(name string, cpus int) *proc {
	r.t.Helper()
	p := r.start(name, "work", "--server", r.wire.socket, "--name", name, "--cpus", strconv.Itoa(cpus),
		"--dir", filepath.Join(r.dir, "agent-"+name), "--any-user", "--drain", "5s", "--log", "info")
	r.mu.Lock()
	r.agents[name] = p
	r.mu.Unlock()
	return p
}

// bridgeTo starts a bridge from this server to another one, and does not wait until it has joined.
func (r *rig) bridgeTo(behind *rig) *proc {
	r.t.Helper()
	p := r.start("bridge", "bridge", "queue", "--server", r.socket, "--to", behind.socket,
		"--dir", filepath.Join(r.dir, "bridge"), "--group", "physics=60,biology=40")
	r.agents["bridge"] = p // so that it is ended with the others
	return p
}

// deadline is the longest wait for anything that must happen.
const deadline = await.Patience

// until waits for a condition.
func (r *rig) until(what string, f func() bool) {
	r.t.Helper()
	await.True(r.t, what, f)
}

// submit submits one job and returns its id.
func (r *rig) submit(spec api.Spec) int64 {
	r.t.Helper()
	resp, err := r.direct.Jobs.Submit(r.t.Context(), api.SubmitRequest{Jobs: []api.Spec{spec}})
	if err == nil {
		err = resp.Jobs[0].Error.Err()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.Jobs[0].ID
}

func (r *rig) cancel(id int64) {
	r.t.Helper()
	request := api.AlterRequest{Verb: "cancel", Jobs: []int64{id}}
	if _, err := r.direct.Jobs.Alter(r.t.Context(), request); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) job(id int64) *api.JobResponse {
	r.t.Helper()
	j, err := r.direct.Jobs.Get(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return j
}

// finished waits until a job has ended.
func (r *rig) finished(id int64) *api.JobResponse {
	r.t.Helper()
	var j *api.JobResponse
	r.until(fmt.Sprintf("job %d ends", id), func() bool {
		j = r.job(id)
		return queue.State(j.Job.State).Ended()
	})
	return j
}

// proc is a process of the program.
type proc struct {
	cmd  *exec.Cmd
	log  string // file with its output
	done chan struct{}
}

// forks runs functions on one thread that lasts as long as the process.
var forks = sync.OnceValue(func() chan<- func() {
	c := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range c {
			f()
		}
	}()
	return c
})

// start starts the program: this test binary under the program's name. The kernel kills the process when the thread
// that forked it ends, including after a timeout of the test.
func (r *rig) start(name string, args ...string) *proc {
	r.t.Helper()
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	p := &proc{log: filepath.Join(r.dir, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	defer log.Close()
	p.cmd = &exec.Cmd{
		Path: self, Args: append([]string{"fairlead"}, args...), Stdout: log, Stderr: log, Dir: r.dir,
		SysProcAttr: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	}
	started := make(chan error)
	forks() <- func() { started <- p.cmd.Start() }
	if err := <-started; err != nil {
		r.t.Fatal(err)
	}
	go func() { p.cmd.Wait(); close(p.done) }()
	return p
}

func (p *proc) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill ends the process without warning.
func (p *proc) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

func (p *proc) signal(s syscall.Signal) { p.cmd.Process.Signal(s) }

// stop ends the process with SIGTERM, and fails the test if the process does not exit cleanly.
func (r *rig) stop(p *proc) {
	r.t.Helper()
	p.signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(deadline):
		r.t.Fatalf("%v does not end on SIGTERM", p.cmd.Args)
	}
	if !p.cmd.ProcessState.Success() {
		r.t.Errorf("%v: %v\n%s", p.cmd.Args, p.cmd.ProcessState, tail(p.log, 1500))
	}
}

// lives reports whether a process exists and has not ended.
func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func (r *rig) ledger() ledger { return ledger{filepath.Join(r.dir, "ledger")} }

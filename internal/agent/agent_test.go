package agent_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/environ"
	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/internal/server"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// rig is a server with one agent that runs real processes.
type rig struct {
	*api.Client
	t      *testing.T
	socket string // of the server
	stop   func() // drains the agent
}

func newRig(t *testing.T, ttl time.Duration, options agent.Options) *rig {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	store := memory.New("cpu")
	loop, err := engine.NewLoop(ctx, store, engine.LoopOptions{LeaseTTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, socket: socket}
	if r.Client, err = api.Dial(socket); err != nil {
		t.Fatal(err)
	}
	options.Client, options.Name, options.Dir, options.AllowRoot = r.Client, "n1", dir, true
	options.Capacity = gpu.Capacity(options.GPUs)
	options.Capacity["cpu"] = 4
	joined := make(chan struct{}, 1)
	options.Joined = func() { joined <- struct{}{} }
	agentCtx, stopAgent := context.WithCancel(ctx)
	var servers, agents sync.WaitGroup
	servers.Go(func() { loop.Run(ctx) })
	servers.Go(func() { server.New(server.Options{Loop: loop, Store: store}).Serve(ctx, listener) })
	agents.Go(func() {
		if err := agent.Run(agentCtx, options); err != nil {
			t.Error(err)
		}
	})
	r.stop = func() { stopAgent(); agents.Wait() }
	t.Cleanup(func() { r.stop(); cancel(); servers.Wait(); r.Close() })
	select {
	case <-joined:
	case <-time.After(await.Patience):
		t.Fatal("the agent did not join")
	}
	return r
}

func (r *rig) submit(spec api.Spec) int64 {
	r.t.Helper()
	resp, err := r.Jobs.Submit(r.t.Context(), api.SubmitRequest{Jobs: []api.Spec{spec}})
	if err != nil {
		r.t.Fatal(err)
	}
	if resp.Jobs[0].Error != nil {
		r.t.Fatal(resp.Jobs[0].Error)
	}
	return resp.Jobs[0].ID
}

// until waits until the function "ready" accepts the job.
func (r *rig) until(id int64, ready func(*api.JobResponse) bool) *api.JobResponse {
	r.t.Helper()
	var j *api.JobResponse
	await.Until(r.t, fmt.Sprintf("job %d is as it should be", id), func() (any, bool) {
		var err error
		if j, err = r.Jobs.Get(r.t.Context(), id); err != nil {
			r.t.Fatal(err)
		}
		return fmt.Sprintf("%s: %+v", j.Job.State, j.Tasks), ready(j)
	})
	return j
}

func ended(j *api.JobResponse) bool { return queue.State(j.Job.State).Ended() }
func runs(j *api.JobResponse) bool  { return j.Job.Running > 0 }

func (r *rig) output(id int64) string {
	r.t.Helper()
	c, err := r.Jobs.Log(r.t.Context(), id, url.Values{})
	if err != nil {
		r.t.Fatal(err)
	}
	return string(c.Data)
}

func shell(script string) api.Spec { return api.Spec{Argv: []string{"sh", "-c", script}} }

func TestRunsAndReports(t *testing.T) {
	r := newRig(t, time.Minute, agent.Options{})
	good := r.submit(api.Spec{
		Argv: []string{"sh", "-c", "echo $FAIRLEAD_JOB $X; pwd; env | grep -c GOPATH; true"},
		Env:  map[string]string{"X": "y"}, Dir: "/tmp",
	})
	bad := r.submit(shell("echo oops >&2; exit 7"))
	missing := r.submit(api.Spec{Argv: []string{"no-such-program"}})
	script := r.submit(api.Spec{
		Argv: []string{"job.sh", "a b"}, Script: true,
		Payload: []byte("#!/bin/sh\necho \"[$1] $FAIRLEAD_NUMBER $SLURM_ARRAY_TASK_ID\"\n"), Array: "5",
		Env: map[string]string{environ.Compat: "slurm"},
	})
	plain := r.submit(api.Spec{Argv: []string{"x"}, Script: true, Payload: []byte("echo no interpreter named\n")})
	if j := r.until(good, ended); j.Job.State != "succeeded" || j.Tasks[0].Node != "n1" {
		t.Errorf("good: %+v", j)
	}
	if out := r.output(good); out != "1 y\n/tmp\n0\n" {
		t.Errorf("output %q", out)
	}
	if j := r.until(bad, ended); j.Job.State != "failed" || j.Tasks[0].ExitCode != 7 || r.output(bad) != "oops\n" {
		t.Errorf("bad: %+v", j)
	}
	if j := r.until(missing, ended); !strings.Contains(j.Job.Cause, "no-such-program") {
		t.Errorf("missing: %+v", j)
	}
	if r.until(script, ended); r.output(script) != "[a b] 5 5\n" {
		t.Errorf("script says %q", r.output(script))
	}
	if r.until(plain, ended); r.output(plain) != "no interpreter named\n" {
		t.Errorf("plain script says %q", r.output(plain))
	}
}

// TestFailuresAreLogged checks that an agent logs the tasks that failed on its machine, and no others.
func TestFailuresAreLogged(t *testing.T) {
	var mu sync.Mutex
	var said strings.Builder
	log := slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return said.Write(p)
	}), nil))
	r := newRig(t, time.Minute, agent.Options{Logger: log})
	good, bad := r.submit(shell("exit 0")), r.submit(shell("exit 7"))
	r.until(good, ended)
	r.until(bad, ended)
	mu.Lock()
	defer mu.Unlock()
	if text := said.String(); strings.Count(text, "a task failed") != 1 ||
		!strings.Contains(text, fmt.Sprintf("job=%d task=0 attempt=1", bad)) || !strings.Contains(text, "exit=7") {
		t.Errorf("the log says %s", text)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestCancelAndLimit(t *testing.T) {
	r := newRig(t, time.Minute, agent.Options{})
	long := r.submit(shell("echo begun; sleep 1000"))
	limited := r.submit(api.Spec{Argv: []string{"sleep", "1000"}, LimitSeconds: 0.2})
	r.until(long, runs)
	if _, err := r.Jobs.Alter(t.Context(), api.AlterRequest{Verb: "cancel", Jobs: []int64{long}}); err != nil {
		t.Fatal(err)
	}
	if j := r.until(long, ended); j.Job.State != "cancelled" || j.Job.Running != 0 {
		t.Errorf("cancelled: %+v", j)
	}
	if j := r.until(limited, ended); j.Job.State != "failed" || !strings.Contains(j.Job.Cause, "time limit") {
		t.Errorf("limited: %+v", j)
	}
}

// TestDrain checks that a stopping agent lets tasks end, and releases the tasks that do not end in time.
func TestDrain(t *testing.T) {
	r := newRig(t, time.Minute, agent.Options{Drain: time.Minute})
	dir := t.TempDir()
	short := r.submit(shell("touch " + dir + "/begun; while ! test -e " + dir + "/go; do sleep 0.01; done"))
	begun(t, dir)
	stopped := make(chan struct{})
	go func() { r.stop(); close(stopped) }()
	r.untilDrains()
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-stopped
	if j := r.until(short, ended); j.Job.State != "succeeded" || j.Tasks[0].Attempt != 1 {
		t.Errorf("short: %+v", j)
	}

	r = newRig(t, time.Minute, agent.Options{Drain: 100 * time.Millisecond})
	long := r.submit(shell("touch " + dir + "/begun; sleep 1000"))
	begun(t, dir)
	r.stop()
	if j, err := r.Jobs.Get(t.Context(), long); err != nil || j.Job.State != "waiting" || j.Tasks[0].Losses != 0 {
		t.Errorf("long: %+v, %v", j, err)
	}
}

// begun waits until a task has written the file "begun", because the lease may still be on its way to the agent.
func begun(t *testing.T, dir string) {
	t.Helper()
	await.True(t, "the task runs", func() bool { return os.Remove(dir+"/begun") == nil })
}

// untilDrains waits until the server knows that the agent takes no new tasks.
func (r *rig) untilDrains() {
	r.t.Helper()
	await.Until(r.t, "the agent drains", func() (any, bool) {
		list, err := r.Nodes.List(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		return list.Nodes, len(list.Nodes) == 1 && list.Nodes[0].State == "drain"
	})
}

// TestRenews checks that a task that runs for several leases stays with its agent, which reports what the task uses.
// The lease is long enough for a machine that freezes for a second.
func TestRenews(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2500*time.Millisecond, agent.Options{})
	id := r.submit(shell("sleep 6"))
	used := r.until(id, func(j *api.JobResponse) bool { return j.Job.Used != nil || ended(j) }).Job.Used
	if used == nil || used.Tasks != 1 || used.Memory <= 0 || used.Elapsed <= 0 || used.Elapsed > 60 {
		t.Errorf("it uses %+v", used)
	}
	if j := r.until(id, ended); j.Job.State != "succeeded" || j.Tasks[0].Attempt != 1 {
		t.Errorf("job %+v", j)
	}
}

// TestOthersReachTheirScripts checks that other users can reach their scripts even if the agent made its directory and
// the parents of the directory, because jobs run as their users.
func TestOthersReachTheirScripts(t *testing.T) {
	top := t.TempDir()
	probe := filepath.Join(top, "probe")
	if err := os.Mkdir(probe, 0o711); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(probe); err != nil || info.Mode()&0o001 == 0 {
		t.Skip("the umask closes all new directories to others")
	}
	client, err := api.Dial(filepath.Join(top, "nobody"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	agent.Run(ctx, agent.Options{Client: client, Name: "n1", Dir: filepath.Join(top, "agent", "n1")})
	for _, dir := range []string{"agent", "agent/n1", "agent/n1/scripts"} {
		if info, err := os.Stat(filepath.Join(top, dir)); err != nil || info.Mode()&0o001 == 0 {
			t.Errorf("%s: others cannot pass: %v, %v", dir, info, err)
		}
	}
	if info, err := os.Stat(filepath.Join(top, "agent/n1/logs")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the output is open to others: %v, %v", info, err)
	}
}

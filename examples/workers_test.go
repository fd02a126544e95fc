// Package examples_test runs the examples that are programs.
package examples_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/internal/server"
	"github.com/fairlead/fairlead/internal/token"
	"github.com/fairlead/fairlead/store/memory"
)

// patience bounds every wait of a test, far above the usual duration.
const patience = time.Minute

// leaseTTL is short, so that the jobs of a killed worker soon run again.
const leaseTTL = 4 * time.Second

// TestWorkers runs the workers in other languages against a server.
func TestWorkers(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]func(*testing.T) []string{"python": python, "typescript": typescript} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			argv := command(t)
			for what, test := range map[string]func(*desk){"killed": testKilled, "stopped": testStopped, "failed": testFailed, "leaves": testLeaves} {
				t.Run(what, func(t *testing.T) {
					t.Parallel()
					test(newDesk(t, argv))
				})
			}
			t.Run("busy", func(t *testing.T) {
				t.Parallel()
				testBusy(t, argv)
			})
			t.Run("outage", func(t *testing.T) {
				t.Parallel()
				testOutage(t, argv)
			})
			t.Run("strangers", func(t *testing.T) {
				t.Parallel()
				testStrangers(t, argv)
			})
		})
	}
}

// testKilled checks that a hundred jobs are done although one of two workers is killed meanwhile.
func testKilled(d *desk) {
	const jobs = 100
	a, b := d.work("a"), d.work("b")
	var specs []api.Spec
	for i := range jobs {
		file := filepath.Join(d.dir, fmt.Sprintf("%03d", i))
		if err := os.WriteFile(file, []byte(strings.Repeat("x", i)), 0o644); err != nil {
			d.Fatal(err)
		}
		specs = append(specs, api.Spec{Kind: "checksum", Args: fmt.Appendf(nil, `{"path": %q}`, file)})
		if i == jobs/4 { // the killed worker certainly runs these jobs at its end
			specs = append(specs, repeat(8, api.Spec{Kind: "wait", Args: []byte(`{"seconds": 3}`)})...)
		}
	}
	ids := d.submit(specs...)
	held := d.await("what a runs", func() []int64 { return d.runningOn("a", ids[jobs/4+1:jobs/4+9]) })
	a.kill()
	d.await("the end of all jobs", func() []int64 { return d.in(fairlead.Succeeded, ids, len(specs)) })
	lost := 0
	for _, id := range held {
		lost += d.task(id).Losses
	}
	if lost == 0 {
		d.Errorf("a was killed while it ran %v, and none of these ran again", held)
	}
	for i := range jobs {
		if text, err := os.ReadFile(filepath.Join(d.dir, fmt.Sprintf("%03d.sha256", i))); err != nil || len(text) != 65 {
			d.Fatalf("file %d has %q, %v", i, text, err)
		}
	}
	b.interrupt()
}

// testStopped checks that a worker ends a canceled job, and a job whose time limit is over.
func testStopped(d *desk) {
	d.work("a")
	ids := d.submit(api.Spec{Kind: "wait", Args: []byte(`{"seconds": 600}`)}, api.Spec{Kind: "wait", Args: []byte(`{"seconds": 600}`), LimitSeconds: 0.5})
	d.await("the start", func() []int64 { return d.runningOn("a", ids[:1]) })
	if _, err := d.client.Jobs.Alter(d.Context(), api.AlterRequest{Verb: "cancel", Jobs: ids[:1]}); err != nil {
		d.Fatal(err)
	}
	d.await("the end of the canceled job", func() []int64 { return d.in(fairlead.Cancelled, ids, 1) })
	d.await("the end of the job with a limit", func() []int64 { return d.in(fairlead.Failed, ids, 1) })
	if cause := d.task(ids[1]).Outcome.Cause; cause != "the time limit is over" {
		d.Errorf("the job with a limit ended by %q", cause)
	}
	if state := d.task(ids[0]); state.Outcome.Cause == "" || state.Losses > 0 {
		d.Errorf("the cancelled task: %+v", state)
	}
}

// testFailed checks that a permanent failure is not tried again, and that another failure is.
func testFailed(d *desk) {
	a := d.work("a")
	ids := d.submit(
		api.Spec{Kind: "checksum", Args: []byte(`{"path": "/nowhere/at/all"}`), Retries: 3},
		api.Spec{Kind: "checksum", Args: []byte(`{"path": "/"}`), Retries: 1, BackoffSeconds: 0.1},
	)
	d.await("both ends", func() []int64 { return d.in(fairlead.Failed, ids, 2) })
	for i, attempts := range []int{1, 2} {
		if got := d.task(ids[i]); got.Attempt != attempts || got.Outcome.Cause == "" {
			d.Errorf("task %d of %d attempts: %+v", i, attempts, got)
		}
		for n := 1; n <= attempts; n++ {
			// The line names the attempt and its failure; the user may have any name on this machine.
			said := regexp.MustCompile(fmt.Sprintf(`(?m)^job %d, task 0, attempt %d, kind checksum, for \S+: failed \S`, ids[i], n))
			d.await("a line about the failure", func() []int64 { return make([]int64, len(said.FindAllString(a.out.String(), -1))) })
		}
	}
}

// TestHandlerExits checks that a handler in Python that exits the program ends only its own task.
func TestHandlerExits(t *testing.T) {
	argv := python(t)
	source, err := os.ReadFile(argv[1])
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "worker.py")
	changed := strings.Replace(string(source), "\nHANDLERS = {", "\n\ndef leave(task):\n    sys.exit('no more')\n\n\nHANDLERS = {\"leave\": leave, ", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, []string{argv[0], file})
	d.work("a")
	ids := d.submit(api.Spec{Kind: "leave"})
	d.await("the end", func() []int64 { return d.in(fairlead.Failed, ids, 1) })
	if got := d.task(ids[0]).Outcome.Cause; !strings.Contains(got, "no more") {
		t.Errorf("it failed as of %q", got)
	}
}

// testLeaves checks that a worker that ends releases its tasks, and that this does not count as a failure.
func testLeaves(d *desk) {
	a := d.work("a", "--grace", "0")
	ids := d.submit(api.Spec{Kind: "wait", Args: []byte(`{"seconds": 600}`)})
	d.await("the start", func() []int64 { return d.runningOn("a", ids) })
	a.interrupt()
	d.work("b")
	d.await("the start elsewhere", func() []int64 { return d.runningOn("b", ids) })
	if got := d.task(ids[0]); got.Losses > 0 || got.Fails > 0 || got.Attempt != 2 {
		d.Errorf("what was given back: %+v", got)
	}
}

// TestStranger is run by TestWorkers as another user: it listens on a socket, and prints the number of bytes
// of each connection.
func TestStranger(t *testing.T) {
	path := os.Getenv("FAIRLEAD_STRANGER")
	if path == "" {
		t.Skip("TestWorkers runs it")
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	os.Chmod(path, 0o666)
	fmt.Println("ready")
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.SetReadDeadline(time.Now().Add(patience))
		n, _ := c.Read(make([]byte, 1000))
		fmt.Println("bytes", n)
		c.Close()
	}
}

// testStrangers checks that a worker sends nothing to a user who listens in the server's place, and names
// that user.
func testStrangers(t *testing.T, argv []string) {
	if os.Getuid() != 0 {
		daemon.Skip(t, "only root can listen as another user")
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "fl-stranger-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	path, program := filepath.Join(dir, "s"), filepath.Join(dir, "stranger")
	if self, err := os.ReadFile("/proc/self/exe"); err != nil || os.WriteFile(program, self, 0o755) != nil {
		t.Fatal(err)
	}
	run := func(uid uint32, argv ...string) *process {
		p := &process{d: &desk{T: t}, cmd: exec.Command(argv[0], argv[1:]...)}
		p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
		p.cmd.Env = append(os.Environ(), "FAIRLEAD_STRANGER="+path)
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.kill)
		return p
	}
	says := func(p *process, text string) {
		p.d.await(text, func() []int64 { return make([]int64, strings.Count(p.out.String(), text)) })
	}
	listener := run(nobody, program, "-test.run=^TestStranger$")
	says(listener, "ready")
	worker := run(0, append(append([]string{}, argv...), "--server", path)...)
	says(worker, "user 65534")
	worker.kill()
	if got := strings.ReplaceAll(listener.out.String(), "bytes 0\n", ""); got != "ready\n" {
		t.Errorf("the stranger got something: %s", got)
	}
}

// testBusy checks that a worker tries again if the server is busy, for example with too many connections, or
// away.
func testBusy(t *testing.T, argv []string) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	server := &httptest.Server{Listener: l, Config: &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			switch n := asked.Add(1); {
			case n == 1:
				http.Error(w, "too many connections", http.StatusTooManyRequests)
			case n == 2:
				http.Error(w, "the database is away", http.StatusServiceUnavailable)
			case strings.HasSuffix(r.URL.Path, "/join"):
				io.WriteString(w, `{"session": "s", "ttl_seconds": 60}`)
			default:
				t.Logf("then it asked %s: %s", r.URL.Path, body)
				<-r.Context().Done()
			}
		}),
	}}
	server.Start()
	t.Cleanup(server.Close)
	(&desk{T: t, argv: argv, socket: path}).work("a").kill()
	if n := asked.Load(); n < 3 {
		t.Errorf("it joined after %d requests, and was refused twice", n)
	}
}

// desk is a server, and the workers that were started for it.
type desk struct {
	*testing.T
	argv   []string
	dir    string
	loop   *fairlead.Loop
	client *api.Client
	socket string
	token  string // the file that holds the workers' token
}

func newDesk(t *testing.T, argv []string) *desk {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	store := memory.New("cpu")
	loop, err := fairlead.NewLoop(ctx, store, fairlead.LoopOptions{LeaseTTL: leaseTTL})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{T: t, argv: argv, dir: t.TempDir(), loop: loop, socket: filepath.Join(t.TempDir(), "s")}
	listener, err := net.Listen("unix", d.socket)
	if err != nil {
		t.Fatal(err)
	}
	if d.client, err = api.Dial(d.socket); err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Options{Loop: loop, Store: store, Program: "test", StoreName: "memory"})
	var both sync.WaitGroup
	both.Go(func() { loop.Run(ctx) })
	both.Go(func() {
		if err := s.Serve(ctx, listener); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { d.client.Close(); cancel(); both.Wait(); store.Close() })
	d.makeToken()
	return d
}

// makeToken makes the token of the workers: it is valid for their kinds of jobs only.
func (d *desk) makeToken() {
	d.Helper()
	made, r := new(token.TokenCreated), token.TokenRequest{Scopes: []string{"run:checksum", "run:wait", "run:leave"}}
	if err := d.client.Call(d.Context(), http.MethodPost, "/v1/tokens", r, made); err != nil {
		d.Fatal(err)
	}
	d.token = filepath.Join(d.dir, "token")
	if err := os.WriteFile(d.token, []byte(made.Text+"\n"), 0o600); err != nil {
		d.Fatal(err)
	}
}

// submit submits jobs.
func (d *desk) submit(specs ...api.Spec) (ids []int64) {
	d.Helper()
	r, err := d.client.Jobs.Submit(d.Context(), api.SubmitRequest{Jobs: specs, Unsatisfiable: true})
	if err != nil {
		d.Fatal(err)
	}
	for _, s := range r.Jobs {
		if s.Error != nil {
			d.Fatal(s.Error)
		}
		ids = append(ids, s.ID)
	}
	return ids
}

// in returns the jobs in a state, as soon as there are enough of them.
func (d *desk) in(state fairlead.State, ids []int64, enough int) (found []int64) {
	d.Helper()
	jobs, err := d.loop.Client().Jobs(d.Context(), fairlead.Query{IDs: ids, States: []fairlead.State{state}})
	if err != nil {
		d.Fatal(err)
	}
	for _, j := range jobs {
		found = append(found, j.ID)
	}
	if len(found) < enough {
		return nil
	}
	return found
}

// runningOn returns the jobs that a worker runs.
func (d *desk) runningOn(worker string, ids []int64) (found []int64) {
	d.Helper()
	for _, id := range d.in(fairlead.Running, ids, 1) {
		if d.task(id).Holder == worker {
			found = append(found, id)
		}
	}
	return found
}

// task returns the only task of a job.
func (d *desk) task(id int64) fairlead.Task {
	d.Helper()
	tasks, err := d.loop.Client().Tasks(d.Context(), id)
	if err != nil || len(tasks) != 1 {
		d.Fatal(id, tasks, err)
	}
	return tasks[0]
}

// await waits until f returns something.
func (d *desk) await(what string, f func() []int64) []int64 {
	d.Helper()
	var found []int64
	await.True(d, what, func() bool { found = f(); return len(found) > 0 })
	return found
}

// process is a worker.
type process struct {
	d    *desk
	name string
	cmd  *exec.Cmd
	out  output
}

// output is the output of a process so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// work starts a worker, and waits until it has joined.
func (d *desk) work(name string, flags ...string) *process {
	d.Helper()
	argv := append(append(d.argv[1:len(d.argv):len(d.argv)], "--server", d.socket, "--name", name), flags...)
	p := &process{d: d, name: name, cmd: exec.Command(d.argv[0], argv...)}
	p.cmd.Env = append(os.Environ(), "FAIRLEAD_TOKEN_FILE="+d.token)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() {
		p.kill()
		if d.Failed() {
			d.Logf("worker %s:\n%s", name, p.out.String())
		}
	})
	d.await("a worker that has joined", func() []int64 { return make([]int64, strings.Count(p.out.String(), "joined;")) })
	return p
}

// kill ends the process at once, if it still runs.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	}
}

// interrupt ends the process as Ctrl-C does.
func (p *process) interrupt() {
	p.d.Helper()
	p.cmd.Process.Signal(syscall.SIGINT)
	if err := p.cmd.Wait(); err != nil {
		p.d.Errorf("worker %s: %v\n%s", p.name, err, p.out.String())
	}
}

func repeat(n int, s api.Spec) (all []api.Spec) {
	for range n {
		all = append(all, s)
	}
	return all
}

// python returns the command of the worker in Python.
func python(t *testing.T) []string {
	return []string{need(t, "python3", "python3"), "worker-python/worker.py"}
}

// typescript returns the command of the worker in TypeScript: node strips the types if it is new enough, or
// else tsc does.
func typescript(t *testing.T) []string {
	node := need(t, "node", "nodejs")
	const strip = "--experimental-strip-types" // the default from 22.18 on
	if exec.Command(node, strip, "-e", "0").Run() == nil {
		return []string{node, strip, "worker-typescript/worker.ts"}
	}
	dir := t.TempDir()
	tsc := exec.Command(need(t, "tsc", "node-typescript"), "--outDir", dir, "--target", "es2022", "--module", "es2022", "--moduleResolution", "node", "worker-typescript/worker.ts")
	// tsc complains if the types of node are not installed, and writes the program nevertheless.
	said, _ := tsc.CombinedOutput()
	program := filepath.Join(dir, "worker.mjs")
	if err := os.Rename(filepath.Join(dir, "worker.js"), program); err != nil {
		t.Fatalf("tsc: %v\n%s", err, said)
	}
	return []string{node, program}
}

// need finds a program, or skips the test.
func need(t *testing.T, program, debian string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		daemon.Skip(t, fmt.Sprintf("there is no %s here: apt-get install %s", program, debian))
	}
	return path
}

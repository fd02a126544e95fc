package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
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

	"github.com/fairlead/fairlead/internal/await"
	daemons "github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/internal/tempdir"
)

// strangerUID is the user "nobody", who tries forbidden things in tests.
const strangerUID = 65534

// intruder is a separate program for tests: it tries attacks that are open to every user of the machine.
func intruder() {
	what, args := os.Args[1], os.Args[2:]
	do := map[string]func([]string){"ports": intrudePorts, "impostor": impersonate, "hold": holdConnections}[what]
	if do == nil {
		fmt.Fprintln(os.Stderr, "intruder: unknown:", what)
		os.Exit(2)
	}
	do(args)
}

// must ends the intruder on an error.
func must[T any](v T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "intruder:", err)
		os.Exit(1)
	}
	return v
}

// intrudePorts sends requests from ports that others can use right afterwards: ADDRESS FILE SOCKETS. It first
// opens SOCKETS sockets of its own, which makes every search in the list of all sockets slow. For each input
// line it sends one request and prints the port.
func intrudePorts(args []string) {
	address, request := args[0], must(os.ReadFile(args[1]))
	own := must(net.Listen("tcp", "127.0.0.1:0"))
	for range must(strconv.Atoi(args[2])) / 2 {
		must(net.Dial("tcp", own.Addr().String()))
		must(own.Accept())
	}
	lines := bufio.NewScanner(os.Stdin)
	fmt.Println("ready")
	for try := 0; lines.Scan(); try++ {
		c, err := net.Dial("tcp", address)
		if err != nil {
			fmt.Println("error", err)
			continue
		}
		c.Write(request)
		fmt.Println(c.LocalAddr().(*net.TCPAddr).Port)
		time.Sleep(time.Duration(try%10) * 300 * time.Microsecond)
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
}

// impersonate listens in place of a server: unix PATH, or tcp ADDRESS. It prints its input, and answers each
// request with an empty document.
func impersonate(args []string) {
	l := must(net.Listen(args[0], args[1]))
	if args[0] == "unix" {
		os.Chmod(args[1], 0o777)
	}
	fmt.Println("ready")
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			fmt.Println("connection")
			r := bufio.NewReader(c)
			for {
				line, err := r.ReadString('\n')
				if line != "" {
					fmt.Printf("got %q\n", line)
				}
				if err != nil {
					return
				}
				if line == "\r\n" {
					io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
				}
			}
		}()
	}
}

// stay is a request that lets its connection stay open: servers close connections without a request.
const stay = `GET /healthz HTTP/1.1\r\nHost: fairlead\r\n\r\n`

// stayEvery is the interval between these requests: servers keep connections with earlier requests for minutes.
const stayEvery = 20 * time.Second

// holdConnections opens connections, sends a request on each, and keeps them: unix|tcp ADDRESS NUMBER [REQUEST]. It
// prints how many the server answered, by status, and how many it refused, and ends at the end of its input. Without
// REQUEST it sends the request "stay" at intervals, and counts answered connections as open.
func holdConnections(args []string) {
	request := stay
	if len(args) > 3 {
		request = args[3]
	}
	request = strings.ReplaceAll(request, `\r\n`, "\r\n")
	var kept []net.Conn
	failed := 0
	for range must(strconv.Atoi(args[2])) {
		c, err := net.Dial(args[0], args[1])
		if err != nil {
			failed++
			continue
		}
		io.WriteString(c, request)
		kept = append(kept, c)
	}
	answers := answersOn(kept)
	if len(args) < 4 {
		answers["open"], answers["200"] = answers["200"], 0
		go func() {
			for range time.Tick(stayEvery) {
				for _, c := range kept {
					io.WriteString(c, request)
				}
			}
		}()
	}
	fmt.Printf("ready failed=%d", failed)
	for _, word := range []string{"open", "closed", "200", "401", "429", "503"} {
		fmt.Printf(" %s=%d", word, answers[word])
	}
	fmt.Println()
	io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(kept)
}

// answersOn counts the statuses of the answers on connections, and the connections that are closed without
// one.
func answersOn(kept []net.Conn) map[string]int {
	var mu sync.Mutex
	answers := map[string]int{}
	var all sync.WaitGroup
	for _, c := range kept {
		all.Go(func() {
			c.SetReadDeadline(time.Now().Add(patience))
			line, err := bufio.NewReader(c).ReadString('\n')
			word := "silent"
			if f := strings.Fields(line); len(f) > 1 {
				word = f[1]
			} else if err != nil && !os.IsTimeout(err) {
				word = "closed"
			}
			mu.Lock()
			answers[word]++
			mu.Unlock()
		})
	}
	all.Wait()
	return answers
}

// needRoot skips a test that has to run commands as other users.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		daemons.Skip(t, "only root can become another user")
	}
}

// shared returns a directory that all users may read. It is removed after the test.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fl-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// removePrograms removes the directory of programs, if a test has made it.
var removePrograms = func() {}

// programs copies this test binary to a directory where every user may run it. The name of each copy makes
// the binary act as another program.
var programs = sync.OnceValues(func() (string, error) {
	dir, remove, err := tempdir.New("", "fl-programs-")
	if err != nil {
		return "", err
	}
	removePrograms = remove
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(self)
	if err != nil {
		return "", err
	}
	for _, name := range []string{"fairlead", "intruder"} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o755); err != nil {
			return "", err
		}
	}
	return dir, nil
})

// tests runs all tests and then cleans up.
type tests struct{ *testing.M }

// Run runs the tests and removes the directory of programs.
func (t tests) Run() int {
	defer func() { removePrograms() }()
	return t.M.Run()
}

// actor is a process of a user in a test.
type actor struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *background
}

// as prepares a program that runs as a user, with its own environment.
func as(t *testing.T, uid int, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	at, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(at, name), args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "NO_COLOR=1"}
	if uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	return cmd
}

// start starts a prepared program, which ends with the test.
func start(t *testing.T, cmd *exec.Cmd) *actor {
	t.Helper()
	a := &actor{t: t, cmd: cmd, out: &background{}}
	cmd.Stdout, cmd.Stderr = a.out, a.out
	var err error
	if a.in, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.end)
	return a
}

// end ends the process, if it still runs.
func (a *actor) end() {
	if a.cmd.ProcessState != nil {
		return
	}
	a.in.Close()
	a.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(patience, func() { a.cmd.Process.Kill() })
	defer timer.Stop()
	a.cmd.Wait()
}

// says waits until the process has printed a text, and returns its whole output.
func (a *actor) says(text string) string {
	a.t.Helper()
	out := ""
	await.Until(a.t, fmt.Sprintf("%s says %q", a.cmd.Args[0], text), func() (any, bool) {
		out = a.out.String()
		return out, strings.Contains(out, text)
	})
	return out
}

// daemon starts a server as a user and returns it with its socket and its address.
func daemon(t *testing.T, uid int, flags ...string) (a *actor, socket, address string) {
	t.Helper()
	dir := shared(t)
	if err := os.Chown(dir, uid, uid); err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(dir, "s")
	a = start(t, as(t, uid, dir, "fairlead", append([]string{"serve", "--db", filepath.Join(dir, "jobs.db"), "--socket", socket, "--listen", "127.0.0.1:0"}, flags...)...))
	for line := range strings.Lines(a.says("  try ")) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], "http://") {
			address, _, _ = strings.Cut(strings.TrimPrefix(f[1], "http://"), "/")
		}
	}
	return a, socket, cmp.Or(address, "none")
}

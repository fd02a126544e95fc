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
)

// strangerUID is the user "nobody", as whom tests do what no user should get away with.
const strangerUID = 65534

// intruder is a program of its own for tests: it does what a user of the machine may try.
func intruder() {
	what, args := os.Args[1], os.Args[2:]
	do := map[string]func([]string){"ports": intrudePorts, "impostor": impersonate, "hold": holdConnections}[what]
	if do == nil {
		fmt.Fprintln(os.Stderr, "intruder: unknown:", what)
		os.Exit(2)
	}
	do(args)
}

// must ends the intruder if something went wrong.
func must[T any](v T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "intruder:", err)
		os.Exit(1)
	}
	return v
}

// intrudePorts sends a request from a port that is free for somebody else at once: ADDRESS FILE
// SOCKETS. It first opens that many sockets of its own, which makes each look at the list of all
// sockets slow. It prints the port of each try before the request, and goes on when a line comes in.
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

// impersonate listens in the place of a server: unix PATH, or tcp ADDRESS. It prints what comes in.
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

// stay is a request that leaves its connection open for longer than silence does: servers end connections on which
// nobody asks.
const stay = `GET /healthz HTTP/1.1\r\nHost: fairlead\r\n\r\n`

// stayEvery is how often it is sent: servers keep connections for minutes on which somebody has asked before.
const stayEvery = 20 * time.Second

// holdConnections opens connections, asks on each, and keeps them: unix|tcp ADDRESS NUMBER [REQUEST]. It prints how
// many the server has answered, by the status, and how many it refused, and ends when its input does. Without a request
// of its own it asks now and then for as long as it lives, and those that are answered are open.
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

// answersOn counts the statuses with which connections are answered, and those that are closed without one.
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

// needRoot skips a test that has to become somebody else.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to become another user")
	}
}

// shared is a directory in which all users may look, and which is removed at the end.
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

// copies is the directory of programs, if a test has made it.
var copies string

// programs are copies of this test binary under the names by which it is other programs, where
// every user may run them.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fl-programs-")
	if err != nil {
		return "", err
	}
	copies = dir
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
	return dir, os.Chmod(dir, 0o755)
})

// tests are all tests, with what is to be removed after them.
type tests struct{ *testing.M }

// Run runs them.
func (t tests) Run() int {
	defer func() {
		if copies != "" {
			os.RemoveAll(copies)
		}
	}()
	return t.M.Run()
}

// actor is a process of a user in a test.
type actor struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *background
}

// as prepares a program that runs as a user, with an environment of its own.
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

// start starts a prepared program and ends it with the test.
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

// end ends it, if it has not ended.
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

// says waits until it has printed a text, and returns all that it has printed.
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

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/remote"
)

// intrusion is an intruder that releases a port at each command.
type intrusion struct {
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Scanner
}

func newIntrusion(t *testing.T, address, request string, sockets int) *intrusion {
	t.Helper()
	dir := shared(t)
	file := filepath.Join(dir, "request")
	if err := os.WriteFile(file, []byte(request), 0o644); err != nil {
		t.Fatal(err)
	}
	x := as(t, strangerUID, dir, "intruder", "ports", address, file, strconv.Itoa(sockets))
	out, err := x.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := x.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); x.Wait() })
	i := &intrusion{t, in, bufio.NewScanner(out)}
	if got := i.line(); got != "ready" {
		t.Fatalf("the intruder says %q", got)
	}
	return i
}

func (i *intrusion) line() string {
	i.t.Helper()
	if !i.lines.Scan() {
		i.t.Fatal("the intruder has ended")
	}
	return i.lines.Text()
}

// port makes the intruder send its request, and returns the port that it used.
func (i *intrusion) port() int {
	i.t.Helper()
	fmt.Fprintln(i.in, "go")
	text := i.line()
	port, err := strconv.Atoi(text)
	if err != nil {
		i.t.Fatal(text)
	}
	return port
}

// sessionCookie signs this user in, as a browser does, and returns the cookie.
func sessionCookie(t *testing.T, client *api.Client) string {
	t.Helper()
	link, err := client.SignIn(t.Context(), api.SignInRequest{Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := stay.Get(link.Address)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if len(resp.Cookies()) != 1 {
		t.Fatalf("status %d, and no cookie", resp.StatusCode)
	}
	return resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value
}

// TestPortIsNoIdentity lets a user send requests and release the port of each at once, so that an administrator's
// connection gets the port while the server handles the request. The server must not carry out a request under a name
// other than the sender's, and must carry out the administrator's requests.
func TestPortIsNoIdentity(t *testing.T) {
	needRoot(t)
	t.Parallel()
	const rounds = 100
	_, socket, address := daemon(t, 0)
	client, err := api.Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	cookie := sessionCookie(t, client)
	submission := func(name, header string) string {
		body := fmt.Sprintf(`{"jobs":[{"argv":["true"],"held":true,"name":%q}]}`, name)
		return fmt.Sprintf("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", header, len(body), body)
	}
	i := newIntrusion(t, address, submission("forged", ""), 8000)
	taken := 0
	for range rounds {
		c := takePort(t, i.port(), address)
		if c == nil {
			continue
		}
		taken++
		fmt.Fprint(c, submission("right", "Cookie: "+cookie+"\r\n"))
		c.SetReadDeadline(time.Now().Add(patience))
		if got, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(got, "200") {
			t.Errorf("the administrator's request gets %q, %v", got, err)
		}
		c.Close()
	}
	list, err := client.Jobs.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	done := map[string]int{}
	for _, j := range list.Jobs {
		done[j.Name+" of "+j.User]++
	}
	t.Logf("the port changed hands in %d of %d rounds; jobs: %v", taken, rounds, done)
	if taken < rounds/2 || len(done) != 1 || done["right of root"] != taken {
		t.Errorf("the administrator had the port %d times, and there are the jobs %v", taken, done)
	}
}

// takePort connects from a port as soon as it is free.
func takePort(t *testing.T, port int, address string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}, Control: func(_, _ string, c syscall.RawConn) (err error) {
		return errors.Join(c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) }), err)
	}}
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	for ctx.Err() == nil {
		if c, err := d.DialContext(ctx, "tcp", address); err == nil {
			return c
		}
	}
	return nil
}

// said returns the output of a command and its exit status.
func said(cmd *exec.Cmd) (string, int) {
	out, err := cmd.CombinedOutput()
	status := 0
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		status = -1
	}
	return string(out), status
}

// TestImpostor lets a user listen in place of a server. Other users' commands, agents, bridges and programs send
// nothing there, and their errors name that user.
func TestImpostor(t *testing.T) {
	needRoot(t)
	t.Parallel()
	dir := shared(t)
	if err := os.Chown(dir, strangerUID, strangerUID); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	impostor := start(t, as(t, strangerUID, dir, "intruder", "impostor", "unix", path))
	impostor.says("ready")
	home := t.TempDir()
	for _, args := range [][]string{
		{"queue"}, {"submit", "--", "true"}, {"cancel", "1"}, {"shares"}, {"config", "set", "policy=fair"}, {"dashboard"}, {"boost", "/a", "x2", "--for", "1h"}, {"why", "1"}, {"nodes", "--json"},
	} {
		out, status := said(as(t, 0, home, "fairlead", append([]string{"--server", path}, args...)...))
		if status != api.ExitUnreachable || !strings.Contains(out, "nobody (uid 65534)") {
			t.Errorf("%v: status %d: %s", args, status, out)
		}
	}
	out, status := said(as(t, 0, home, "fairlead", "doctor", "--server", path))
	if status == 0 || !strings.Contains(out, "nobody (uid 65534)") {
		t.Errorf("doctor: status %d: %s", status, out)
	}
	out, status = said(as(t, 0, home, "fairlead", "bridge", "queue", "--to", path, "--server", path, "--group", "all=100", "--check"))
	if status != api.ExitUnreachable || !strings.Contains(out, "nobody (uid 65534)") {
		t.Errorf("bridge: status %d: %s", status, out)
	}
	agent := start(t, as(t, 0, home, "fairlead", "work", "--server", path, "--name", "n1", "--dir", filepath.Join(home, "agent"), "--allow-root"))
	agent.says("nobody (uid 65534)")
	bridge := start(t, as(t, 0, home, "fairlead", "bridge", "queue", "--to", path, "--server", path, "--dir", filepath.Join(home, "bridge"), "--group", "all=100"))
	bridge.says("nobody (uid 65534)")
	client, err := remote.Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Nodes(t.Context()); !errors.Is(err, api.ErrUnreachable) || !strings.Contains(err.Error(), "uid 65534") {
		t.Errorf("the library: %v", err)
	}
	agent.end()
	bridge.end()
	if got := impostor.out.String(); strings.Contains(got, "got ") || !strings.Contains(got, "connection") {
		t.Errorf("the impostor got:\n%s", got)
	}
}

// TestImpostorOnPort checks that no program of ours connects to a port, even if there is no socket: nothing proves
// which user listens on a port.
func TestImpostorOnPort(t *testing.T) {
	needRoot(t)
	t.Parallel()
	dir := shared(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	impostor := start(t, as(t, strangerUID, dir, "intruder", "impostor", "tcp", address))
	impostor.says("ready")
	home := t.TempDir()
	for _, args := range [][]string{{"queue"}, {"submit", "--", "true"}, {"work", "--name", "n1"}, {"bridge", "queue", "--to", "http://" + address, "--group", "all=100", "--check"}} {
		for _, server := range []string{"http://" + address, address} {
			out, status := said(as(t, 0, home, "fairlead", append([]string{"--server", server}, args...)...))
			if status != api.ExitUsage || !strings.Contains(out, "a port does not show who listens on it") {
				t.Errorf("%v: status %d: %s", args, status, out)
			}
		}
	}
	if _, err := remote.Dial("http://" + address); err == nil {
		t.Error("the library takes the address")
	}
	if got := impostor.out.String(); strings.Contains(got, "connection") {
		t.Errorf("the impostor was asked:\n%s", got)
	}
	// This user has no server, and the machine may have none either.
	if _, err := os.Stat(systemSocket); err != nil {
		out, status := said(as(t, strangerUID, dir, "fairlead", "queue"))
		if status != api.ExitUnreachable || !strings.Contains(out, systemSocket+" does not exist") {
			t.Errorf("without a server: status %d: %s", status, out)
		}
	}
}

// TestServerUser checks that clients trust the server of another user only if that user was named.
func TestServerUser(t *testing.T) {
	needRoot(t)
	t.Parallel()
	_, path, _ := daemon(t, strangerUID)
	home := t.TempDir()
	config := filepath.Join(home, ".config", "fairlead")
	if err := os.MkdirAll(config, 0o755); err != nil {
		t.Fatal(err)
	}
	ask := func(env string, args ...string) (string, int) {
		cmd := as(t, 0, home, "fairlead", append(args, "queue")...)
		cmd.Env = append(cmd.Env, env)
		return said(cmd)
	}
	for _, c := range []struct {
		name, env string
		args      []string
		status    int
		say       string
	}{
		{"not named", "", []string{"--server", path}, api.ExitUnreachable, "--server-user nobody"},
		{"by the flag", "", []string{"--server", path, "--server-user", "nobody"}, 0, ""},
		{"by number", "", []string{"--server", path, "--server-user", "65534"}, 0, ""},
		{"by the environment", "FAIRLEAD_SERVER_USER=nobody", []string{"--server", path}, 0, ""},
		{"another", "", []string{"--server", path, "--server-user", "daemon"}, api.ExitUnreachable, "uid 65534"},
		{"one who is not there", "", []string{"--server", path, "--server-user", "nobody-else"}, api.ExitUsage, "there is no user"},
	} {
		if out, status := ask(c.env, c.args...); status != c.status || !strings.Contains(out, c.say) {
			t.Errorf("%s: status %d: %s", c.name, status, out)
		}
	}
	text := fmt.Sprintf("server: %s\nserver_user: nobody\n", path)
	if err := os.WriteFile(filepath.Join(config, "client.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, status := ask(""); status != 0 {
		t.Errorf("by client.yaml: status %d: %s", status, out)
	}
	client, err := remote.Dial(path, remote.ServerUser("nobody"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Nodes(t.Context()); err != nil {
		t.Errorf("the library: %v", err)
	}
}

// TestEverybodyReachesTheSocket checks that a server identifies each user of the machine on its socket by
// default, and admits only a group if the configuration says so.
func TestEverybodyReachesTheSocket(t *testing.T) {
	needRoot(t)
	t.Parallel()
	_, path, _ := daemon(t, 0)
	dir := shared(t)
	if out, _ := said(as(t, strangerUID, dir, "fairlead", "doctor", "--server", path)); !strings.Contains(out, "you are nobody, known by socket") {
		t.Errorf("an ordinary user: %s", out)
	}
	file := filepath.Join(dir, "fairlead.yaml")
	if err := os.WriteFile(file, []byte("server: {socket_mode: \"0660\", socket_group: daemon}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, closed, _ := daemon(t, 0, "--config", file)
	if out, status := said(as(t, strangerUID, dir, "fairlead", "queue", "--server", closed)); status != api.ExitUnreachable || !strings.Contains(out, "socket_group") {
		t.Errorf("a user outside the group: status %d: %s", status, out)
	}
	member := as(t, strangerUID, dir, "fairlead", "queue", "--server", closed)
	member.SysProcAttr.Credential.Groups = []uint32{1}
	if out, status := said(member); status != 0 {
		t.Errorf("a member of the group: status %d: %s", status, out)
	}
}

// TestHostileTemporaryDirectory checks a directory for this user's socket that another user made: the server does not
// use it, and commands do not connect there.
func TestHostileTemporaryDirectory(t *testing.T) {
	needRoot(t)
	t.Parallel()
	dir := shared(t)
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	const victim = 1 // daemon
	trap := filepath.Join(dir, "fairlead-1")
	if err := errors.Join(os.Mkdir(trap, 0o777), os.Chown(trap, strangerUID, strangerUID), os.Chmod(trap, 0o777)); err != nil {
		t.Fatal(err)
	}
	out, status := said(as(t, victim, dir, "fairlead", "serve", "--listen", "none", "--db", filepath.Join(dir, "x.db")))
	if status != 1 || !strings.Contains(out, "belongs to nobody (uid 65534)") || !strings.Contains(out, "--socket") {
		t.Errorf("serve: status %d: %s", status, out)
	}
	impostor := start(t, as(t, strangerUID, dir, "intruder", "impostor", "unix", filepath.Join(trap, "fairlead.sock")))
	impostor.says("ready")
	if _, err := os.Stat(systemSocket); err != nil {
		out, status = said(as(t, victim, dir, "fairlead", "queue"))
		if status != api.ExitUnreachable || strings.Contains(impostor.out.String(), "connection") {
			t.Errorf("queue: status %d: %s; the impostor: %s", status, out, impostor.out.String())
		}
	}
}

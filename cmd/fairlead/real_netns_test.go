//go:build real

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	daemons "github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/queue"
)

// networks are two networks joined by a link: the server is in one, a node in the other. Both are separate from the
// network of this machine, because a browser gives up its requests whenever that network changes.
type networks struct {
	near, far string
}

// nearAddress is the only address of the near network that the far network reaches.
const nearAddress = "10.213.0.1"

func newNetworks(t *testing.T) networks {
	t.Helper()
	if os.Getuid() != 0 {
		daemons.Skip(t, "only root can make a network")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		daemons.Skip(t, "there is no ip here: apt-get install iproute2")
	}
	n := networks{fmt.Sprint("flnear", os.Getpid()), fmt.Sprint("flfar", os.Getpid())}
	for _, name := range []string{n.near, n.far} {
		if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
			daemons.Skip(t, fmt.Sprintf("no network can be made here: %s", out))
		}
		t.Cleanup(func() { exec.Command("ip", "netns", "del", name).Run() })
	}
	n.ip(t, "netns", "exec", n.near,
		"ip", "link", "add", "link0", "type", "veth", "peer", "name", "link0", "netns", n.far)
	for name, address := range map[string]string{n.near: nearAddress, n.far: "10.213.0.2"} {
		n.ip(t, "-n", name, "addr", "add", address+"/30", "dev", "link0")
		n.ip(t, "-n", name, "link", "set", "link0", "up")
		n.ip(t, "-n", name, "link", "set", "lo", "up")
	}
	return n
}

func (n networks) ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %s", strings.Join(args, " "), out)
	}
}

// inside makes a command run in one of the networks.
func inside(network string, c *exec.Cmd) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", network}, c.Args...)...)
}

// TestRealMachineElsewhere lets an agent in another network join over TLS and run tasks. A short outage of the link
// ends no task. After the node is revoked, its task runs elsewhere.
func TestRealMachineElsewhere(t *testing.T) {
	n := newNetworks(t)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	if out, err := program(t, "cluster", "init", "--authority", authority).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	l := newLab(t, fmt.Sprintf("server: {tls: {listen: %q, authority: %q}}\n", nearAddress+":0", authority))
	l.serveWith(inside(n.near, l.server()))
	address := l.match("server", `nodes +(https://\S+)`)
	permit := program(t, "nodes", "permit", "far", "--server", l.socket)
	permit.Stderr = nil
	token, err := permit.Output()
	if err != nil {
		t.Fatal(err)
	}
	l.run("far", inside(n.far, program(t, "work", "--server", address, "--name", "far", "--cpus", "4", "--allow-root",
		"--dir", filepath.Join(l.dir, "far"), "--drain", "1s", "--join", strings.TrimSpace(string(token)))))
	l.until("the node joins", func() bool { return l.node("far") == "up" })

	where := l.asRoot("readlink", "/proc/self/ns/net")
	l.until("the task of the other network ends", func() bool { return l.state(where) == string(queue.Succeeded) })
	out, err := program(t, "logs", fmt.Sprint(where), "--server", l.socket).Output()
	server, serr := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", l.procs["server"].Process.Pid))
	here, herr := os.Readlink("/proc/self/ns/net")
	if err := cmp.Or(err, serr, herr); err != nil {
		t.Fatal(err)
	}
	task := strings.TrimSpace(string(out))
	if !strings.HasPrefix(task, "net:[") || task == server || server == here {
		t.Errorf("the task was in %q, the server is in %s, and we are in %s", task, server, here)
	}
	long := l.asRoot("sleep", "1000")
	l.until("the long task runs", func() bool { return l.state(long) == string(queue.Running) })
	n.ip(t, "-n", n.near, "link", "set", "link0", "down")
	n.ip(t, "-n", n.near, "link", "set", "link0", "up")
	after := l.asRoot("true")
	l.until("a task ends after the link was cut", func() bool { return l.state(after) == string(queue.Succeeded) })
	if got := l.attempt(long); got != 1 {
		t.Errorf("attempt %d runs after the link was cut", got)
	}

	l.start("near", "work", "--server", l.socket, "--name", "near", "--cpus", "4", "--allow-root",
		"--dir", filepath.Join(l.dir, "near"), "--drain", "1s")
	l.until("the other node joins", func() bool { return l.node("near") == "up" })
	if out, err := program(t, "nodes", "revoke", "far", "--server", l.socket).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	l.until("the task runs elsewhere", func() bool {
		return l.attempt(long) == 2 && l.state(long) == string(queue.Running)
	})
	l.match("far", `node far was revoked`)
	l.stop("near")
}

// match waits until the log of a process matches a pattern, and returns the last group, or the whole match.
func (l *lab) match(name, pattern string) (found string) {
	l.t.Helper()
	re := regexp.MustCompile(pattern)
	l.until(name+" says "+pattern, func() bool {
		text, _ := os.ReadFile(l.log(name))
		m := re.FindStringSubmatch(string(text))
		if m != nil {
			found = m[len(m)-1]
		}
		return m != nil
	})
	return found
}

// asRoot submits a job of one task.
func (l *lab) asRoot(argv ...string) int64 {
	l.t.Helper()
	r, err := l.client.Jobs.Submit(l.t.Context(), api.SubmitRequest{Jobs: []api.Spec{{Argv: argv, Dir: "/"}}})
	if err != nil || r.Jobs[0].Error != nil {
		l.t.Fatalf("%+v, %v", r, err)
	}
	return r.Jobs[0].ID
}

func (l *lab) state(id int64) string {
	j, err := l.client.Jobs.Get(l.t.Context(), id)
	if err != nil {
		return ""
	}
	return string(j.Job.State)
}

func (l *lab) attempt(id int64) int {
	j, err := l.client.Jobs.Get(l.t.Context(), id)
	if err != nil || len(j.Tasks) == 0 {
		return 0
	}
	return j.Tasks[0].Attempt
}

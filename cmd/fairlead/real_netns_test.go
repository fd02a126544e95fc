//go:build real

package main

import (
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

// far is a separate network, like that of another machine: it reaches this machine by one address, and
// nothing else.
type far struct {
	name, link, address string
}

func newFar(t *testing.T) far {
	t.Helper()
	if os.Getuid() != 0 {
		daemons.Skip(t, "only root can make a network")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		daemons.Skip(t, "there is no ip here: apt-get install iproute2")
	}
	n := os.Getpid() % 250
	f := far{fmt.Sprint("flfar", n), fmt.Sprint("flnear", n), fmt.Sprintf("10.213.%d.1", n)}
	if out, err := exec.Command("ip", "netns", "add", f.name).CombinedOutput(); err != nil {
		daemons.Skip(t, fmt.Sprintf("no network can be made here: %s", out))
	}
	t.Cleanup(func() { exec.Command("ip", "netns", "del", f.name).Run() })
	other := fmt.Sprintf("10.213.%d.2/30", n)
	f.ip(t, "link", "add", f.link, "type", "veth", "peer", "name", "up0", "netns", f.name)
	t.Cleanup(func() { exec.Command("ip", "link", "del", f.link).Run() })
	f.ip(t, "addr", "add", f.address+"/30", "dev", f.link)
	f.ip(t, "link", "set", f.link, "up")
	f.ip(t, "-n", f.name, "addr", "add", other, "dev", "up0")
	f.ip(t, "-n", f.name, "link", "set", "up0", "up")
	f.ip(t, "-n", f.name, "link", "set", "lo", "up")
	return f
}

func (f far) ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %s", strings.Join(args, " "), out)
	}
}

// inside makes a command run in the other network.
func (f far) inside(c *exec.Cmd) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", f.name}, c.Args...)...)
}

// TestRealMachineElsewhere has an agent in another network join over TLS and run tasks. A short outage of the
// link ends no task. After the node is revoked, its task runs elsewhere.
func TestRealMachineElsewhere(t *testing.T) {
	f := newFar(t)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	if out, err := program(t, "cluster", "init", "--authority", authority).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	l := newLab(t, fmt.Sprintf("server: {tls: {listen: %q, authority: %q}}\n", f.address+":0", authority))
	l.serve()
	address := l.match("server", `nodes +(https://\S+)`)
	permit := program(t, "nodes", "permit", "far", "--server", l.socket)
	permit.Stderr = nil
	token, err := permit.Output()
	if err != nil {
		t.Fatal(err)
	}
	l.run("far", f.inside(program(t, "work", "--server", address, "--name", "far", "--cpus", "4", "--allow-root",
		"--dir", filepath.Join(l.dir, "far"), "--drain", "1s", "--join", strings.TrimSpace(string(token)))))
	l.until("the node joins", func() bool { return l.node("far") == "up" })

	where := l.asRoot("readlink", "/proc/self/ns/net")
	l.until("the task of the other network ends", func() bool { return l.state(where) == string(queue.Succeeded) })
	out, err := program(t, "logs", fmt.Sprint(where), "--server", l.socket).Output()
	here, herr := os.Readlink("/proc/self/ns/net")
	if err != nil || herr != nil || !strings.HasPrefix(string(out), "net:[") || strings.TrimSpace(string(out)) == here {
		t.Errorf("the task was in %q, and we are in %s: %v, %v", out, here, err, herr)
	}
	long := l.asRoot("sleep", "1000")
	l.until("the long task runs", func() bool { return l.state(long) == string(queue.Running) })
	f.ip(t, "link", "set", f.link, "down")
	f.ip(t, "link", "set", f.link, "up")
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

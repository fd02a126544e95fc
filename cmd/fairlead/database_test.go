package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/pgtest"
)

// onPostgres is a directory for the program, and a database.
type onPostgres struct {
	t            *testing.T
	dir, program string
	url          string
}

func (p *onPostgres) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.program, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "FAIRLEAD_SERVER="+filepath.Join(p.dir, "s"), "HOME="+p.dir, "XDG_STATE_HOME="+p.dir)
	return cmd
}

// run runs a command that must succeed.
func (p *onPostgres) run(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.t.Errorf("fairlead %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// serve starts a server and returns its output.
func (p *onPostgres) serve() (out *background, stop func()) {
	p.t.Helper()
	cmd := p.command("serve", "--dev", "--db", p.url, "--socket", filepath.Join(p.dir, "s"), "--listen", "none")
	out = &background{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(patience); !strings.Contains(out.String(), "  try "); {
		select {
		case err := <-ended:
			p.t.Fatalf("the server ended: %v\n%s", err, out)
		case <-time.After(5 * time.Millisecond):
			if time.Now().After(deadline) {
				cmd.Process.Kill()
				p.t.Fatalf("the server does not start:\n%s", out)
			}
		}
	}
	return out, func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := <-ended; err != nil {
			p.t.Errorf("the server ended: %v\n%s", err, out)
		}
	}
}

// TestServeOnPostgres runs a server on PostgreSQL: jobs run, submitted jobs survive a restart, and a second server
// knows the jobs and nodes of the first.
func TestServeOnPostgres(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &onPostgres{t: t, dir: t.TempDir(), url: pgtest.Own(t) + "&schema=jobs"}
	p.program = filepath.Join(p.dir, "fairlead") // under this name the test binary is the program
	if err := os.Symlink(program, p.program); err != nil {
		t.Fatal(err)
	}
	banner, stop := p.serve()
	if !strings.Contains(banner.String(), "database  PostgreSQL at /") || !strings.Contains(banner.String(), "database postgres, schema jobs") {
		t.Errorf("it does not say where the jobs are:\n%s", banner)
	}
	p.run("submit", "--wait", "--", "true")
	p.run("submit", "--wait", "--array", "0-9", "--", "true")
	held := p.run("submit", "--parsable", "--hold", "--", "true")
	p.second(held)
	stop()
	_, stop = p.serve()
	defer stop()
	if out := p.run("queue"); !strings.Contains(out, held) || !strings.Contains(out, "held") {
		t.Errorf("after a restart:\n%s", out)
	}
	p.run("release", held)
	p.run("submit", "--wait", "--after", "ok:"+held, "--", "true")
	if out := p.run("doctor"); !strings.Contains(out, "counters") {
		t.Errorf("doctor says:\n%s", out)
	}
}

// second runs another server on the same schema and asks it about a job of the first.
func (p *onPostgres) second(held string) {
	p.t.Helper()
	socket := filepath.Join(p.dir, "t")
	cmd := p.command("serve", "--db", p.url, "--socket", socket, "--listen", "none")
	out := &background{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	defer func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			p.t.Errorf("the second server ended: %v\n%s", err, out)
		}
	}()
	p.run("config", "set", "half_life=3d")
	await.Until(p.t, "the second server has the job, the node and the setting", func() (any, bool) {
		show, _ := p.command("config", "show", "half_life", "--server", socket).CombinedOutput()
		nodes, _ := p.command("nodes", "--server", socket).CombinedOutput()
		queue, err := p.command("queue", "--server", socket).CombinedOutput()
		return fmt.Sprintf("%s%s%s%s", show, nodes, queue, out), err == nil && strings.Contains(string(nodes), "up") &&
			strings.Contains(string(queue), held) && strings.Contains(string(show), "3d")
	})
}

//go:build real

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
	daemons "github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/why/replay"
)

// person is a user of the machine with work to do.
type person struct {
	name   string
	weight float64
	jobs   int
	work   string // what a job does with its standard input
	uid    uint32
	gid    uint32
}

// slots is the number of processors that the server's agent offers.
const slots = 8

// people returns users that every Debian has. Their jobs take very different times.
func people(t *testing.T) []*person {
	all := []*person{
		{name: "daemon", weight: 3, jobs: 18, work: "xz -6 | sha256sum"},
		{name: "bin", weight: 2, jobs: 32, work: "bzip2 -9 | sha256sum"},
		{name: "sys", weight: 1, jobs: 20, work: "gzip -9 | sha256sum"},
	}
	for _, p := range all {
		u, err := user.Lookup(p.name)
		if err != nil {
			daemons.Skip(t, err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		p.uid, p.gid = uint32(uid), uint32(gid)
	}
	return all
}

// TestRealUsers lets three users of the machine compress sources of Go, submitted as scripts with #SBATCH
// lines. While all jobs wait, it asks why for every job and recomputes the answer. Each job must run as its
// user and succeed.
func TestRealUsers(t *testing.T) {
	if os.Getuid() != 0 {
		daemons.Skip(t, "only root can run jobs as three users")
	}
	dir := t.TempDir()
	letPass(t, dir)
	all := people(t)
	packages := copySources(t, filepath.Join(dir, "src"), "bufio", "container", "sort", "strings")
	client := serveReal(t, dir, all)
	drainAll(t, client, true)
	submitAll(t, dir, client.Address, all, packages)
	if asked, wrong := askAll(t, client); wrong > 0 || asked != 70 {
		t.Errorf("%d of %d answers of why could not be recomputed, 70 jobs wait", wrong, asked)
	}
	drainAll(t, client, false)
	untilIdle(t, client)
	for _, p := range all {
		ended := 0
		for _, j := range list(t, client, "succeeded", "failed", "cancelled") {
			if j.User != p.name {
				continue
			}
			ended++
			if j.State != "succeeded" {
				t.Errorf("job %d of %s is %s: %s", j.ID, j.User, j.State, j.Cause)
			}
		}
		if ended != p.jobs {
			t.Errorf("%d jobs of %s ended, want %d", ended, p.name, p.jobs)
		}
		ran, err := os.ReadFile(filepath.Join(dir, "as", p.name))
		if want := strings.Repeat(fmt.Sprintln(p.uid), p.jobs); err != nil || string(ran) != want {
			t.Errorf("the jobs of %s ran as %q (%v), want %d times %d", p.name, ran, err, p.jobs, p.uid)
		}
	}
}

// drainAll drains the nodes, or resumes them.
func drainAll(t *testing.T, client *api.Client, drain bool) {
	t.Helper()
	nodes, err := client.Nodes.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes.Nodes {
		if _, err := client.Nodes.Drain(t.Context(), n.Name, api.DrainRequest{Drain: drain, Reason: "jobs are submitted"}); err != nil {
			t.Fatal(err)
		}
	}
}

// letPass lets other users pass through the directories above a file.
func letPass(t *testing.T, dir string) {
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// copySources copies folders of the sources of Go to a place that every user can read, and returns the
// directories with Go files.
func copySources(t *testing.T, to string, folders ...string) (packages []string) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(strings.TrimSpace(string(root)), "src")
	for _, folder := range folders {
		if err := os.CopyFS(filepath.Join(to, folder), os.DirFS(filepath.Join(from, folder))); err != nil {
			t.Fatal(err)
		}
	}
	err = filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			os.Chmod(path, 0o755)
			if files, _ := filepath.Glob(filepath.Join(path, "*.go")); len(files) > 0 {
				packages = append(packages, path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// serveReal starts a development server as an administrator would.
func serveReal(t *testing.T, dir string, all []*person) *api.Client {
	var b strings.Builder
	b.WriteString("pools:\n")
	for _, p := range all {
		fmt.Fprintf(&b, "  %s: {weight: %g}\n", p.name, p.weight)
	}
	file, socket := filepath.Join(dir, "fairlead.yaml"), filepath.Join(dir, "s")
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	c := program(t, "serve", "--dev", "--config", file, "--socket", socket, "--listen", "none", "--db", filepath.Join(dir, "db", "jobs.db"), "--cpus", strconv.Itoa(slots))
	os.Mkdir(filepath.Join(dir, "db"), 0o711)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Signal(os.Interrupt)
		c.Wait()
	})
	client, err := api.Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	await.Until(t, "the server answers and has its node", func() (any, bool) {
		nodes, err := client.Nodes.List(t.Context())
		return err, err == nil && len(nodes.Nodes) == 1
	})
	return client
}

// program returns a command that runs fairlead.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return exec.Command(binary(t), args...)
}

// binary returns the path of fairlead, in a place where every user may run it.
func binary(t *testing.T) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "fairlead")
}

// submitAll submits the jobs of all users at the same time, and the jobs of each user one after the other.
func submitAll(t *testing.T, dir, address string, all []*person, packages []string) {
	var wg sync.WaitGroup
	as := filepath.Join(dir, "as") // each user's jobs write into a file here as which user they run
	if err := os.Mkdir(as, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		mine := filepath.Join(as, p.name)
		if err := errors.Join(os.WriteFile(mine, nil, 0o600), os.Chown(mine, int(p.uid), int(p.gid))); err != nil {
			t.Fatal(err)
		}
		script := filepath.Join(dir, p.name+".sh")
		text := "#!/bin/sh\n#SBATCH --job-name=" + p.name + "-pack\n#SBATCH --cpus-per-task=1\n#SBATCH --time=5\n#SBATCH --output=/dev/null\n" +
			"id -u >> " + mine + "\nfor d; do cat \"$d\"/*.go; done | " + p.work + "\n"
		if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, uint64(p.uid)))
		order := random.Perm(len(packages))
		wg.Go(func() {
			for i := range p.jobs {
				args := []string{"submit", "--parsable", script}
				for k := range 1 + random.IntN(8) {
					args = append(args, packages[order[(8*i+k)%len(order)]])
				}
				c := program(t, args...)
				c.Dir = "/"
				c.Env = []string{"FAIRLEAD_SERVER=" + address, "HOME=/", "PATH=" + os.Getenv("PATH")}
				c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: p.uid, Gid: p.gid}}
				if out, err := c.CombinedOutput(); err != nil {
					t.Errorf("%s: %v: %s", p.name, err, out)
					return
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// list returns the jobs in the given states.
func list(t *testing.T, client *api.Client, states ...string) []api.Job {
	v := url.Values{"state": states, "limit": {"10000"}}
	l, err := client.Jobs.List(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	return l.Jobs
}

// askAll asks why for every waiting job, and recomputes each answer from its evidence.
func askAll(t *testing.T, client *api.Client) (asked, wrong int) {
	for _, j := range list(t, client, "waiting") {
		a, err := client.Jobs.Why(context.Background(), j.ID, explain.WhyOptions{Evidence: true})
		if err != nil {
			t.Fatal(err)
		}
		if a.Evidence == nil {
			continue // the job has started meanwhile
		}
		asked++
		for _, c := range replay.Verify(a, policy.Rule) {
			if !c.OK {
				wrong++
				text, _ := json.Marshal(c)
				t.Logf("job %d: %s", j.ID, text)
				break
			}
		}
	}
	return asked, wrong
}

// untilIdle waits until nothing waits or runs.
func untilIdle(t *testing.T, client *api.Client) {
	for left := math.MaxInt; left > 0; { // the server is not stuck as long as jobs end
		before := left
		await.Until(t, "a job ends", func() (any, bool) {
			left = len(list(t, client, "waiting", "running"))
			return fmt.Sprintf("%d jobs are left", left), left < before
		})
	}
}

//go:build real

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/why/replay"
)

// person is a user of the machine with what it has to do.
type person struct {
	name   string
	weight float64
	jobs   int
	work   string // what a job does with the text on its standard input
	uid    uint32
	gid    uint32
}

// people are users that every Debian has. Their work takes very different times.
func people(t *testing.T) []*person {
	all := []*person{
		{name: "daemon", weight: 3, jobs: 450, work: "xz -6 | sha256sum"},
		{name: "bin", weight: 2, jobs: 800, work: "bzip2 -9 | sha256sum"},
		{name: "sys", weight: 1, jobs: 500, work: "gzip -9 | sha256sum"},
	}
	for _, p := range all {
		u, err := user.Lookup(p.name)
		if err != nil {
			t.Skip(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		p.uid, p.gid = uint32(uid), uint32(gid)
		p.jobs *= max(1, runtime.NumCPU()/2) // enough for a minute or so
	}
	return all
}

// slots is what the machine offers. Shares are compared over windows of at least the length
// window, windows of which fit side by side into the time in which all have work. At as many
// moments every waiting job is asked why.
const (
	slots   = 8
	windows = 6
	window  = 10 * time.Second
	moments = 10
)

// TestRealWork lets three users of the machine compress and hash the sources of Go,
// submitted as scripts with #SBATCH lines, and compares what they receive with their
// weights. At random moments it asks every waiting job why, and recomputes the answer.
func TestRealWork(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("to run jobs as three users it has to be root")
	}
	dir := t.TempDir()
	letPass(t, dir)
	all := people(t)
	packages := copySources(t, filepath.Join(dir, "src"))
	client := serveReal(t, dir, all)
	// Nothing begins before everything is submitted: on a busy machine the first user could
	// else be done before the last one has submitted.
	drainAll(t, client, true)
	submitAll(t, dir, client.Address, all, packages)
	drainAll(t, client, false)
	backlogged := time.Now()
	asked, wrong := 0, 0
	for range moments {
		time.Sleep(time.Duration(1+rand.Float64()*6) * time.Second)
		a, w := askAll(t, client)
		asked, wrong = asked+a, wrong+w
	}
	t.Logf("why and why --verify: %d answers at %d moments, %d disagree", asked, moments, wrong)
	if wrong > 0 || asked == 0 {
		t.Errorf("%d of %d answers could not be recomputed", wrong, asked)
	}
	untilIdle(t, client)
	compareShares(t, client, all, backlogged)
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

// copySources copies the sources of Go to where every user can read them, and returns
// the directories that hold some.
func copySources(t *testing.T, to string) (packages []string) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(strings.TrimSpace(string(root)), "src")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
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
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		nodes, err := client.Nodes.List(t.Context())
		if err == nil && len(nodes.Nodes) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not answer: %v", err)
		}
	}
	return client
}

// program is a run of fairlead.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	binary, err := realBinary()
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(binary, args...)
}

// realBinary builds the program where every user may run it.
var realBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fairlead-real-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "fairlead")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return binary, os.Chmod(dir, 0o755)
})

// submitAll submits the jobs of all users at once, each user its own one after the
// other.
func submitAll(t *testing.T, dir, address string, all []*person, packages []string) {
	var wg sync.WaitGroup
	for _, p := range all {
		script := filepath.Join(dir, p.name+".sh")
		text := "#!/bin/sh\n#SBATCH --job-name=" + p.name + "-pack\n#SBATCH --cpus-per-task=1\n#SBATCH --time=5\n#SBATCH --output=/dev/null\n" +
			"for d; do cat \"$d\"/*.go; done | " + p.work + "\n"
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

// askAll asks every waiting job why, and recomputes each answer from what it prints.
func askAll(t *testing.T, client *api.Client) (asked, wrong int) {
	for _, j := range list(t, client, "waiting") {
		a, err := client.Jobs.Why(context.Background(), j.ID, explain.WhyOptions{Evidence: true})
		if err != nil {
			t.Fatal(err)
		}
		if a.Evidence == nil {
			continue // it has started meanwhile
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
	for len(list(t, client, "waiting", "running")) > 0 {
		time.Sleep(100 * time.Millisecond)
	}
}

// allHadWork is until when something of every user waited.
func allHadWork(jobs []api.Job) time.Time {
	last := map[string]time.Time{}
	for _, j := range jobs {
		if j.Started.After(last[j.User]) {
			last[j.User] = *j.Started
		}
	}
	return slices.MinFunc(slices.Collect(maps.Values(last)), time.Time.Compare)
}

// compareShares compares what users received in every window, moved by a tenth of it each
// time, with their weights. On a busy machine each job takes longer; the windows are then
// longer, too, and hold as many jobs.
func compareShares(t *testing.T, client *api.Client, all []*person, from time.Time) {
	jobs := list(t, client, "succeeded", "failed", "cancelled")
	weights, worst := 0.0, 0.0
	var shortest, longest time.Duration = math.MaxInt64, 0
	for _, p := range all {
		weights += p.weight
	}
	for _, j := range jobs {
		if j.State != "succeeded" {
			t.Fatalf("job %d of %s is %s: %s", j.ID, j.User, j.State, j.Cause)
		}
		shortest, longest = min(shortest, j.Ended.Sub(*j.Started)), max(longest, j.Ended.Sub(*j.Started))
	}
	to := allHadWork(jobs)
	length := max(window, to.Sub(from)/windows)
	t.Logf("all had work for %v", to.Sub(from).Round(time.Second))
	n := 0
	for at := from; !at.Add(length).After(to); at = at.Add(length / 10) {
		n++
		got := parts(jobs, at, at.Add(length))
		line := ""
		for _, p := range all {
			share, right := got[p.name], p.weight/weights
			worst = max(worst, math.Abs(share-right))
			line += fmt.Sprintf("  %s %.1f%% of %.1f%%", p.name, 100*share, 100*right)
		}
		t.Logf("window %2d:%s", n, line)
	}
	t.Logf("%d jobs of %v to %v; largest distance from the weights in %d windows of %v: %.1f points", len(jobs), shortest.Round(time.Millisecond), longest.Round(time.Millisecond), n, length.Round(time.Second), 100*worst)
	if worst > 0.05 || n < 5 {
		t.Errorf("shares are off by %.1f points in %d windows; they have to stay within 5", 100*worst, n)
	}
}

// parts are the parts of all time in slots that each user had from one instant to another.
func parts(jobs []api.Job, from, to time.Time) map[string]float64 {
	got, total := map[string]float64{}, 0.0
	for _, j := range jobs {
		d := overlap(*j.Started, *j.Ended, from, to)
		got[j.User] += d
		total += d
	}
	for user := range got {
		got[user] /= total
	}
	return got
}

func overlap(a, b, from, to time.Time) float64 {
	if a.Before(from) {
		a = from
	}
	if b.After(to) {
		b = to
	}
	return max(0, b.Sub(a).Seconds())
}

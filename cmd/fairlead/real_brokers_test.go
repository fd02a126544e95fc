//go:build real

package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/brokertest"
	"github.com/fairlead/fairlead/internal/daemon"
)

// brokerRig is a server, a bridge and a worker, each a process of its own, and a broker.
type brokerRig struct {
	*testing.T
	*api.Client
	dir, kind, to string
	bridge        *daemon.Daemon
}

// TestRealBrokers kills the bridge, and the broker, at random instants while jobs come and
// run: none is lost, and none is submitted twice.
func TestRealBrokers(t *testing.T) {
	t.Run("beanstalkd", func(t *testing.T) {
		b := brokertest.NewBeanstalkd(t)
		killBridges(t, "beanstalkd", b.Address, 60, 15, 2, b.Kill, func() { b.Start(t) })
	})
	t.Run("rabbitmq", func(t *testing.T) {
		b := brokertest.NewRabbitMQ(t)
		killBridges(t, "rabbitmq", b.URL, 40, 5, 0, b.Kill, func() { b.Start(t) })
	})
}

func killBridges(t *testing.T, kind, to string, kills, restarts, forgets int, kill, start func()) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	r := newBrokerRig(t, kind, to)
	const perKill = 6
	pools := []string{"physics", "biology", "chemistry", "daq"}
	for n := range kills {
		for range perKill {
			r.submit(pools[rng.IntN(len(pools))])
		}
		<-time.After(time.Duration(rng.IntN(400)) * time.Millisecond)
		r.bridge.Signal(syscall.SIGKILL, time.Minute)
		if n*restarts/kills != (n+1)*restarts/kills {
			r.carry() // so that it is at work when the broker goes
			<-time.After(time.Duration(rng.IntN(400)) * time.Millisecond)
			kill()
			r.bridge.Signal(syscall.SIGKILL, time.Minute)
			start()
		}
		r.carry()
	}
	all := kills * perKill
	r.untilEnded(all)
	r.count(all, restarts, forgets)
}

func newBrokerRig(t *testing.T, kind, to string) *brokerRig {
	t.Helper()
	r := &brokerRig{T: t, dir: t.TempDir(), kind: kind, to: to}
	socket := filepath.Join(r.dir, "s")
	r.run("serve", "--db", filepath.Join(r.dir, "jobs.db"), "--socket", socket, "--listen", "none", "--log", "warn")
	var err error
	if r.Client, err = api.Dial(socket); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Client.Close)
	for end := time.Now().Add(time.Minute); ; <-time.After(20 * time.Millisecond) {
		if _, err = r.Nodes(t.Context()); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the server does not answer: ", err)
		}
	}
	r.run("bridge", "worker", kind, "--to", to, "--slots", "4", "--any-user", "--allow-root", "--dir", filepath.Join(r.dir, "worker"), "--log", "error")
	r.carry()
	return r
}

// run runs a part of the program until the test ends.
func (r *brokerRig) run(args ...string) *daemon.Daemon {
	r.Helper()
	c := program(r.T, args...)
	c.Stderr = os.Stderr
	d, err := daemon.Start(c, syscall.SIGKILL)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() {
		if d.Alive() {
			d.Signal(syscall.SIGKILL, time.Minute)
		}
	})
	return d
}

// carry starts the bridge.
func (r *brokerRig) carry() {
	r.Helper()
	r.bridge = r.run("bridge", r.kind, "--to", r.to, "--server", filepath.Join(r.dir, "s"), "--dir", filepath.Join(r.dir, "bridge"),
		"--group", "physics=50,biology=30,chemistry=20", "--above", "daq", "--log", "error")
}

// submit submits a job that says which it is.
func (r *brokerRig) submit(pool string) {
	r.Helper()
	command := `echo "$FAIRLEAD_JOB $FAIRLEAD_MARKER" >> "$0"; sleep 0.05`
	resp, err := r.Submit(r.Context(), api.SubmitRequest{Jobs: []api.Spec{{Pool: pool, Dir: "/", Argv: []string{"/bin/sh", "-c", command, filepath.Join(r.dir, "trace")}}}})
	if err != nil || resp.Jobs[0].Error != nil {
		r.Fatal(err, resp)
	}
}

// untilEnded waits until all jobs have succeeded.
func (r *brokerRig) untilEnded(all int) {
	r.Helper()
	for end := time.Now().Add(3 * time.Minute); ; <-time.After(100 * time.Millisecond) {
		left := 0
		for id := int64(1); id <= int64(all); id++ {
			j, err := r.Job(r.Context(), id)
			if err != nil {
				r.Fatal(err)
			}
			if j.Job.State != "succeeded" {
				left++
			}
			if j.Job.State == "failed" || j.Job.State == "cancelled" {
				r.Fatalf("job %d: %+v", id, j)
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(end) {
			r.Fatalf("%d jobs have not ended", left)
		}
	}
}

// count says how often jobs were submitted, and ran.
func (r *brokerRig) count(all, restarts, forgets int) {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, "trace"))
	if err != nil {
		r.Fatal(err)
	}
	markers, ran := map[string]map[string]bool{}, 0
	for line := range strings.Lines(string(text)) {
		job, marker, _ := strings.Cut(strings.TrimSpace(line), " ")
		if markers[job] == nil {
			markers[job] = map[string]bool{}
		}
		markers[job][marker] = true
		ran++
	}
	twice := 0
	for job, m := range markers {
		if len(m) != 1 {
			twice++
			r.Logf("job %s was submitted %d times: %v", job, len(m), m)
		}
	}
	if twice > forgets { // what the broker forgets is submitted again
		r.Errorf("%d jobs were submitted more than once", twice)
	}
	// What runs while the broker is killed is given out again, as brokers do.
	if len(markers) != all || ran > all+4*restarts {
		r.Errorf("%d jobs ran %d times; %d were submitted", len(markers), ran, all)
	}
	r.Logf("%d jobs ran %d times", all, ran)
}

//go:build campaign

package main

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
)

var bridgeKills = flag.Int("bridge-kills", 20, "how often a TestCampaignBridgeXyz kills the bridge; a quarter as often each the queueing system is restarted and the server killed")

// bridgedQS is a queueing system for the chaos tests of bridges. The test of another system is a function
// TestCampaignBridgeXyz that starts it and calls [bridgeChaos], in a file of its own (named
// campaign_bridge_*_test.go); scripts/campaign finds it by its name.
type bridgedQS struct {
	// kind and flags are the arguments of fairlead bridge KIND.
	kind  string
	flags []string
	// crash ends the queueing system abruptly and restarts it. Entries that it acknowledged must survive that. It may
	// return before the system answers.
	crash func()
	// reruns says that the queueing system may run an entry again under the same marker, if the entry ran
	// during a crash. Such runs are counted, and are no fault of the bridge.
	reruns bool
	// failed reports whether a cause says that the queueing system failed a job for its own reasons, for example
	// because it did not reach a node in time. A few such jobs that never ran are no fault of the bridge. Nil: no cause
	// says that.
	failed func(cause string) bool
	// mend does what an administrator does for entries that the queueing system lost track of in a crash: the system
	// believes that they run, but never began them. Nil: the system loses track of none.
	mend func()
	// left returns how many entries wait or run there. Nil: unknown.
	left func() int
	// shown returns the system's own report, for a run that failed. Nil: nothing.
	shown func() string
	// pause is the mean time between two kills; default 250ms.
	pause time.Duration
	// user owns the jobs, and trail is the file in which they write; default: the user and the file of the test.
	user, trail string
}

// TestCampaignBridgeQueue kills the bridge to another queue of fairlead, the server of that queue, and the
// server, at random instants.
func TestCampaignBridgeQueue(t *testing.T) {
	other := newRig(t, 20*time.Second)
	other.serve()
	other.work("m1", 8)
	bridgeChaos(t, bridgedQS{
		kind: "queue", flags: []string{"--to", other.socket},
		crash: func() {
			other.server.kill()
			other.startServer()
		},
		left: func() int {
			v := parameters("state", "waiting", "state", "queued", "state", "running")
			list, err := other.direct.Jobs.List(t.Context(), v)
			if err != nil {
				return -1
			}
			return len(list.Jobs)
		},
	})
}

// bridgeChaos lets users submit jobs while it kills the bridge, the queueing system behind it and the server
// at random instants. Then it checks in the files that the jobs wrote that each job ran, and was submitted
// once.
func bridgeChaos(t *testing.T, qs bridgedQS) {
	t.Helper()
	seed := *chaosSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("to repeat: -bridge-kills=%d -seed=%d", *bridgeKills, seed)
	c := &bridgeRun{rig: newRig(t, 20*time.Second), qs: qs, rng: rand.New(rand.NewPCG(seed, 0)), began: time.Now(), jobs: map[int64]string{}, kills: map[string]int{}}
	c.serve()
	c.startBridge()
	stop := make(chan struct{})
	submitted := make(chan struct{})
	go func() { defer close(submitted); c.submitAll(stop, rand.New(rand.NewPCG(seed, 1))) }()
	for _, victim := range c.victims() {
		c.fault(victim)
	}
	close(stop)
	<-submitted
	c.settle()
	c.audit()
}

// bridgeRun is a run of bridgeChaos.
type bridgeRun struct {
	*rig
	qs     bridgedQS
	rng    *rand.Rand
	began  time.Time
	bridge *proc
	jobs   map[int64]string // what each job does: ends, fails once, or is canceled
	kills  map[string]int
}

func (c *bridgeRun) startBridge() {
	args := append([]string{"bridge", c.qs.kind, "--server", c.socket, "--dir", filepath.Join(c.dir, "bridge"),
		"--group", "physics=60,biology=40", "--above", "daq", "--log", "info"}, c.qs.flags...)
	c.bridge = c.start("bridge", args...)
	c.mu.Lock()
	c.agents["bridge"] = c.bridge // so that it is ended with the others
	c.mu.Unlock()
}

// The victims of faults.
const (
	theBridge = "bridge"
	theQS     = "queueing system"
	theServer = "server"
)

// victims returns the victims in a random order.
func (c *bridgeRun) victims() []string {
	all := slices.Repeat([]string{theBridge}, *bridgeKills)
	all = append(all, slices.Repeat([]string{theQS, theServer}, (*bridgeKills+3)/4)...)
	c.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// fault ends one of the three victims after a moment and restarts it; the bridge starts after another short pause.
func (c *bridgeRun) fault(victim string) {
	c.t.Helper()
	time.Sleep(time.Duration(c.rng.ExpFloat64() * float64(cmp.Or(c.qs.pause, 250*time.Millisecond))))
	c.kills[victim]++
	switch victim {
	case theBridge:
		if c.bridge.ended() {
			c.t.Fatalf("the bridge ended by itself: %s", tail(c.bridge.log, 1500))
		}
		c.bridge.kill()
		time.Sleep(time.Duration(c.rng.IntN(200)) * time.Millisecond)
		c.startBridge()
	case theQS:
		c.qs.crash()
	case theServer:
		c.server.kill()
		c.startServer()
	}
}

// mostOpen is the maximum number of open jobs of the users, so that all end soon after the last kill, however slow the
// queueing system and the machine are.
const mostOpen = 500

// submitAll submits jobs until the channel "stop" is closed. A key makes sure that a job whose answer was lost is
// submitted once.
func (c *bridgeRun) submitAll(stop <-chan struct{}, rng *rand.Rand) {
	client := dial(c.t, c.socket)
	client.As = c.qs.user
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		for room := false; !room; {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			s, err := client.Status(c.t.Context())
			room = err == nil && s.Summary.Waiting+s.Summary.Running < mostOpen
		}
		what := "ends"
		switch rng.IntN(10) {
		case 0:
			what = "fails once"
		case 1:
			what = "is canceled"
		}
		spec := c.spec(what, rng)
		spec.Key = fmt.Sprint("chaos-", n)
		var id int64
		if !await.Within(mostWait, func() bool {
			resp, err := client.Jobs.Submit(c.t.Context(), api.SubmitRequest{Jobs: []api.Spec{spec}})
			if err != nil || resp.Jobs[0].Error != nil {
				return false
			}
			id = resp.Jobs[0].ID
			return true
		}) {
			c.t.Errorf("job %d was not taken within %v", n, mostWait)
			return
		}
		c.mu.Lock()
		c.jobs[id] = what
		c.mu.Unlock()
		if what == "is canceled" {
			await.Within(mostWait, func() bool {
				_, err := client.Jobs.Alter(c.t.Context(), api.AlterRequest{Verb: "cancel", Jobs: []int64{id}})
				return err == nil
			})
		}
	}
}

// spec returns a job that writes down its begin (b) and its end (e).
func (c *bridgeRun) spec(what string, rng *rand.Rand) api.Spec {
	note := func(what string) string {
		return fmt.Sprintf("echo %s $FAIRLEAD_JOB $FAIRLEAD_MARKER >> %s", what, c.trail())
	}
	script := fmt.Sprintf("%s; sleep %.2f; %s", note("b"), 0.3*rng.Float64(), note("e"))
	spec := api.Spec{Pool: []string{"physics", "biology", "daq"}[rng.IntN(3)], Dir: "/", LimitSeconds: 600}
	switch what {
	case "fails once":
		// The job fails until it is submitted once more: if the queueing system reruns it, it fails again.
		script += fmt.Sprintf("; grep \"^b $FAIRLEAD_JOB \" %s | grep -qv $FAIRLEAD_MARKER", c.trail())
		spec.Retries, spec.BackoffSeconds = 3, 0.01
	case "is canceled":
		script = note("b") + "; sleep 3; " + note("e")
	}
	spec.Argv = []string{"/bin/sh", "-c", script}
	return spec
}

// trail is the file to which jobs append their begins and ends.
func (c *bridgeRun) trail() string { return cmp.Or(c.qs.trail, filepath.Join(c.dir, "trail")) }

// settle waits until all jobs have ended. It gives up if none ends for a while.
func (c *bridgeRun) settle() {
	c.t.Helper()
	if !c.answers(c.server) {
		c.t.Fatal("the server does not answer at the end")
	}
	open := parameters("state", "waiting", "state", "queued", "state", "running", "limit", "10000")
	mended, patience := false, mostWait
	for left := -1; left != 0; {
		if before := left; !await.Within(patience, func() bool {
			list, err := c.direct.Jobs.List(c.t.Context(), open)
			if err != nil {
				return false
			}
			left = len(list.Jobs)
			return left != before
		}) {
			if c.qs.mend != nil && !mended {
				c.t.Logf("%d jobs are left, and none has ended for %v: the queueing system is mended", left, mostWait)
				c.qs.mend()
				mended, patience = true, 4*mostWait // Slurm delays requeued jobs by two minutes
				continue
			}
			if c.qs.shown != nil {
				c.t.Logf("the queueing system:\n%s", c.qs.shown())
			}
			list, _ := c.direct.Jobs.List(c.t.Context(), open)
			c.t.Fatalf("%d jobs are left, and none has ended for %v. One of them is %d:\n%s",
				left, patience, list.Jobs[0].ID, c.said(list.Jobs[0].ID))
		}
	}
	if c.qs.left != nil && !await.Within(mostWait, func() bool { return c.qs.left() == 0 }) {
		c.t.Errorf("%d entries are left in the queueing system", c.qs.left())
	}
}

// parameters builds query parameters from pairs of name and value.
func parameters(pairs ...string) map[string][]string {
	v := map[string][]string{}
	for i := 0; i < len(pairs); i += 2 {
		v[pairs[i]] = append(v[pairs[i]], pairs[i+1])
	}
	return v
}

// splitLines returns the words of each line of a text.
func splitLines(text string) [][]string {
	var out [][]string
	for line := range strings.Lines(text) {
		out = append(out, strings.Fields(line))
	}
	return out
}

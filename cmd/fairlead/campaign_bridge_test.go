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

// bridgedQS is a queueing system that the chaos of bridges hurts. The test of another one is
// a function TestCampaignBridgeXyz that starts it and calls [bridgeChaos], in a file of its own
// (named chaos_bridge_*_test.go); scripts/test and make chaos-bridge find it by its name.
type bridgedQS struct {
	// kind and flags are those of fairlead bridge KIND.
	kind  string
	flags []string
	// crash ends the queueing system, as a power failure would if it then has still what it
	// acknowledged, and starts it again. It may return before that answers.
	crash func()
	// reruns: an entry that ran when the queueing system crashed may be run again, by the
	// queueing system itself, under the same marker. That is counted, and no mistake of the bridge.
	reruns bool
	// failed reports whether a cause says that the queueing system failed a job for reasons of
	// its own, as when it does not reach a node in time. A few that never ran are no mistake of
	// the bridge; nil: there are none.
	failed func(cause string) bool
	// mend does what an administrator does for entries that the queueing system lost track of when
	// it crashed: it takes them to run, and has never begun them; nil: it loses track of none.
	mend func()
	// left is how many entries wait or run there; nil: nobody knows.
	left func() int
	// shown is what it says of itself, for a run that failed; nil: nothing.
	shown func() string
	// pause is the mean time between two kills; default 250ms.
	pause time.Duration
	// user is whose the jobs are, and trail the file in which they write; default: those of the test.
	user, trail string
}

// TestCampaignBridgeQueue kills the bridge to another queue of fairlead, that queue's server, and the
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

// bridgeChaos lets users submit jobs while the bridge, the queueing system behind it and the
// server are killed at random instants, and then reads what the jobs themselves wrote down:
// each ran, and each was submitted once.
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
	jobs   map[int64]string // what each does: ends, fails once, or is cancelled
	kills  map[string]int
}

func (c *bridgeRun) startBridge() {
	args := append([]string{"bridge", c.qs.kind, "--server", c.socket, "--dir", filepath.Join(c.dir, "bridge"),
		"--group", "physics=60,biology=40", "--above", "daq", "--log", "info"}, c.qs.flags...)
	c.bridge = c.start("bridge", args...)
	c.mu.Lock()
	c.agents["bridge"] = c.bridge // is ended with the others
	c.mu.Unlock()
}

// What is hurt.
const (
	theBridge = "bridge"
	theQS     = "queueing system"
	theServer = "server"
)

// victims are whom it hits, in a random order.
func (c *bridgeRun) victims() []string {
	all := slices.Repeat([]string{theBridge}, *bridgeKills)
	all = append(all, slices.Repeat([]string{theQS, theServer}, (*bridgeKills+3)/4)...)
	c.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// fault ends one of the three after a moment, and starts it again, the bridge sometimes only
// after another moment.
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

// mostOpen is how many jobs users have at a time, so that all have ended soon after the last kill,
// however slow the queueing system and the machine are.
const mostOpen = 500

// submitAll submits jobs until it is told to stop. A key makes sure that one whose answer was
// lost is one job.
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
			what = "is cancelled"
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
		if what == "is cancelled" {
			await.Within(mostWait, func() bool {
				_, err := client.Jobs.Alter(c.t.Context(), api.AlterRequest{Verb: "cancel", Jobs: []int64{id}})
				return err == nil
			})
		}
	}
}

// spec is a job that writes down that it began (b) and that it came to its end (e).
func (c *bridgeRun) spec(what string, rng *rand.Rand) api.Spec {
	note := func(what string) string {
		return fmt.Sprintf("echo %s $FAIRLEAD_JOB $FAIRLEAD_MARKER >> %s", what, c.trail())
	}
	script := fmt.Sprintf("%s; sleep %.2f; %s", note("b"), 0.3*rng.Float64(), note("e"))
	spec := api.Spec{Pool: []string{"physics", "biology", "daq"}[rng.IntN(3)], Dir: "/", LimitSeconds: 600}
	switch what {
	case "fails once":
		// Until it was submitted once more: one that the queueing system runs again fails again.
		script += fmt.Sprintf("; grep \"^b $FAIRLEAD_JOB \" %s | grep -qv $FAIRLEAD_MARKER", c.trail())
		spec.Retries, spec.BackoffSeconds = 3, 0.01
	case "is cancelled":
		script = note("b") + "; sleep 3; " + note("e")
	}
	spec.Argv = []string{"/bin/sh", "-c", script}
	return spec
}

// trail is the file in which jobs write down what they do; nothing is ever changed in it.
func (c *bridgeRun) trail() string { return cmp.Or(c.qs.trail, filepath.Join(c.dir, "trail")) }

// settle waits until all jobs have ended. It gives up when none does for a while.
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
				mended, patience = true, 4*mostWait // Slurm lets what it requeues wait for two minutes
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

// parameters are parameters, name after value.
func parameters(pairs ...string) map[string][]string {
	v := map[string][]string{}
	for i := 0; i < len(pairs); i += 2 {
		v[pairs[i]] = append(v[pairs[i]], pairs[i+1])
	}
	return v
}

// splitLines are the words of each line of a text.
func splitLines(text string) [][]string {
	var out [][]string
	for line := range strings.Lines(text) {
		out = append(out, strings.Fields(line))
	}
	return out
}

//go:build campaign

// The chaos suite kills real processes and checks afterwards that every promise was kept: make campaign
// ONLY=chaos-server. The comments of audit explain each number of its report.

package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/sqlite"
)

var (
	chaosKills = flag.Int("kills", 50, "how often TestCampaignServer kills the server")
	chaosSeed  = flag.Uint64("seed", 0, "of TestCampaignServer, to repeat a run; 0: a new one")
)

// mostWait is the maximum time for which a campaign waits for anything that it expects, although servers and agents are
// killed.
const mostWait = time.Minute

// leastRate is the minimum number of jobs that must be acknowledged per second while the server is up. With fewer there
// is too little to lose, and the run proves nothing.
const leastRate = 5

// TestCampaignServer kills the server again and again while users submit jobs and agents run them, and loses
// requests and answers on their way. Afterwards it checks that nothing was lost, done twice or counted
// wrongly.
func TestCampaignServer(t *testing.T) {
	seed := *chaosSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("to repeat: -kills=%d -seed=%d", *chaosKills, seed)
	c := &chaos{rig: newRig(t, 5*time.Second), rng: rand.New(rand.NewPCG(seed, 0))}
	c.load = newLoad(t, c.ledger())
	c.serve()
	for i, name := range []string{"n1", "n2", "n3"} {
		c.work(name, 8-2*i)
	}
	c.wire.cut(0.01, rand.New(rand.NewPCG(seed, 1)))
	c.load.begin(seed, []string{c.wire.socket}, "ann", "bob", "cyd", "dan")
	for range *chaosKills {
		c.fault()
	}
	c.settle()
	a := c.audit()
	fmt.Println("figure:", a.tally)
	a.judge()
	if rate := float64(a.acked) / c.up.Seconds(); rate < leastRate {
		t.Errorf("void: %.1f jobs were acknowledged in a second, fewer than %d", rate, leastRate)
	} else {
		t.Logf("%.1f jobs acknowledged in a second; the server was up for %v", rate, c.up.Round(time.Second))
	}
}

// chaos is a run of TestCampaignServer.
type chaos struct {
	*rig
	load  *load
	rng   *rand.Rand
	kills int
	up    time.Duration // how long the server was up, from its first answer to its end
	wrong int           // number of counters that differed from a recount
}

// fault lets the server work for a moment, kills it, checks its database, and starts it again. Sometimes it
// kills the server before the first answer.
func (c *chaos) fault() {
	c.t.Helper()
	began := time.Now()
	if c.rng.IntN(10) == 0 {
		time.Sleep(time.Duration(c.rng.IntN(150)) * time.Millisecond)
	} else if !c.answers(c.server) {
		c.t.Fatalf("the server does not answer after %d kills", c.kills)
	} else {
		began = time.Now()
		time.Sleep(time.Duration(50+c.rng.IntN(551)) * time.Millisecond)
	}
	if c.server.ended() {
		c.t.Fatalf("the server ended by itself after %d kills", c.kills)
	}
	c.server.kill()
	c.up += time.Since(began)
	c.kills++
	c.recount()
	c.startServer()
}

// recount checks a copy of a killed server's database: the jobs acknowledged since the last recount are
// there, and the counters agree with the jobs. It uses a copy because opening the file would repair it before
// the server has to.
func (c *chaos) recount() {
	c.t.Helper()
	fresh := c.load.record.takeFresh()
	copied := c.db + "-copy"
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(c.db + suffix)
		if os.IsNotExist(err) {
			os.Remove(copied + suffix)
			continue
		}
		if err == nil {
			err = os.WriteFile(copied+suffix, text, 0o600)
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
	store, err := sqlite.Open(c.t.Context(), copied, sqlite.Options{})
	if err != nil {
		c.t.Fatalf("after %d kills: %v", c.kills, err)
	}
	defer store.Close()
	if len(fresh) > 0 {
		found, err := store.Jobs(c.t.Context(), queue.Query{IDs: fresh})
		if err != nil {
			c.t.Fatal(err)
		}
		if len(found) != len(fresh) {
			c.t.Errorf("after %d kills: of %d jobs just acknowledged %d are there", c.kills, len(fresh), len(found))
		}
	}
	open := queue.Query{States: []queue.State{queue.Held, queue.Blocked, queue.Waiting, queue.Running}}
	c.wrong += checkCounters(c.t, store, open)
}

// settle ends the load: every sent request is acknowledged, and every acknowledged job ends.
func (c *chaos) settle() {
	c.t.Helper()
	if !c.answers(c.server) {
		c.t.Fatalf("the server does not answer after %d kills", c.kills)
	}
	began := time.Now()
	c.load.end()
	c.up += time.Since(began)
	c.wire.cut(0, c.rng)
	left := ""
	if !await.Within(mostWait, func() bool {
		list, err := c.direct.Jobs.List(c.t.Context(), open())
		if err != nil {
			c.t.Fatal(err)
		}
		left = ""
		for _, j := range list.Jobs {
			left += fmt.Sprintf("%d %s (%d waiting, %d running); ", j.ID, j.State, j.Waiting, j.Running)
		}
		return left == ""
	}) {
		c.t.Errorf("not ended: %s", left)
	}
}

// audit asks the server for its counts, ends it, and checks its database.
func (c *chaos) audit() *audit {
	c.t.Helper()
	a := newAudit(c.t, c.load, c.wire.witness)
	a.faults = map[string]int{
		"sigkill-server": c.kills, "cut-request": c.wire.cutRequests, "cut-answer": c.wire.cutAnswers,
	}
	a.counters = c.wrong
	served := a.askServer(c.direct)
	for _, p := range c.agents {
		c.stop(p)
	}
	c.stop(c.server)
	store, err := sqlite.Open(c.t.Context(), c.db, sqlite.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	defer store.Close()
	a.read(store, c.load.ledger)
	a.checkServed(served)
	return a
}

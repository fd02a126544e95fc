//go:build campaign

package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/store/postgres"
)

var chaosServers = flag.Int("servers", 4, "how many servers TestCampaignPostgres has")

// TestCampaignPostgres runs several servers on one PostgreSQL, each with its own agents. Users submit to any
// of them. The test kills and suspends servers and agents, stops and starts the database, and loses requests
// and answers. Afterwards it checks that nothing was lost, done twice or counted wrongly, and that every late
// report was refused.
func TestCampaignPostgres(t *testing.T) {
	seed := *chaosSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("to repeat: -run=TestCampaignPostgres -kills=%d -servers=%d -seed=%d", *chaosKills, *chaosServers, seed)
	f := newFleet(t, *chaosServers, 3*time.Second, seed)
	f.begin()
	load := newLoad(t, f.ledger)
	load.gangs = true
	load.begin(seed, f.sockets(), "ann", "bob", "cyd", "dan")
	began := time.Now()
	load.users.Go(func() { newGhost(f, seed).run(load.stopped) })
	time.Sleep(5 * time.Second)
	calm := float64(load.record.count()) / time.Since(began).Seconds()
	for i, r := range f.sites {
		r.wire.cut(0.005, rand.New(rand.NewPCG(seed, 100+uint64(i))))
	}
	for n := 0; n < *chaosKills; {
		if f.fault() {
			n++
		}
		for end := time.Now().Add(100*time.Millisecond + f.upTo(f.lease/2)); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			f.tend(false)
		}
		f.check()
		if n%10 == 0 && !f.isHurt("database") {
			f.recount()
		}
	}
	f.tend(true)
	f.settle(load)
	took := time.Since(began)
	a := f.audit(load)
	fmt.Println("figure:", a.tally)
	a.judge()
	rate := float64(a.acked) / took.Seconds()
	t.Logf("%.1f jobs acknowledged in a second before the first fault, %.1f in all; %d ends of tasks, %d renewals accepted; %v",
		calm, rate, f.seen.ends, f.seen.renewals, took.Round(time.Second))
	if calm < leastRate || rate < leastRate {
		t.Errorf("void: fewer than %d jobs were acknowledged in a second", leastRate)
	}
}

// settle ends the load: every sent request is acknowledged, and every acknowledged job ends.
func (f *fleet) settle(l *load) {
	f.t.Helper()
	for i, r := range f.sites {
		if !r.answers(r.server) {
			f.t.Fatalf("server %d does not answer any more; it said:\n%s", i, tail(r.server.log, 3000))
		}
	}
	l.end()
	for _, r := range f.sites {
		r.wire.cut(0, f.rng)
	}
	var left []string
	if !await.Within(mostWait, func() bool {
		left = f.ask(`SELECT format('%s (%s of %s tasks wait, %s run, state %s)', id, waiting, tasks, running, state) FROM fairlead.job ORDER BY id LIMIT 50`)
		return len(left) == 0
	}) {
		f.t.Errorf("not ended: %v", left)
	}
}

// audit asks the servers for their counts, ends them, and checks the database.
func (f *fleet) audit(l *load) *audit {
	f.t.Helper()
	a := newAudit(f.t, l, f.seen)
	a.faults, a.counters = f.faults, f.wrong
	var served []map[string]float64
	for _, r := range f.sites {
		a.faults["cut-request"] += r.wire.cutRequests
		a.faults["cut-answer"] += r.wire.cutAnswers
		served = append(served, a.askServer(r.direct))
	}
	for _, r := range f.sites {
		for _, p := range r.agents {
			r.stop(p)
		}
		r.stop(r.server)
	}
	f.recount()
	store, err := postgres.Open(f.t.Context(), f.database.URL(), postgres.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	defer store.Close()
	a.read(store, f.ledger)
	for _, s := range served {
		a.checkServed(s)
	}
	return a
}

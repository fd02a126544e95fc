//go:build campaign

package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/sqlite"
)

// mixed is a tree with the policy load at the top, pools with deficits and a minimum below, and users under
// fairtree at the bottom.
const mixed = `policy: load
half_life: 5s
task_time: 1s
pools:
  prod:
    load: 50%
    policy: fair
    pools: {dora: {}, emil: {weight: 2}}
  research:
    load: 30%
    policy: deficit
    pools:
      env: {min: {cpu: 3}, reclaim: {min_after: off}}
      epi:
        policy: fairtree
        pools: {ann: {}, bob: {}}
      phys:
        weight: 2
        policy: fairtree
        pools: {cid: {}, dan: {weight: 3}}
  batch: {load: 20%}
placement:
  - {user: "dora|emil", pool: "prod/{user}"}
  - {user: "ann|bob", pool: "research/epi/{user}"}
  - {user: "cid|dan", pool: "research/phys/{user}"}
  - {user: "eva", pool: research/env}
  - {pool: batch}
`

const (
	mixedSlots = 20   // on two nodes
	mixedJobs  = 5000 // the least number of jobs
	mixedPhase = 230  // how many tasks end in a phase
)

// loads holds the entitlements of the classes prod, research and batch, in percent.
type loads [3]float64

var classes = [3]string{"prod", "research", "batch"}

// physEqual is the change that gives phys the weight of epi instead of twice that weight.
const physEqual = "set: phys weight 1"

// phase is a time in which one configuration was current and all users had work.
type phase struct {
	name     string
	want     loads
	from, to time.Time
	shares   map[string]views.PoolView // at the end of the phase
	first    bool                      // too few tasks of each user ended in the phase to judge the shares of users
}

// TestCampaignMixed runs 5,000 processes through a tree that mixes policies. Meanwhile it changes weights through the
// interface, edits the file, with and without errors, and stops and starts nodes and the server. Every job must run
// once, and the usage of the classes must follow each change.
func TestCampaignMixed(t *testing.T) {
	l := newLab(t, mixed)
	l.serve()
	users := map[string]string{
		"dora": "prod/dora", "emil": "prod/emil", "eva": "research/env", "ann": "research/epi/ann", "bob": "research/epi/bob",
		"cid": "research/phys/cid", "dan": "research/phys/dan", "hans": "batch",
	}
	began, marked := time.Now(), time.Time{}
	endFeed := l.feed(users, []string{"gzip -9 | sha256sum", "sort | sha256sum", "bzip2 | sha256sum", "od -c | md5sum"}, mixedJobs)
	var phases []*phase
	asked, ledgered := 0, l.ledger()
	l.until("all have work", func() bool {
		all := l.pools()
		return !slices.ContainsFunc(slices.Collect(maps.Values(users)), func(pool string) bool { return all[pool].Waiting == 0 })
	})
	// No user gets a head start: usage from a moment alone on the machine would count against that user for seconds.
	l.work("n1", mixedSlots/2)
	l.work("n2", mixedSlots/2)
	for _, c := range mixedChanges(l) {
		c.do()
		if c.name == physEqual {
			marked = time.Now()
		}
		p := &phase{name: c.name, want: c.want, from: time.Now(), first: len(phases) == 0}
		goal := ledgered.count(t, "e", 1) + mixedPhase
		l.until("tasks end", func() bool { return ledgered.count(t, "e", 1) >= goal })
		p.to, p.shares = time.Now(), l.pools()
		asked += l.askSome()
		phases = append(phases, p)
	}
	endFeed()
	l.until("nothing waits or runs", func() bool { return len(list(t, l.client, "waiting", "queued", "running")) == 0 })
	took := time.Since(began).Round(time.Second)
	t.Logf("figure: %d jobs in %v; %d answers of why recomputed", l.sent.Load(), took, asked)
	jobs := list(t, l.client, "succeeded", "failed", "cancelled")
	for _, name := range []string{"n1", "n2", "server"} {
		l.stop(name)
	}
	l.nothingLost()
	judged := 0
	for _, p := range phases {
		if idle := p.idle(users); len(idle) > 0 {
			t.Logf("%-45s not judged: no work of %v waits", p.name, idle)
			continue
		}
		p.judge(t, jobs)
		judged++
	}
	if judged < len(phases)*3/4 {
		t.Errorf("all had work in %d of %d phases", judged, len(phases))
	}
	judgeDeficits(t, jobs, phases[0].from, marked, 2)
	judgeDeficits(t, jobs, marked, phases[len(phases)-1].to, 1)
}

// change is an action while jobs run, and the entitlements of the classes after it.
type change struct {
	name string
	do   func()
	want loads
}

func mixedChanges(l *lab) []change {
	set := func(settings ...string) func() {
		return func() {
			l.set(settings...)
		}
	}
	edited := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(mixed) }
	file := func(pairs ...string) func() { return func() { l.edit(edited(pairs...)) } }
	bad := func(old, by, reason string) func() { return func() { l.spoil(edited(old, by), reason) } }
	return []change{
		{"as written", func() {}, loads{50, 30, 20}},
		{"file: a bracket is missing", bad("{load: 20%}", "{load: 20%", "fairlead.yaml:22:10: "), loads{50, 30, 20}},
		{"set: prod 20%, batch 50%", set("pools.prod.load=20%", "pools.batch.load=50%"), loads{20, 30, 50}},
		{"set: a load below 0 is refused", func() { l.setWrong("pools.prod.load=-20%") }, loads{20, 30, 50}},
		{"file: cid's weight is dan's, under what is set", file("cid: {}", "cid: {weight: 3}"), loads{20, 30, 50}},
		{"unset: the file's loads", func() { l.unset() }, loads{50, 30, 20}},
		{"file: a policy that does not exist", bad("policy: deficit", "policy: defizit", "fairlead.yaml:11:13: "), loads{50, 30, 20}},
		{"n2 is drained", func() { l.drain("n2", true) }, loads{50, 30, 20}},
		{"n2 is resumed", func() { l.drain("n2", false) }, loads{50, 30, 20}},
		{physEqual, set("pools.research/phys.weight=1"), loads{50, 30, 20}},
		{"file: a weight below 0", bad("weight: 2\n", "weight: -2\n", "fairlead.yaml:18:17: "), loads{50, 30, 20}},
		{"file: as it was", file(), loads{50, 30, 20}},
		{"boost: research x3 for a minute", func() { l.boost("research", 3) }, loads{31.25, 56.25, 12.5}},
		{"the boost is over", l.unboost, loads{50, 30, 20}},
		{"n1 is started again", func() { l.stop("n1"); l.work("n1", mixedSlots/2) }, loads{50, 30, 20}},
		{"the server is killed", func() { l.kill("server"); l.serve() }, loads{50, 30, 20}},
		{"file: batch gets what nobody else can use", file("load: 30%", "load: 50%", "load: 20%", "load: 0%"), loads{50, 50, 0}},
	}
}

// set overrides settings of the file, as fairlead config set does.
func (l *lab) set(settings ...string) {
	l.t.Helper()
	if err := l.trySet(settings...); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) trySet(settings ...string) error {
	var r api.SettingsRequest
	for _, s := range settings {
		path, value, _ := strings.Cut(s, "=")
		r.Settings = append(r.Settings, api.SettingValue{Path: path, Value: value})
	}
	_, err := l.client.Config.Set(l.t.Context(), r)
	return err
}

func (l *lab) setWrong(setting string) {
	l.t.Helper()
	before := l.status()
	err := l.trySet(setting)
	if err == nil || l.status().Hash != before.Hash {
		l.t.Errorf("%s is taken", setting)
	}
	l.t.Logf("refused: %v", err)
}

func (l *lab) unset() {
	l.t.Helper()
	if _, err := l.client.Config.Unset(l.t.Context(), api.UnsetRequest{All: true}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) drain(node string, drain bool) {
	l.t.Helper()
	if _, err := l.client.Nodes.Drain(l.t.Context(), node, api.DrainRequest{Drain: drain, Reason: "fan"}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) boost(pool string, factor float64) {
	l.t.Helper()
	if _, err := l.client.Pools.Boost(l.t.Context(), api.BoostRequest{Pool: pool, Factor: factor, ForSeconds: 60}); err != nil {
		l.t.Fatal(err)
	}
}

// unboost ends the current boosts.
func (l *lab) unboost() {
	l.t.Helper()
	all, err := l.client.Pools.Boosts(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	for i := range all.Boosts {
		if _, err := l.client.Pools.Unboost(l.t.Context(), all.Boosts[i].ID); err != nil {
			l.t.Fatal(err)
		}
	}
}

// pools returns the pools by their paths.
func (l *lab) pools() map[string]views.PoolView {
	l.t.Helper()
	s, err := l.client.Pools.Shares(l.t.Context(), "")
	if err != nil {
		l.t.Fatal(err)
	}
	all := map[string]views.PoolView{}
	for i := range s.Pools {
		all[s.Pools[i].Path] = s.Pools[i]
	}
	return all
}

// nothingLost checks the database of the server, which has ended.
func (l *lab) nothingLost() {
	l.t.Helper()
	store, err := sqlite.Open(l.t.Context(), l.db(), sqlite.Options{})
	if err != nil {
		l.t.Fatal(err)
	}
	defer store.Close()
	ran := map[int64][2]int{} // how often each job began, and how often it ended
	for _, e := range l.ledger().read(l.t) {
		n := ran[e.job]
		n[strings.Index("be", e.what)]++
		ran[e.job] = n
	}
	jobs, err := store.Jobs(l.t.Context(), queue.Query{})
	if err != nil {
		l.t.Fatal(err)
	}
	if sent := int(l.sent.Load()); sent < mixedJobs || len(jobs) != sent || len(ran) != sent {
		l.t.Errorf("%d jobs are in the database, %d ran; %d were submitted", len(jobs), len(ran), sent)
	}
	again := 0
	for _, j := range jobs {
		tasks, err := store.Tasks(l.t.Context(), j.ID)
		if err != nil {
			l.t.Fatal(err)
		}
		if j.State != queue.Succeeded || len(tasks) != 1 || tasks[0].Fails+tasks[0].Outcome.ExitCode != 0 || ran[j.ID] != [2]int{1, 1} {
			l.t.Errorf("job %d of %s ended as %s because %q; it began and ended %v times; tasks %+v", j.ID, j.User, j.State, j.Cause, ran[j.ID], tasks)
		}
		if tasks[0].Attempt > 1 {
			again++
		}
	}
	// A server that is killed after it stored a lease and before it sent the lease to the agent leaves an attempt that
	// never began.
	l.t.Logf("%d tasks were leased more than once, and ran once", again)
	if again > mixedSlots {
		l.t.Errorf("%d tasks were leased again, and there are %d slots", again, mixedSlots)
	}
	checkCounters(l.t, store, queue.Query{})
}

// received returns the service of each pool between two instants, in slot-seconds; the root is "".
func received(jobs []api.Job, from, to time.Time) map[string]float64 {
	got := map[string]float64{}
	for _, j := range jobs {
		d := overlap(*j.Started, *j.Ended, from, to)
		got[""] += d
		for pool := j.Pool; pool != ""; pool = pool[:max(0, strings.LastIndexByte(pool, '/'))] {
			got[pool] += d
		}
	}
	return got
}

// idle returns the users who had no work at the end of the phase: shares only apply among users who want more.
func (p *phase) idle(users map[string]string) (out []string) {
	for _, user := range slices.Sorted(maps.Keys(users)) {
		if p.shares[users[user]].Waiting == 0 {
			out = append(out, user)
		}
	}
	return out
}

// judge compares the usage of the pools in a phase with their entitlements. It counts from the moment when all tasks
// that ran at the beginning of the phase have ended, because the change has no effect before. The bounds are wide,
// because a busy machine starts tasks late.
func (p *phase) judge(t *testing.T, jobs []api.Job) {
	t.Helper()
	settled := p.from
	for _, j := range jobs {
		if j.Started.Before(p.from) && j.Ended.After(settled) {
			settled = *j.Ended
		}
	}
	got, seconds := received(jobs, settled, p.to), p.to.Sub(settled).Seconds()
	line := ""
	for i, c := range classes {
		part := 100 * got[c] / got[""]
		line += fmt.Sprintf("  %s %.1f of %.1f%%", c, part, p.want[i])
		if math.Abs(part-p.want[i]) > 10 {
			t.Errorf("%s: %s received %.1f%%, want %.1f%%", p.name, c, part, p.want[i])
		}
	}
	t.Logf("%-45s settled in %.1fs, then %.1fs with %.1f slots:%s", p.name, settled.Sub(p.from).Seconds(), seconds, got[""]/seconds, line)
	env := got["research/env"] / seconds
	line = fmt.Sprintf("env %.1f slots, min 3; users by use:", env)
	if env < 2.2 {
		t.Errorf("%s: env received %.1f slots, and its minimum is 3", p.name, env)
	}
	for _, user := range []string{"research/phys/cid", "research/phys/dan", "research/epi/ann", "research/epi/bob"} {
		x := p.shares[user]
		line += fmt.Sprintf("  %s %.0f of %.0f%%", user[len("research/"):], 100*x.UsedHere, 100*x.ShareHere)
		if !p.first && math.Abs(x.UsedHere-x.ShareHere) > 0.25 {
			t.Errorf("%s: %s used %.1f%% of its pool, and its share is %.1f%%", p.name, user, 100*x.UsedHere, 100*x.ShareHere)
		}
	}
	t.Logf("%45s %s", "", line)
}

// judgeDeficits compares the usage of phys and epi. The usage of env beyond its minimum changes nothing
// between them.
func judgeDeficits(t *testing.T, jobs []api.Job, from, to time.Time, want float64) {
	t.Helper()
	got := received(jobs, from, to)
	phys, epi := got["research/phys"], got["research/epi"]
	t.Logf("phys %.1f, epi %.1f slot-seconds in %.0fs: %.2f : 1, by weight %v : 1", phys, epi, to.Sub(from).Seconds(), phys/epi, want)
	if ratio := phys / epi / want; ratio < 0.75 || ratio > 1.33 {
		t.Errorf("phys received %.2f times as much as epi, want %v", phys/epi, want)
	}
}

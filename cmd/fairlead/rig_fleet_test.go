//go:build real

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/pgtest"
)

// fleet is several servers on one database, each with its own agents. One goroutine injures them, and heals the
// injuries when their time comes.
type fleet struct {
	t        *testing.T
	lease    time.Duration
	database *pgtest.Cluster
	seen     *witness
	sites    []*rig
	ledger   ledger
	rng      *rand.Rand
	faults   map[string]int
	heals    []heal
	wrong    int // counters that differed from a recount

	mu   sync.Mutex
	hurt map[string]bool // names of injured parts
}

// heal undoes an injury.
type heal struct {
	at   time.Time
	name string
	f    func()
}

// processors holds the processors of the two agents of a server.
var processors = []int{3, 2}

func newFleet(t *testing.T, servers int, lease time.Duration, seed uint64) *fleet {
	t.Helper()
	f := &fleet{
		t: t, lease: lease, database: pgtest.OwnCluster(t), seen: newWitness(),
		ledger: ledger{filepath.Join(t.ArtifactDir(), "ledger")},
		rng:    rand.New(rand.NewPCG(seed, 0)), faults: map[string]int{}, hurt: map[string]bool{},
	}
	for range servers {
		r := newRigWith(t, lease, f.seen)
		r.db = f.database.URL()
		f.sites = append(f.sites, r)
	}
	return f
}

// begin starts all servers at once, and then their agents.
func (f *fleet) begin() {
	f.t.Helper()
	for _, r := range f.sites {
		r.startServer()
	}
	for i, r := range f.sites {
		if !r.answers(r.server) {
			f.t.Fatalf("server %d does not answer; it said:\n%s", i, tail(r.server.log, 1500))
		}
		for j, cpus := range processors {
			r.work(agentName(i, j), cpus)
		}
	}
}

func agentName(site, n int) string { return fmt.Sprintf("s%d-%c", site, 'a'+n) }

func (f *fleet) sockets() (all []string) {
	for _, r := range f.sites {
		all = append(all, r.wire.socket)
	}
	return all
}

// injure records an injury, which the function "good" undoes after the pause.
func (f *fleet) injure(kind, name string, pause time.Duration, good func()) {
	f.faults[kind]++
	f.mu.Lock()
	f.hurt[name] = true
	f.mu.Unlock()
	f.heals = append(f.heals, heal{time.Now().Add(pause), name, good})
}

func (f *fleet) isHurt(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hurt[name]
}

// tend undoes the injuries that are due, or all.
func (f *fleet) tend(all bool) {
	f.t.Helper()
	f.heals = slices.DeleteFunc(f.heals, func(h heal) bool {
		if !all && time.Now().Before(h.at) {
			return false
		}
		h.f()
		f.mu.Lock()
		delete(f.hurt, h.name)
		f.mu.Unlock()
		return true
	})
}

// upTo returns a random duration below d.
func (f *fleet) upTo(d time.Duration) time.Duration { return time.Duration(f.rng.Int64N(int64(d))) }

// fault injures a healthy server or agent, or the database. It returns false if nothing is healthy.
func (f *fleet) fault() bool {
	f.t.Helper()
	for range 50 {
		site := f.rng.IntN(len(f.sites))
		r, n := f.sites[site], f.rng.IntN(len(processors))
		server, name := fmt.Sprint("server ", site), agentName(site, n)
		switch kind := f.rng.IntN(20); {
		case kind < 2 && !f.isHurt("database"):
			f.stopDatabase()
		case kind < 7 && !f.isHurt(server):
			r.server.kill()
			f.injure("sigkill-server", server, f.upTo(f.lease/2), func() { r.startServer() })
		case kind < 11 && !f.isHurt(server):
			f.suspend("sigstop-server", server, r.server, f.upTo(2*f.lease))
		case kind < 15 && !f.isHurt(name):
			r.agents[name].kill()
			f.injure("sigkill-agent", name, f.upTo(f.lease/2), func() { r.startAgent(name, processors[n]) })
		case kind >= 15 && !f.isHurt(name):
			f.suspend("sigstop-agent", name, r.agents[name], f.lease/4+f.upTo(2*f.lease))
		default:
			continue
		}
		return true
	}
	return false
}

func (f *fleet) suspend(kind, name string, p *proc, pause time.Duration) {
	p.signal(syscall.SIGSTOP)
	f.injure(kind, name, pause, func() { p.signal(syscall.SIGCONT) })
}

// stopDatabase ends the database at once, as pg_ctl stop -m immediate does.
func (f *fleet) stopDatabase() {
	f.t.Helper()
	f.database.Halt()
	f.injure("stop-database", "database", f.upTo(f.lease/2), func() {
		if err := f.database.Run(); err != nil {
			f.t.Fatal(err)
		}
		f.recount()
	})
}

// check fails if a server or an agent has ended by itself.
func (f *fleet) check() {
	f.t.Helper()
	for i, r := range f.sites {
		if r.server.ended() && !f.isHurt(fmt.Sprint("server ", i)) {
			f.t.Fatalf("server %d ended by itself; it said:\n%s", i, tail(r.server.log, 3000))
		}
		for name, p := range r.agents {
			if p.ended() && !f.isHurt(name) {
				f.t.Fatalf("agent %s ended by itself; it said:\n%s", name, tail(p.log, 3000))
			}
		}
	}
}

// recountText compares, in one snapshot, the counters of each pool with its jobs, the jobs with their tasks,
// and the running tasks with the leases.
const recountText = `WITH kept AS (
		SELECT pool, sum(waiting) AS waiting, sum(running) AS running
		FROM (SELECT id AS pool, waiting, running FROM fairlead.pool UNION ALL
			SELECT v.* FROM fairlead.delta AS d, unnest(d.pools, d.waiting, d.running) AS v (pool, waiting, running)) AS d GROUP BY pool),
	counted AS (SELECT pool, sum(waiting) AS waiting, sum(running) AS running FROM fairlead.job GROUP BY pool),
	due AS (SELECT DISTINCT unnest(jobs) AS job, until FROM fairlead.lease),
	leased AS (SELECT pool, count(*) AS leases FROM (
			SELECT id AS job, pool, until FROM fairlead.job WHERE tasks = 1 AND state = 3
			UNION ALL SELECT job, pool, t.until FROM fairlead.task AS t JOIN fairlead.job AS j ON j.id = t.job WHERE t.t_state = 3) AS r
		JOIN due USING (job, until) GROUP BY pool),
	tasks AS (
		SELECT job, count(*) FILTER (WHERE t_state = 3) AS running FROM fairlead.task GROUP BY job
		UNION ALL SELECT id, (t_state = 3)::int FROM fairlead.job WHERE tasks = 1)
	SELECT format('pool %s: kept %s waiting, %s running; counted %s and %s; %s leases', path, k.waiting, k.running, c.waiting, c.running, l.leases)
	FROM kept AS k JOIN fairlead.pool AS p ON p.id = k.pool LEFT JOIN counted AS c USING (pool) LEFT JOIN leased AS l USING (pool)
	WHERE k.waiting <> coalesce(c.waiting, 0) OR k.running <> coalesce(c.running, 0) OR k.running <> coalesce(l.leases, 0)
	UNION ALL
	SELECT format('job %s: %s of its tasks run, it says %s', id, t.running, j.running)
	FROM fairlead.job AS j JOIN tasks AS t ON t.job = j.id WHERE t.running <> coalesce(j.running, 0)`

// recount checks the counters in the database while it is in use.
func (f *fleet) recount() {
	f.t.Helper()
	for _, text := range f.ask(recountText) {
		f.wrong++
		f.t.Errorf("counters: %s", text)
	}
}

// ask runs a query and returns its lines of text.
func (f *fleet) ask(query string, args ...any) (lines []string) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), deadline)
	defer cancel()
	conn, err := pgx.Connect(ctx, f.database.URL())
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, query, args...)
	if err == nil {
		lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return lines
}

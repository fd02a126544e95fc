package web_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/server"
	"github.com/fairlead/fairlead/internal/settings"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/remote"
	"github.com/fairlead/fairlead/store/sqlite"
)

// patience is how long a test waits for news: most news arrive at once, but a point of the history only after its
// minute.
const patience = 2 * time.Minute

// lab is a server in this process, with agents that run real processes.
type lab struct {
	t      testing.TB
	dir    string
	url    string // address of a TCP forwarder to its socket, on which this user is known
	web    string // the address for browsers, which need a session there
	client *api.Client
	store  *sqlite.Store
	loop   *engine.Loop
	ctx    context.Context
	stop   func()        // stops the server, but not the store
	age    time.Duration // age of the server, as it believes at its start
	lease  time.Duration // lease of its attempts; an hour if 0
}

// newLab starts a server with a configuration, on a prepared store.
func newLab(t testing.TB, text string, before ...func(testing.TB, queue.HistoryKeeper)) *lab {
	t.Helper()
	l := &lab{t: t, dir: t.TempDir()}
	var err error
	if l.store, err = sqlite.Open(context.Background(), filepath.Join(l.dir, "jobs.db"), sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, prepare := range before {
		prepare(t, l.store)
	}
	if err := os.WriteFile(l.file(), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	l.begin()
	t.Cleanup(func() { l.client.Close(); l.stop(); l.store.Close() })
	return l
}

// file returns the path of the configuration.
func (l *lab) file() string { return filepath.Join(l.dir, "lab.yaml") }

// begin starts the server on the current store.
func (l *lab) begin() {
	l.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	l.ctx = ctx
	text, err := os.ReadFile(l.file())
	if err != nil {
		l.t.Fatal(err)
	}
	c, err := config.Parse("lab.yaml", text)
	if err != nil {
		l.t.Fatal(err)
	}
	keeper, err := settings.Open(ctx, l.store, c, l.file(), "lab")
	if err != nil {
		l.t.Fatal(err)
	}
	if l.loop, err = engine.NewLoop(ctx, l.store,
		engine.LoopOptions{Shares: keeper.Config().Shares, LeaseTTL: cmp.Or(l.lease, time.Hour), Name: "lab"}); err != nil {
		l.t.Fatal(err)
	}
	l.loop.Made = l.loop.Made.Add(-l.age)
	ahead := forecast.New(l.loop)
	ahead.Explainer().Remember()
	keeper.Bind(l.loop, ahead)
	s := server.New(server.Options{Loop: l.loop, Forecast: ahead, KeepHistory: true, Store: l.store, Program: "test",
		StoreName: "lab", Config: keeper,
		Logger: slog.New(slog.NewTextHandler(l.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))})
	var listeners []net.Listener
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": l.socket()} {
		listener, err := net.Listen(network, address)
		if err != nil {
			l.t.Fatal(err)
		}
		if listeners = append(listeners, listener); network == "tcp" {
			l.web = "http://" + listener.Addr().String()
		}
	}
	ended := make(chan error, 2)
	go func() { ended <- l.loop.Run(ctx) }()
	go func() { ended <- s.Serve(ctx, listeners...) }()
	if l.client, err = api.Dial(l.socket()); err != nil {
		l.t.Fatal(err)
	}
	way, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		l.t.Fatal(err)
	}
	l.url = "http://" + way.Addr().String()
	go lead(way, l.socket())
	l.stop = func() { way.Close(); cancel(); <-ended; <-ended }
}

// socket returns the path of the server's socket.
func (l *lab) socket() string { return filepath.Join(l.dir, "s") }

// lead forwards connections to a socket, as ssh does.
func lead(from net.Listener, path string) {
	for {
		c, err := from.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			to, err := net.Dial("unix", path)
			if err != nil {
				return
			}
			defer to.Close()
			go func() { io.Copy(to, c); to.Close() }()
			io.Copy(c, to)
		}()
	}
}

// node starts an agent that claims some capacity, and waits until it has joined.
func (l *lab) node(name string, capacity map[string]int64) {
	l.t.Helper()
	client, err := api.Dial(l.socket()) // a separate client: the user of the lab's client changes
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(l.ctx)
	joined, ended := make(chan struct{}, 1), make(chan error, 1)
	o := agent.Options{
		Client: client, Name: name, Capacity: capacity, Dir: filepath.Join(l.dir,
			"agent-"+name), AnyUser: true, Drain: time.Millisecond,
		Joined: func() {
			select {
			case joined <- struct{}{}:
			default:
			}
		},
	}
	go func() { ended <- agent.Run(ctx, o) }()
	l.t.Cleanup(func() { cancel(); <-ended })
	select {
	case <-joined:
	case err := <-ended:
		ended <- err
		l.t.Fatalf("agent %s: %v", name, err)
	case <-time.After(patience):
		l.t.Fatalf("agent %s does not join", name)
	}
}

// submit submits a job of a user.
func (l *lab) submit(user string, s api.Spec) int64 {
	l.t.Helper()
	l.client.As = user
	defer func() { l.client.As = "" }()
	if s.Argv == nil {
		s.Argv = []string{"sleep", "600"}
	}
	r, err := l.client.Jobs.Submit(l.t.Context(), api.SubmitRequest{Jobs: []api.Spec{s}, Unsatisfiable: true})
	if err == nil {
		err = r.Jobs[0].Error.Err()
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return r.Jobs[0].ID
}

// until waits until a job is in a state.
func (l *lab) until(id int64, state string) {
	l.t.Helper()
	l.wait(fmt.Sprintf("job %d is %s", id, state), func() bool {
		r, err := l.client.Jobs.Get(l.t.Context(), id)
		begun := state == "running" || state == "queued"
		return err == nil && r.Job.State == state && (!begun || l.begun(id, state == "queued"))
	})
}

// begun reports whether the engine knows a task of a job that runs here, or is queued elsewhere: the engine learns of
// it a moment after the store.
func (l *lab) begun(id int64, queued bool) bool {
	return engine.Read(l.loop, func(s *engine.State) bool {
		for _, r := range s.Runs {
			if r.Ref.JobID == id && r.Queued == queued {
				return true
			}
		}
		return false
	})
}

// wait waits until a condition is true.
func (l *lab) wait(what string, done func() bool) {
	l.t.Helper()
	await.True(l.t, what, done)
}

// cluster is the example of the documentation: four nodes, two departments with four people.
const cluster = `policy: fairtree
half_life: 7d
backfill: conservative
placement:
  - {pool: physics/curie}
licenses: {matlab: 5}
pools:
  physics: {weight: 60, policy: fairtree, pools: {markov: {weight: 1}, curie: {weight: 1}}}
  biology: {weight: 40, policy: fairtree, pools: {env: {weight: 1, min: {cpu: 8}}, epi: {weight: 1, max: {cpu: 56}}}}
`

// example fills the cluster with running and waiting jobs, and returns their numbers by name. One of the waiting jobs
// has room now, but it would delay denovo, which goes before it, unless it took at most two hours and a quarter. (The
// licenses that biodiv lacks, and a node, become free in an hour and a quarter. biodiv goes before denovo, so denovo
// gets its two nodes an hour later.)
func example(l *lab) map[string]int64 {
	l.t.Helper()
	jobs := map[string]int64{}
	add := func(user, pool, name, state, limit string, s api.Spec) {
		s.Name, s.Pool, s.Argv = name, pool, []string{"sh", "-c", "echo " + name + " begins; exec sleep 900"}
		d, err := time.ParseDuration(limit)
		if err != nil {
			l.t.Fatal(err)
		}
		s.LimitSeconds = d.Seconds()
		jobs[name] = l.submit(user, s)
		l.until(jobs[name], state)
	}
	cpus := func(n int64) map[string]int64 { return map[string]int64{"cpu": n} }
	matlab := func(n int64) map[string]int64 { return map[string]int64{"matlab": n} }
	for pool, hours := range map[string]float64{"physics/markov": 600, "physics/curie": 120, "biology/env": 112,
		"biology/epi": 168} {
		if _, err := l.loop.Books.SetUsed(l.t.Context(), pool, hours*3600, "test", "test"); err != nil {
			l.t.Fatal(err)
		}
	}
	node := func(name string) { l.node(name, map[string]int64{"cpu": 16, "mem": 512 << 30}) }
	node("n1")
	add("markov", "physics/markov", "neutro2", "running", "1h15m",
		api.Spec{Kind: "mpi", Request: cpus(16), Licenses: matlab(4)})
	node("n2")
	add("mendle", "biology/epi", "align", "running", "2h35m", api.Spec{Kind: "mpi", Request: cpus(16)})
	node("n3")
	add("markov", "physics/markov", "neutro1", "running", "1h15m", api.Spec{Kind: "mpi", Request: cpus(8)})
	add("julie", "biology/env", "soil", "running", "3h5m", api.Spec{Kind: "r", Request: cpus(8), Licenses: matlab(1)})
	add("mendle", "biology/epi", "denovo", "waiting", "4h",
		api.Spec{Kind: "mpi", Request: cpus(16), Gang: 2, Spread: true})
	node("n4")
	add("julie", "biology/env", "biodiv", "waiting", "1h", api.Spec{Kind: "r", Request: cpus(8), Licenses: matlab(1)})
	add("curie", "physics/curie", "fit", "waiting", "2h", api.Spec{Kind: "r", Request: cpus(12), Gang: 2})
	add("markov", "physics/markov", "neutro3", "waiting", "3h", api.Spec{Kind: "mpi", Request: cpus(12)})
	return jobs
}

// waiting lists the waiting jobs, as queue --json does.
func (l *lab) waiting() []api.Job {
	l.t.Helper()
	v := remote.Values(queue.Query{States: []queue.State{queue.Waiting}}, 100)
	v.Set("rank", "true")
	list, err := l.client.Jobs.List(l.t.Context(), v)
	if err != nil {
		l.t.Fatal(err)
	}
	words.SortQueue(list.Jobs)
	return list.Jobs
}

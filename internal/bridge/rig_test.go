package bridge_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/bridgetest"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/server"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/why"
)

// rig is a server, a queueing system in memory, and a bridge between them.
type rig struct {
	*api.Client
	t    *testing.T
	qs   *bridgetest.Fake
	dir  string
	stop func() // ends the bridge

	loop  *engine.Loop
	store queue.Store
	serve func() (stop func())
	live  func(queue.Store) // begins an engine and a server
	end   func()            // ends them, and closes the store

	mu     sync.Mutex
	gates  map[string]chan struct{} // by the name of a job: the job runs until its gate is open
	faults map[string]error         // errors of calls of the QS, until they are removed
}

func newRig(t *testing.T, ttl time.Duration) *rig {
	t.Helper()
	return newRigOn(t, memory.New("cpu"), ttl)
}

func newRigOn(t *testing.T, store queue.Store, ttl time.Duration) *rig {
	t.Helper()
	r := &rig{
		t: t, dir: t.TempDir(), store: store, gates: map[string]chan struct{}{}, faults: map[string]error{},
	}
	socket := filepath.Join(r.dir, "s")
	var err error
	if r.Client, err = api.Dial(socket); err != nil {
		t.Fatal(err)
	}
	r.live = func(store queue.Store) {
		t.Helper()
		ctx, cancel := context.WithCancel(context.Background())
		r.store = store
		if r.loop, err = engine.NewLoop(ctx, store, engine.LoopOptions{LeaseTTL: ttl}); err != nil {
			t.Fatal(err)
		}
		loop := r.loop
		var wg sync.WaitGroup
		wg.Go(func() { loop.Run(ctx) })
		r.serve = func() func() {
			listener, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			serving, end := context.WithCancel(ctx)
			var served sync.WaitGroup
			served.Go(func() { server.New(server.Options{Loop: loop, Store: store}).Serve(serving, listener) })
			return func() { end(); served.Wait() }
		}
		stopServer := r.serve()
		r.end = func() { cancel(); stopServer(); wg.Wait(); store.Close() }
	}
	r.live(store)
	r.qs = &bridgetest.Fake{Slots: 1, Run: r.run, Fault: r.fault}
	t.Cleanup(func() { r.openAll(); r.end(); r.Close() })
	return r
}

// restart ends the server, calls f, and begins another server on a store.
func (r *rig) restart(open func() queue.Store, f func()) {
	r.t.Helper()
	r.end()
	f()
	r.live(open())
}

// begins waits until a job runs in the QS, and the server knows it. Between lease and QS it seems to run, too.
func (r *rig) begins(id int64) {
	r.t.Helper()
	r.until("begun", func() bool { return bridgedAs(r.t, r, id) == why.BridgedRunning })
	r.ends(id, "running")
}

// run runs an entry: until its gate is open, if it has one, and with exit code 1 if its command is false.
func (r *rig) run(ctx context.Context, s bridge.Submission) bridgetest.Ran {
	r.mu.Lock()
	gate := r.gates[s.Job.Name]
	r.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return bridgetest.Ran{ExitCode: 143}
		}
	}
	code := map[string]int{"false": 1}[s.Job.Argv[0]]
	return bridgetest.Ran{
		ExitCode: code, Output: "output of " + s.Job.Name + "\n", Used: &frontback.Use{Seconds: 10, CPUSeconds: 10},
	}
}

func (r *rig) fault(call string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.faults[call]
}

func (r *rig) setFault(call string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults[call] = err
}

func (r *rig) gate(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gates[name] = make(chan struct{})
}

func (r *rig) open(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.gates[name])
	delete(r.gates, name)
}

func (r *rig) openAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, g := range r.gates {
		close(g)
		delete(r.gates, name)
	}
}

// options returns the options of a bridge.
func (r *rig) options() bridge.Options {
	o := bridge.Options{
		Client: r.Client, QS: r.qs.Adapter(), System: "fake", Name: "fake", Dir: filepath.Join(r.dir, "bridge"),
		Poll: 20 * time.Millisecond,
	}
	if testing.Verbose() {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return o
}

// start starts a bridge, and waits until it has joined.
func (r *rig) start(change func(*bridge.Options)) {
	r.t.Helper()
	joined := make(chan struct{}, 10)
	o := r.options()
	o.Joined = func() { joined <- struct{}{} }
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := bridge.Run(ctx, o); err != nil {
			r.t.Error(err)
		}
	})
	r.stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	r.t.Cleanup(r.stop)
	select {
	case <-joined:
	case <-time.After(await.Patience):
		r.t.Fatal("the bridge did not join")
	}
}

// groups sets the groups physics and biology, with equal weights, and the priority group daq.
func groups(o *bridge.Options) {
	work, err := frontback.Builtin().New("work", frontback.Parameters{})
	if err != nil {
		panic(err)
	}
	o.Groups = &bridge.Groups{Settings: frontback.Settings{
		Groups:   []frontback.Group{{Name: "physics", Weight: 1}, {Name: "biology", Weight: 1}},
		Priority: []string{"daq"}, Benefit: work, AtStart: true,
	}}
}

func (r *rig) submit(name string, s api.Spec) int64 {
	r.t.Helper()
	s.Name = name
	if s.Argv == nil {
		s.Argv = []string{"true"}
	}
	resp, err := r.Jobs.Submit(r.t.Context(), api.SubmitRequest{Jobs: []api.Spec{s}})
	if err != nil {
		r.t.Fatal(err)
	}
	if resp.Jobs[0].Error != nil {
		r.t.Fatal(resp.Jobs[0].Error)
	}
	return resp.Jobs[0].ID
}

// until waits until f returns true.
func (r *rig) until(what string, f func() bool) {
	r.t.Helper()
	await.True(r.t, what, f)
}

// ends waits until a job is in a state.
func (r *rig) ends(id int64, state string) *api.JobResponse {
	r.t.Helper()
	var last *api.JobResponse
	r.until(state, func() bool {
		j, err := r.Jobs.Get(r.t.Context(), id)
		if err != nil {
			r.t.Fatal(err)
		}
		last = j
		return j.Job.State == state
	})
	return last
}

// inQS waits until the QS has had n submissions.
func (r *rig) inQS(n int) []bridge.Submission {
	r.t.Helper()
	r.until("submissions", func() bool { return len(r.qs.Submissions()) == n })
	return r.qs.Submissions()
}

// markersDiffer checks that all submissions have different markers.
func (r *rig) markersDiffer() {
	r.t.Helper()
	var markers []string
	for _, s := range r.qs.Submissions() {
		markers = append(markers, s.Marker)
	}
	slices.Sort(markers)
	if n := len(slices.Compact(markers)); n != len(r.qs.Submissions()) {
		r.t.Errorf("%d submissions have %d markers", len(r.qs.Submissions()), n)
	}
}

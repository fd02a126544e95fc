//go:build chaos

package postgres_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/store/internal/linear"
	"github.com/fairlead/fairlead/store/postgres"
)

var (
	historyLength = flag.Duration("history", 20*time.Second, "how long TestChaosHistory lets processes contend for leases")
	historySeed   = flag.Uint64("history-seed", 0, "of its faults; 0: a new one")
)

// contender is what a process of TestChaosHistory is told, by its environment.
type contender struct {
	URL, Log string
	Jobs     []int64
	First    int // number of its first client
	Began    time.Time
	Length   time.Duration
	Seed     uint64
	Unfenced bool
}

const (
	contenderEnv     = "FAIRLEAD_TEST_CONTENDER"
	contenderClients = 3
	contenderTTL     = 250 * time.Millisecond
)

// init makes a contender of this process, if it is to be one.
func init() {
	text := os.Getenv(contenderEnv)
	if text == "" {
		return
	}
	var c contender
	err := json.Unmarshal([]byte(text), &c)
	if err == nil {
		err = c.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// monotonic is a clock that all processes of the machine share.
func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

func (c *contender) options() linear.Options {
	return linear.Options{Clients: contenderClients, TTL: contenderTTL, Length: c.Length, Seed: c.Seed, Clock: monotonic, Cut: 5, Faults: true}
}

// run contends for leases. Each call is written down before it is made, and again when it is
// answered.
func (c *contender) run() error {
	ctx := context.Background()
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	store, err := postgres.Open(ctx, c.URL, postgres.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	stores := []fairlead.Store{store}
	if c.Unfenced {
		stores[0] = linear.Unfenced{Store: store}
	}
	o := c.options()
	o.Note = func(calls []*linear.Call) {
		var text bytes.Buffer
		for _, k := range calls {
			if err := json.NewEncoder(&text).Encode(k); err != nil {
				panic(err)
			}
		}
		log.Write(text.Bytes())
	}
	_, err = linear.Contend(ctx, stores, c.Jobs, c.Began, c.First, o)
	return err
}

// readCalls reads what a process wrote down. It may have been killed while it wrote.
func readCalls(t *testing.T, file string) (calls []*linear.Call) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	type name struct{ client, n int }
	last := map[name]*linear.Call{}
	for line := range bytes.Lines(text) {
		var k linear.Call
		if json.Unmarshal(line, &k) == nil {
			last[name{k.Client, k.N}] = &k
		}
	}
	for _, k := range last {
		calls = append(calls, k)
	}
	return calls
}

// arena is a run of TestChaosHistory.
type arena struct {
	t       *testing.T
	rng     *rand.Rand
	cluster *pgtest.Cluster
	to      contender // what all are told
	places  []*place
	clients int
	faults  map[string]int
}

// place is where a contender is, and after it another.
type place struct {
	cmd  *exec.Cmd
	done chan struct{}
	logs []string
}

func (a *arena) start(p *place) {
	a.t.Helper()
	to := a.to
	to.First = a.clients
	a.clients += contenderClients
	to.Log = filepath.Join(a.t.TempDir(), strconv.Itoa(to.First))
	p.logs = append(p.logs, to.Log)
	text, err := json.Marshal(to)
	if err != nil {
		a.t.Fatal(err)
	}
	p.cmd = exec.Command("/proc/self/exe")
	p.cmd.Env = append(os.Environ(), contenderEnv+"="+string(text))
	p.cmd.Stderr = os.Stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	p.done = make(chan struct{})
	go func(c *exec.Cmd, done chan struct{}) { c.Wait(); close(done) }(p.cmd, p.done)
}

// fault hurts a process, or the database.
func (a *arena) fault() {
	a.t.Helper()
	p := a.places[a.rng.IntN(len(a.places))]
	switch n := a.rng.IntN(8); {
	case n == 0:
		a.faults["stop-database"]++
		a.cluster.Halt()
		if err := a.cluster.Run(); err != nil {
			a.t.Fatal(err)
		}
	case n < 3:
		a.faults["sigkill"]++
		p.cmd.Process.Kill()
		<-p.done
		a.start(p)
	default:
		a.faults["sigstop"]++
		p.cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(time.Duration(a.rng.Int64N(int64(2 * contenderTTL))))
		p.cmd.Process.Signal(syscall.SIGCONT)
	}
}

// record lets four processes contend for leases while it hurts them, and returns their calls.
func (a *arena) record() []*linear.Call {
	a.t.Helper()
	store, err := postgres.Open(a.t.Context(), a.to.URL, postgres.Options{})
	if err != nil {
		a.t.Fatal(err)
	}
	defer store.Close()
	if a.to.Jobs, err = linear.Submit(a.t.Context(), store, 4+3*int(a.to.Length/time.Second)); err != nil {
		a.t.Fatal(err)
	}
	a.to.Began = time.Now()
	for range 4 {
		p := &place{}
		a.places = append(a.places, p)
		a.start(p)
	}
	for time.Since(a.to.Began) < a.to.Length {
		time.Sleep(time.Duration(a.rng.IntN(400)) * time.Millisecond)
		a.fault()
	}
	var calls []*linear.Call
	for _, p := range a.places {
		<-p.done
		for _, log := range p.logs {
			calls = append(calls, readCalls(a.t, log)...)
		}
	}
	o := a.to.options()
	o.Faults = false
	seen, err := linear.ReadAll(a.t.Context(), store, a.to.Jobs, o)
	if err != nil {
		a.t.Fatal(err)
	}
	return append(calls, seen...)
}

// TestChaosHistory lets four processes contend for the leases of the same tasks while they
// are killed and stopped, calls are given up, and the database is stopped and started. What
// they saw has to be linearizable. With clients that pass over the fence it is not.
func TestChaosHistory(t *testing.T) {
	seed := *historySeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("to repeat: -history=%v -history-seed=%d", *historyLength, seed)
	for _, unfenced := range []bool{false, true} {
		length := *historyLength
		if unfenced {
			length /= 4
		}
		cluster := pgtest.OwnCluster(t)
		a := &arena{
			t: t, rng: rand.New(rand.NewPCG(seed, 0)), cluster: cluster, faults: map[string]int{},
			to: contender{URL: cluster.URL(), Length: length, Seed: seed, Unfenced: unfenced},
		}
		calls := a.record()
		r := linear.Check(calls, time.Minute, linear.Pictures(t))
		fmt.Printf("faults=%v unfenced=%v calls=%d leases=%d unanswered=%d stale-refused=%d tasks=%d not-linearizable=%d undecided=%d\n",
			a.faults, unfenced, r.Calls, linear.Leases(calls), count(calls, func(k *linear.Call) bool { return k.Unknown }),
			count(calls, func(k *linear.Call) bool { return k.Stale }), r.Tasks, len(r.Bad), r.Undecided)
		switch {
		case linear.Leases(calls) < len(a.to.Jobs):
			t.Error("void: too few leases were granted")
		case unfenced && len(r.Bad) == 0:
			t.Error("clients that pass over the fence were not noticed")
		case !unfenced && len(r.Bad)+r.Undecided > 0:
			t.Errorf("not linearizable: %v; undecided: %d", r.Bad, r.Undecided)
		}
	}
}

func count(calls []*linear.Call, is func(*linear.Call) bool) (n int) {
	for _, k := range calls {
		if is(k) {
			n++
		}
	}
	return n
}

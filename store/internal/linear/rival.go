package linear

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead/fairlead/queue"
)

// rival holds the instructions for a process that contends for leases, passed in its environment.
type rival struct {
	Place    string // of the store
	Log      string
	Jobs     []int64
	First    int // number of its first client
	Clients  int
	Began    time.Time
	Length   time.Duration
	Steps    int
	Grace    time.Duration // grace period of leases when the store is opened
	Seed     uint64
	Unfenced bool
}

const (
	rivalEnv = "FAIRLEAD_TEST_RIVAL"
	rivalTTL = 250 * time.Millisecond
)

// Rival turns this process into one that contends for leases, if it was started for that, and exits. Packages that use
// an [Arena] call it during initialization.
func Rival(open func(ctx context.Context, place string) (queue.Store, error)) {
	text := os.Getenv(rivalEnv)
	if text == "" {
		return
	}
	var r rival
	err := json.Unmarshal([]byte(text), &r)
	if err == nil {
		err = r.run(open)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// monotonic returns the time of a clock that all processes of the machine share.
func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

func (r *rival) options() Options {
	return Options{Clients: r.Clients, TTL: rivalTTL, Length: r.Length, Steps: r.Steps, Seed: r.Seed, Clock: monotonic, Cut: 5, Faults: true}
}

// run contends for leases. It writes each call to the log before making it, and again when it is answered.
func (r *rival) run(open func(context.Context, string) (queue.Store, error)) error {
	ctx := context.Background()
	log, err := os.OpenFile(r.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	o := r.options()
	o.Note = func(calls []*Call) {
		text, err := Encode(calls)
		if err == nil {
			_, err = log.Write(text)
		}
		if err != nil {
			panic(err)
		}
	}
	opening := &client{o: o, n: r.First + r.Clients}
	opened := opening.begin(Open, 0, -1)
	opened.TTL = r.Grace
	if r.Grace > 0 {
		opening.note(opened)
	}
	store, err := open(ctx, r.Place)
	if err != nil {
		return err
	}
	defer store.Close()
	if opening.end(nil, opened); r.Grace > 0 {
		opening.note(opened)
	}
	if r.Unfenced {
		store = Unfenced{store}
	}
	_, err = Contend(ctx, []queue.Store{store}, r.Jobs, r.Began, r.First, o)
	return err
}

// Package killtest kills a process that submits to a queueing system, and at times the system too, at
// random instants. Then it checks that each submission is in the queue exactly once.
//
// The test starts its own program again as the submitting process. Like a bridge with its ledger, this
// process prints each marker before it submits it, and prints each answer.
package killtest

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/queue"
)

// Rig is a queueing system in which nothing runs.
type Rig struct {
	Address  string // address of the system, for the submitting process
	Open     func() bridge.QS
	Kill     func() // kills the system
	Start    func()
	Contents func() []string // returns the markers in the queue
	Kills    int             // number of kills of the submitting process
	Restarts int             // number of these kills that also kill the system
	// Forgets is the number of confirmed entries that the system may lose.
	// The bridge must notice each loss.
	Forgets int
	// Lull is the longest time between the chosen output line and the kill, about the
	// duration of a submission. Default: 3ms.
	Lull time.Duration
}

// addressVariable and nameVariable are set in the environment of the submitting process.
const (
	addressVariable = "FAIRLEAD_KILLTEST_ADDRESS"
	nameVariable    = "FAIRLEAD_KILLTEST_NAME"
)

// Main is for TestMain to call. In the submitting process it submits until it is killed; elsewhere it returns.
func Main(open func(address string) bridge.QS) {
	address := os.Getenv(addressVariable)
	if address == "" {
		return
	}
	q := open(address)
	for n := 0; ; n += 5 {
		var all []bridge.Submission
		for i := range 5 {
			all = append(all, submission(fmt.Sprintf("%s-%d", os.Getenv(nameVariable), n+i)))
			fmt.Printf("intent %s\n", all[i].Marker)
		}
		receipts, err := q.Submit(context.Background(), all)
		if err != nil {
			fmt.Printf("error %q\n", err)
			<-time.After(10 * time.Millisecond)
		}
		for i, r := range receipts {
			if r.Err == nil {
				fmt.Printf("id %s %s\n", all[i].Marker, r.ID)
			}
		}
	}
}

func submission(marker string) bridge.Submission {
	return bridge.Submission{
		Marker: marker, Priority: 3, Ref: queue.Ref{JobID: 1, Attempt: 1},
		Job: &queue.Job{ID: 1, User: "root", Argv: []string{"/bin/true"}, Tasks: 1},
	}
}

// Run kills the submitting process rig.Kills times and then checks the contents of the queue.
func Run(t *testing.T, rig Rig) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	var sent []string
	lost, absent := 0, 0
	for round := range rig.Kills {
		var during func()
		if round*rig.Restarts/rig.Kills != (round+1)*rig.Restarts/rig.Kills {
			during = rig.Kill
		}
		entries := victim(t, rig, fmt.Sprintf("m%d", round), rng, during)
		if during != nil {
			rig.Start()
		}
		l, a := goOn(t, rig, entries)
		lost, absent = lost+l, absent+a
		for _, e := range entries {
			sent = append(sent, e.Marker)
		}
	}
	forgotten := forgotten(t, rig, sent)
	count := map[string]int{}
	for _, marker := range rig.Contents() {
		count[marker]++
	}
	for _, marker := range sent {
		if want := map[bool]int{false: 1}[forgotten[marker]]; count[marker] != want {
			t.Errorf("%s is in the queue %d times, want %d", marker, count[marker], want)
		}
	}
	if n := len(forgotten); n > rig.Forgets || len(count) != len(sent)-n {
		t.Errorf("%d different submissions in the queue, want %d; it lost %d, and may lose %d", len(count), len(sent), n,
			rig.Forgets)
	}
	t.Logf("the queue lost %d that it had acknowledged", len(forgotten))
	t.Logf("figure: %d kills of the bridge, %d of the queue: %d submissions; the answers of %d were lost, "+
		"and %d of these had not arrived", rig.Kills, rig.Restarts, len(sent), lost, absent)
}

// forgotten returns the markers of sent that a bridge would find absent.
func forgotten(t *testing.T, rig Rig, sent []string) map[string]bool {
	t.Helper()
	q := rig.Open()
	defer q.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var entries []bridge.Entry
	for _, marker := range sent {
		entries = append(entries, bridge.Entry{Marker: marker, Submitted: time.Now()})
	}
	gone := map[string]bool{}
	for i, s := range await(ctx, t, q, entries) {
		if s.Phase == bridge.Absent {
			gone[sent[i]] = true
		}
	}
	return gone
}

// victim starts a submitting process, kills it, and returns the entries that it meant to submit, with the ids that it
// had received. It calls the function "during", if set, just before the kill.
func victim(t *testing.T, rig Rig, name string, rng *rand.Rand, during func()) []bridge.Entry {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), addressVariable+"="+rig.Address, nameVariable+"="+name)
	cmd.Stderr = os.Stderr
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout = w
	began := time.Now()
	child, err := daemon.Start(cmd, 9)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	lines, lull := 1+rng.IntN(100), time.Duration(rng.Int64N(int64(cmp.Or(rig.Lull, 3*time.Millisecond))))
	var entries []bridge.Entry
	at := map[string]int{}
	for scanner := bufio.NewScanner(r); scanner.Scan(); {
		words := strings.Fields(scanner.Text())
		switch words[0] {
		case "intent":
			at[words[1]] = len(entries)
			entries = append(entries, bridge.Entry{Marker: words[1], Submitted: began})
		case "id":
			entries[at[words[1]]].ID = words[2]
		}
		if lines--; lines == 0 {
			time.AfterFunc(lull, func() {
				if during != nil {
					during()
				}
				child.Signal(9, time.Minute)
			})
		}
	}
	child.Signal(9, time.Minute)
	return entries
}

// goOn acts like a restarted bridge: it looks for each entry, and submits an entry again if it has no
// answer and is absent. It returns the number of lost answers and of absent entries.
func goOn(t *testing.T, rig Rig, entries []bridge.Entry) (lost, absent int) {
	t.Helper()
	q := rig.Open()
	defer q.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for i, s := range await(ctx, t, q, entries) {
		e := entries[i]
		if e.ID == "" {
			lost++
		}
		switch {
		case s.Phase == bridge.Pending:
		case e.ID != "":
			t.Errorf("%s was answered, and is %+v now", e.Marker, s)
		case s.Phase == bridge.Absent:
			absent++
			receipts, err := q.Submit(ctx, []bridge.Submission{submission(e.Marker)})
			if err != nil || receipts[0].Err != nil {
				t.Fatalf("submit %s again: %+v, %v", e.Marker, receipts, err)
			}
		}
	}
	return lost, absent
}

// await calls Look until the status of every entry is sure.
func await(ctx context.Context, t *testing.T, q bridge.QS, entries []bridge.Entry) []bridge.Status {
	t.Helper()
	for {
		got, err := q.Look(ctx, entries)
		unsure := false
		for _, s := range got {
			unsure = unsure || s.Phase == bridge.Unsure
		}
		if err == nil && !unsure {
			return got
		}
		select {
		case <-ctx.Done():
			t.Fatal("it is not sure of all: ", errors.Join(err, ctx.Err()))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

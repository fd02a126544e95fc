//go:build real

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/queue"
)

// ledger is the file in which tasks write that they began (b) and ended (e), with their attempt.
type ledger struct{ file string }

// ledgerEntry is one line of a ledger.
type ledgerEntry struct {
	what   string
	job    int64
	number int
	try    int
}

// note returns a shell command that appends a line. Lines as short as these are written as a whole.
func (l ledger) note(what string) string {
	return fmt.Sprintf("echo %s $FAIRLEAD_JOB $FAIRLEAD_NUMBER $FAIRLEAD_ATTEMPT >>%s", what, l.file)
}

func (l ledger) read(t testing.TB) []ledgerEntry {
	t.Helper()
	text, err := os.ReadFile(l.file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []ledgerEntry
	for line := range strings.Lines(string(text)) {
		var e ledgerEntry
		if _, err := fmt.Sscanln(line, &e.what, &e.job, &e.number, &e.try); err != nil {
			t.Fatalf("ledger: %q: %v", line, err)
		}
		out = append(out, e)
	}
	return out
}

// count counts the lines of one kind from attempts with this number.
func (l ledger) count(t *testing.T, what string, try int) (n int) {
	t.Helper()
	for _, e := range l.read(t) {
		if e.what == what && e.try == try {
			n++
		}
	}
	return n
}

// checkCounters compares the counters of a store with its jobs, and the counters of the jobs that match q
// with their tasks. It returns how many differ.
func checkCounters(t testing.TB, store interface {
	queue.Store
	queue.Accountant
}, q queue.Query) (wrong int) {
	t.Helper()
	ctx := context.Background()
	kept, err1 := store.Usage(ctx)
	counted, err2 := store.Recount(ctx)
	jobs, err3 := store.Jobs(ctx, q)
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	for pool, acc := range kept.Pools {
		if acc.Counters != counted[pool] {
			wrong++
			t.Errorf("pool %s: kept %+v, counted %+v", pool, acc.Counters, counted[pool])
		}
	}
	for _, j := range jobs {
		tasks, err := store.Tasks(ctx, j.ID)
		if err != nil {
			t.Fatal(err)
		}
		n := map[queue.State]int{queue.Waiting: j.Tasks - len(tasks)}
		for _, k := range tasks {
			n[k.State]++
		}
		if j.Cancel { // tasks that never started were canceled without rows of their own
			n[queue.Cancelled], n[queue.Waiting] = n[queue.Cancelled]+n[queue.Waiting], 0
		}
		if n[queue.Waiting] != j.Waiting || n[queue.Running] != j.Running || n[queue.Succeeded] != j.Succeeded ||
			n[queue.Failed] != j.Failed || n[queue.Cancelled] != j.Cancelled {
			wrong++
			t.Errorf("job %d says %d waiting, %d running, %d succeeded, %d failed, %d cancelled; its tasks are %v",
				j.ID, j.Waiting, j.Running, j.Succeeded, j.Failed, j.Cancelled, n)
		}
	}
	return wrong
}

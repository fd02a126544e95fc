//go:build linux

package process

import (
	"os"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/queue"
)

// TestMeasure: the memory and the processor time of all processes of a running task count, and no other processes.
func TestMeasure(t *testing.T) {
	large := "x=$(head -c 64M /dev/zero | tr '\\0' x); while :; do :; done"
	r := runner(t)
	busy, idle := start(t, r, shell(t, "("+large+") & wait")), start(t, r, shell(t, "exec sleep 1000"))
	defer func() {
		for _, p := range []*Process{busy, idle} {
			p.Kill("over", queue.Cancelled)
			p.Wait()
		}
	}()
	var all []Used
	if !await.Within(time.Minute, func() bool {
		all = Measure([]*Process{busy, nil, idle})
		return all[0].Memory > 64<<20 && all[0].CPU > 300*time.Millisecond
	}) {
		t.Fatalf("the busy task uses %+v", all)
	}
	if all[1] != (Used{}) || all[2].CPU > 100*time.Millisecond || all[2].Memory > 32<<20 || all[2].Elapsed <= 0 {
		t.Errorf("nothing uses %+v, an idle task %+v", all[1], all[2])
	}
	if all[0].Elapsed <= 0 || all[0].Memory > 1<<30 {
		t.Errorf("the busy task uses %+v", all[0])
	}
}

// TestParseStat: the name of a program may contain anything.
func TestParseStat(t *testing.T) {
	stat := "42 (a) b (c) S 1 42 7 0 -1 4194560 100 200 0 0 30 20 3 7 20 0 1 0 12345 1000000 50 184467 1 1 0 0"
	session, cpu, memory := parseStat([]byte(stat))
	if session != 7 || cpu != 600*time.Millisecond || memory != 50*int64(os.Getpagesize()) {
		t.Errorf("session %d, %v, %d bytes", session, cpu, memory)
	}
	for _, bad := range []string{"", "42 (sh", "42 (sh) S 1 2 3"} {
		if session, cpu, memory := parseStat([]byte(bad)); session != 0 || cpu != 0 || memory != 0 {
			t.Errorf("%q: session %d, %v, %d bytes", bad, session, cpu, memory)
		}
	}
}

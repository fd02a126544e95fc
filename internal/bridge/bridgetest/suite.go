package bridgetest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/queue"
)

// suite is the environment of a case.
type suite struct {
	*testing.T
	rig   *Rig
	qs    bridge.QS
	dir   string // for traces
	user  string
	run   string // part of the markers of this case
	sent  []bridge.Entry
	gates []string
}

func begin(t *testing.T, rig *Rig) *suite {
	t.Helper()
	if rig.Many == 0 {
		rig.Many = 100
	}
	if rig.Patience == 0 {
		rig.Patience = time.Minute
	}
	if len(rig.Levels) < 3 {
		t.Fatal("the rig has fewer than three levels")
	}
	s := &suite{T: t, rig: rig, qs: rig.QS, dir: t.TempDir(), run: rand.Text()[:8]}
	// The user as whom entries run must reach the traces.
	for _, d := range []string{s.dir, filepath.Dir(s.dir)} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s.user = u.Username
	t.Cleanup(s.end)
	return s
}

// end leaves nothing in the QS that would run.
func (s *suite) end() {
	for _, g := range s.gates {
		s.open(g)
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.rig.Patience)
	defer cancel()
	if err := s.qs.Cancel(ctx, s.sent); err != nil && !s.Failed() {
		s.Errorf("cancel the remaining entries: %v", err)
	}
	if !s.Failed() {
		s.until(ctx, s.sent, over)
	}
	if err := s.qs.Close(); err != nil {
		s.Errorf("close: %v", err)
	}
}

// over reports whether nothing more will happen to an entry.
func over(x bridge.Status) bool {
	return x.Phase == bridge.Absent || x.Phase == bridge.Unsure || ended(x)
}

func ended(x bridge.Status) bool {
	return x.Phase == bridge.Succeeded || x.Phase == bridge.Failed || x.Phase == bridge.Cancelled
}

func in(phases ...bridge.Phase) func(bridge.Status) bool {
	return func(x bridge.Status) bool { return slices.Contains(phases, x.Phase) }
}

// job returns a submission at a level, where 0 is the lowest.
func (s *suite) job(level int, argv ...string) bridge.Submission {
	n := len(s.sent) + 1
	s.sent = append(s.sent, bridge.Entry{Marker: fmt.Sprintf("test-%s-%d", s.run, n), Submitted: time.Now()})
	return bridge.Submission{
		Marker: s.sent[n-1].Marker, Priority: s.rig.Levels[level], Ref: queue.Ref{JobID: int64(n), Attempt: 1},
		Job: &queue.Job{
			ID: int64(n), Name: "test", User: s.user, Argv: argv, Dir: s.dir, Tasks: 1, Limit: time.Hour,
			Request: queue.Amounts{"cpu": 1},
		},
	}
}

// shell returns a submission of a shell command.
func (s *suite) shell(level int, command string, args ...string) bridge.Submission {
	return s.job(level, append([]string{"/bin/sh", "-c", command}, args...)...)
}

// gate returns a submission that runs until the gate is opened, and the gate.
func (s *suite) gate(level int) (bridge.Submission, string) {
	g := filepath.Join(s.dir, "gate-"+rand.Text()[:8])
	s.gates = append(s.gates, g)
	return s.shell(level, `while [ ! -e "$0" ]; do sleep 0.05; done`, g), g
}

func (s *suite) open(gate string) {
	s.Helper()
	if err := os.WriteFile(gate, nil, 0o666); err != nil {
		s.Fatal(err)
	}
}

// context returns a context for one call.
func (s *suite) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), s.rig.Patience)
	s.Cleanup(cancel)
	return ctx
}

// submit submits, and returns the entries.
func (s *suite) submit(all ...bridge.Submission) []bridge.Entry {
	s.Helper()
	receipts, err := s.qs.Submit(s.context(), all)
	if err != nil || len(receipts) != len(all) {
		s.Fatalf("submit: %d receipts for %d, %v", len(receipts), len(all), err)
	}
	var entries []bridge.Entry
	for i, r := range receipts {
		if r.Err != nil || r.ID == "" {
			s.Fatalf("submission %d: %+v", i, r)
		}
		at := slices.IndexFunc(s.sent, func(e bridge.Entry) bool { return e.Marker == all[i].Marker })
		s.sent[at].ID = r.ID
		entries = append(entries, s.sent[at])
	}
	return entries
}

// look asks for entries once.
func (s *suite) look(all ...bridge.Entry) []bridge.Status {
	s.Helper()
	got, err := s.qs.Look(s.context(), all)
	if err != nil || len(got) != len(all) {
		s.Fatalf("look: %d statuses for %d, %v", len(got), len(all), err)
	}
	return got
}

// await looks until the given function accepts all entries.
func (s *suite) await(all []bridge.Entry, is func(bridge.Status) bool) []bridge.Status {
	s.Helper()
	return s.until(s.context(), all, is)
}

// until looks until the given function accepts all entries. Meanwhile the QS may not
// answer.
func (s *suite) until(ctx context.Context, all []bridge.Entry, is func(bridge.Status) bool) []bridge.Status {
	s.Helper()
	if len(all) == 0 {
		return nil
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := s.qs.Look(ctx, all)
		if err == nil && len(got) == len(all) && !slices.ContainsFunc(got, func(x bridge.Status) bool { return !is(x) }) {
			return got
		}
		select {
		case <-ctx.Done():
			s.Fatalf("not within %v: last %d statuses for %d, %v: %+v", s.rig.Patience, len(got), len(all), err, first(got, 5))
		case <-tick.C:
		}
	}
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

func (s *suite) cancel(all ...bridge.Entry) {
	s.Helper()
	if err := s.qs.Cancel(s.context(), all); err != nil {
		s.Fatalf("cancel: %v", err)
	}
}

// trace returns the name of a file to which entries write. The method lines returns
// the contents of that file.
func (s *suite) trace(name string) string { return filepath.Join(s.dir, name) }

func (s *suite) lines(file string) []string {
	s.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		s.Fatal(err)
	}
	return strings.Fields(string(text))
}

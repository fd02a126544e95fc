package bridgetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/queue"
)

// describes checks that the QS has a name and takes the levels of the rig.
func describes(s *suite) {
	q, err := s.qs.Describe(s.context())
	if err != nil || q.Name == "" {
		s.Fatalf("got %+v, %v", q, err)
	}
	levels := frontback.Settings{Groups: []frontback.Group{{Name: "all", Weight: 1}}, Levels: s.rig.Levels}
	for range s.rig.Levels[2:] {
		levels.Priority = append(levels.Priority, fmt.Sprint("above", len(levels.Priority)))
	}
	for _, d := range levels.Doubts(
		frontback.Queue{
			Name: q.Name, Ages: frontback.No, Obeys: frontback.Yes, Lowest: q.Lowest, Highest: q.Highest,
			SmallFirst: q.SmallFirst,
		}) {
		s.Errorf("levels %v of the rig: %s", s.rig.Levels, d.Text)
	}
}

// runs checks that a command runs once and knows its task, and that the facts about its end are reported.
func runs(s *suite) {
	job := s.shell(1, `echo "$FAIRLEAD_JOB.$FAIRLEAD_ATTEMPT.$COLOUR" >> "$0"; echo said`, s.trace("ran"))
	job.Job.Env = map[string]string{"COLOUR": "green"}
	job.Ref = queue.Ref{JobID: 4711, Task: 2, Attempt: 3}
	before := time.Now().Add(-2 * time.Second) // some queueing systems count whole seconds
	e := s.submit(job)
	x := s.await(e, ended)[0]
	if x.Phase != bridge.Succeeded || x.ExitCode != 0 || x.ID != e[0].ID {
		s.Errorf("got %+v", x)
	}
	if got := s.lines(s.trace("ran")); !slices.Equal(got, []string{"4711.3.green"}) {
		s.Errorf("it left %q", got)
	}
	if !x.Began.IsZero() && x.Began.Before(before) ||
		!x.Ended.IsZero() && (x.Ended.Before(x.Began) || x.Ended.After(time.Now().Add(2*time.Second))) {
		s.Errorf("began %v, ended %v; now is %v", x.Began, x.Ended, time.Now())
	}
	if !s.rig.Lacks.Output && !strings.Contains(x.Output, "said") {
		s.Errorf("its output is %q", x.Output)
	}
}

// failures checks that a failure is reported, with its code, and not tried again.
func failures(s *suite) {
	e := s.submit(s.shell(1, `echo x >> "$0"; exit 3`, s.trace("ran")), s.shell(1, `kill -9 $$`))
	got := s.await(e, ended)
	for i, x := range got {
		if x.Phase != bridge.Failed {
			s.Errorf("entry %d: %+v", i, x)
		}
	}
	if !s.rig.Lacks.ExitCode && got[0].ExitCode != 3 {
		s.Errorf("exit code %d, want 3", got[0].ExitCode)
	}
	if n := len(s.lines(s.trace("ran"))); n != 1 {
		s.Errorf("it ran %d times", n)
	}
}

// notFound checks that an entry that cannot be started fails, or is refused.
func notFound(s *suite) {
	receipts, err := s.qs.Submit(s.context(), []bridge.Submission{s.job(1, "/nonexistent/command")})
	if err != nil || len(receipts) != 1 {
		s.Fatalf("got %+v, %v", receipts, err)
	}
	if receipts[0].Err != nil {
		return
	}
	s.sent[0].ID = receipts[0].ID
	x := s.await(s.sent[:1], ended)[0]
	if x.Phase != bridge.Failed || x.ExitCode == 0 && x.Error == "" {
		s.Errorf("got %+v", x)
	}
}

// order checks that entries wait while another runs. Then they run by level, and within a level in the order
// of submission, within a call of Submit and across calls.
func order(s *suite) {
	hold, gate := s.gate(2)
	s.await(s.submit(hold), in(bridge.Running))
	record := func(level, n int) bridge.Submission {
		return s.shell(level, `echo "$1" >> "$0"`, s.trace("order"), fmt.Sprintf("%d-%d", level, n))
	}
	levels := [][]int{{0, 0, 1, 0}, {2, 1, 1, 0}, {1, 2}}
	var entries []bridge.Entry
	var want []string
	n := 0
	for _, call := range levels {
		var all []bridge.Submission
		for _, level := range call {
			all = append(all, record(level, n))
			want = append(want, fmt.Sprintf("%d-%d", level, n))
			n++
		}
		entries = append(entries, s.submit(all...)...)
	}
	if !s.rig.Lacks.Order {
		slices.SortStableFunc(want, func(a, b string) int { return strings.Compare(b[:1], a[:1]) })
	}
	for i, x := range s.look(entries...) {
		if x.Phase != bridge.Pending {
			s.Errorf("entry %d while another runs: %+v", i, x)
		}
	}
	s.open(gate)
	s.await(entries, in(bridge.Succeeded))
	if got := s.lines(s.trace("order")); !slices.Equal(got, want) {
		s.Errorf("they ran in the order %v, want %v", got, want)
	}
}

// many checks that each of many entries in one call runs once.
func many(s *suite) {
	var all []bridge.Submission
	for i := range s.rig.Many {
		all = append(all, s.shell(i%3, `echo "$1" >> "$0"`, s.trace("many"), fmt.Sprint(i)))
	}
	entries := s.submit(all...)
	ids := map[string]bool{}
	for _, e := range entries {
		ids[e.ID] = true
	}
	if len(ids) != len(all) {
		s.Errorf("%d different ids of %d entries", len(ids), len(all))
	}
	for range 1 + s.rig.Many/100 { // one Patience for each hundred
		if !slices.ContainsFunc(s.look(entries...), func(x bridge.Status) bool { return !ended(x) }) {
			break
		}
		s.patiently(entries)
	}
	s.await(entries, in(bridge.Succeeded))
	s.eachOnce(s.trace("many"), s.rig.Many)
}

// patiently waits until all entries have ended, or for Patience.
func (s *suite) patiently(entries []bridge.Entry) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(s.rig.Patience); time.Now().Before(end); <-tick.C {
		if !slices.ContainsFunc(s.look(entries...), func(x bridge.Status) bool { return !ended(x) }) {
			return
		}
	}
}

// eachOnce checks that a trace contains each of the numbers from 0 up to, but not including, n once.
func (s *suite) eachOnce(file string, n int) {
	s.Helper()
	count := map[string]int{}
	for _, line := range s.lines(file) {
		count[line]++
	}
	for i := range n {
		if got := count[fmt.Sprint(i)]; got != 1 {
			s.Errorf("entry %d ran %d times", i, got)
		}
	}
	if len(count) != n {
		s.Errorf("%d different entries ran, want %d", len(count), n)
	}
}

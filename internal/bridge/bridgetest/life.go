package bridgetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
)

// byMarker checks that an entry whose reply was lost is found in each phase, with its ID.
func byMarker(s *suite) {
	hold, gate := s.gate(1)
	e := s.submit(hold, s.shell(1, "true"), s.shell(1, "exit 1"))
	nameless := slices.Clone(e)
	for i := range nameless {
		nameless[i].ID = ""
	}
	found := func(phases ...bridge.Phase) {
		s.Helper()
		for i, p := range phases {
			x := s.await(nameless[i:i+1], in(p))[0]
			if x.ID != e[i].ID {
				s.Errorf("entry %d has the id %q when looked for by its marker, and %q otherwise", i, x.ID, e[i].ID)
			}
		}
	}
	found(bridge.Running, bridge.Pending, bridge.Pending)
	s.open(gate)
	found(bridge.Succeeded, bridge.Succeeded, bridge.Failed)
}

// absent checks that an entry that was never submitted is absent if the QS can be sure, and otherwise unsure.
func absent(s *suite) {
	never := bridge.Entry{Marker: "test-" + s.run + "-never", Submitted: time.Now()}
	s.submit(s.shell(1, "true"))
	if s.rig.Lacks.Absence {
		if x := s.look(never)[0]; x.Phase != bridge.Unsure && x.Phase != bridge.Absent {
			s.Errorf("got %+v of an entry that was never submitted", x)
		}
		return
	}
	s.await([]bridge.Entry{never}, in(bridge.Absent))
}

// cancelWaiting checks that an entry that is canceled before it starts never runs.
func cancelWaiting(s *suite) {
	hold, gate := s.gate(1)
	e := s.submit(hold, s.shell(1, `echo no >> "$0"`, s.trace("ran")), s.shell(0, `echo yes >> "$0"`, s.trace("ran")))
	s.await(e[:1], in(bridge.Running))
	s.cancel(e[1])
	s.await(e[1:2], in(bridge.Cancelled, bridge.Absent))
	s.open(gate)
	s.await(e[2:], in(bridge.Succeeded))
	if got := s.lines(s.trace("ran")); !slices.Equal(got, []string{"yes"}) {
		s.Errorf("there ran %v", got)
	}
	if x := s.look(e[1])[0]; !over(x) {
		s.Errorf("the cancelled entry is %+v", x)
	}
}

// cancelRunning checks that cancelling a running entry ends it, and that the next one starts.
func cancelRunning(s *suite) {
	e := s.submit(
		s.shell(1, `echo began >> "$0"; n=0; while [ $n -lt 6000 ]; do sleep 0.1; n=$((n+1)); done; echo ended >> "$0"`,
			s.trace("ran")), s.shell(0, "true"))
	s.await(e[:1], in(bridge.Running))
	s.cancel(e[0])
	x := s.await(e[:1], over)[0]
	if x.Phase == bridge.Succeeded {
		s.Errorf("got %+v", x)
	}
	s.await(e[1:], in(bridge.Succeeded))
	if got := s.lines(s.trace("ran")); slices.Contains(got, "ended") {
		s.Errorf("it ran on: %v", got)
	}
}

// cancelEnded checks that cancelling an ended entry, even twice, does not change it, and that an entry that
// was never submitted can be canceled.
func cancelEnded(s *suite) {
	e := s.submit(s.shell(1, "true"))
	s.await(e, in(bridge.Succeeded))
	s.cancel(e[0])
	s.cancel(e[0], e[0])
	if x := s.look(e[0])[0]; x.Phase != bridge.Succeeded {
		s.Errorf("got %+v", x)
	}
	s.cancel(bridge.Entry{Marker: "test-" + s.run + "-never", Submitted: time.Now()})
	s.cancel()
}

// cancelByMarker checks that an entry whose reply was lost can be canceled.
func cancelByMarker(s *suite) {
	hold, gate := s.gate(1)
	e := s.submit(hold, s.shell(1, `echo no >> "$0"`, s.trace("ran")), s.shell(0, "true"))
	s.cancel(bridge.Entry{Marker: e[1].Marker, Submitted: e[1].Submitted})
	s.await(e[1:2], in(bridge.Cancelled, bridge.Absent))
	s.open(gate)
	s.await(e[2:], in(bridge.Succeeded))
	if got := s.lines(s.trace("ran")); len(got) != 0 {
		s.Errorf("there ran %v", got)
	}
}

// forgets checks that a forgotten entry does not change its end, and that it can be forgotten again.
func forgets(s *suite) {
	e := s.submit(s.shell(1, "true"), s.shell(1, "exit 1"))
	s.await(e, ended)
	for range 2 {
		if err := s.qs.Forget(s.context(), e); err != nil {
			s.Fatal(err)
		}
	}
	for i, x := range s.look(e...) {
		if !over(x) || i == 0 && x.Phase == bridge.Failed || i == 1 && x.Phase == bridge.Succeeded {
			s.Errorf("entry %d: %+v", i, x)
		}
	}
	if err := s.qs.Forget(s.context(), nil); err != nil {
		s.Error(err)
	}
}

// reopens checks that a second adapter finds the submissions of the first one, in each phase, and entries
// that ended between the two.
func reopens(s *suite) {
	first := s.submit(s.shell(1, "exit 7"))
	s.await(first, ended)
	hold, gate := s.gate(1)
	e := s.submit(hold, s.shell(1, "true"), s.shell(0, `echo no >> "$0"`, s.trace("ran")))
	s.await(e[:1], in(bridge.Running))
	if err := s.qs.Close(); err != nil {
		s.Fatal(err)
	}
	s.qs = s.rig.Reopen(s.T)
	if x := s.await(first, ended)[0]; x.Phase != bridge.Failed || !s.rig.Lacks.ExitCode && x.ExitCode != 7 {
		s.Errorf("what had failed is %+v", x)
	}
	s.await(e[:1], in(bridge.Running))
	s.await(e[1:], in(bridge.Pending))
	s.cancel(e[2])
	s.open(gate)
	s.await(e[:2], in(bridge.Succeeded))
	if got := s.lines(s.trace("ran")); len(got) != 0 {
		s.Errorf("there ran %v", got)
	}
}

// restarts checks that a QS that is restarted still has the entries that it acknowledged, and runs each once.
func restarts(s *suite) {
	if s.rig.Restart == nil {
		s.Skip("the queueing system cannot be restarted here")
	}
	done := s.submit(s.shell(1, "exit 7"))
	s.await(done, in(bridge.Failed))
	hold, gate := s.gate(1)
	e := s.submit(hold)
	s.await(e, in(bridge.Running))
	for i := range 5 {
		e = append(e, s.submit(s.shell(i%2, `echo "$1" >> "$0"`, s.trace("ran"), fmt.Sprint(i)))...)
	}
	s.rig.Restart(s.T)
	s.open(gate)
	s.await(e[1:], in(bridge.Succeeded))
	s.eachOnce(s.trace("ran"), 5)
	if x := s.look(done[0])[0]; !s.rig.Lacks.EndsOnRestart && x.Phase != bridge.Failed {
		s.Errorf("what had failed before is %+v", x)
	}
	if !s.rig.Lacks.RunsOnRestart {
		s.await(e[:1], ended)
	}
}

// changes checks that an adapter that signals changes signals the end of an entry.
func changes(s *suite) {
	changed := s.qs.Changed()
	if changed == nil {
		s.Skip("the queueing system does not tell of changes: it is asked from time to time")
	}
	e := s.submit(s.shell(1, "true"))
	for ctx := s.context(); ; {
		select {
		case <-changed:
			if ended(s.look(e...)[0]) {
				return
			}
		case <-ctx.Done():
			s.Fatal("nothing was told of an entry that has ended")
		}
	}
}

// concurrent checks that all methods can be called at the same time.
func concurrent(s *suite) {
	const callers = 8
	var all []bridge.Submission
	for i := range callers {
		all = append(all, s.shell(1, `echo "$1" >> "$0"`, s.trace("ran"), fmt.Sprint(i)))
	}
	ids := make([]string, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			ctx := s.context()
			receipts, err := s.qs.Submit(ctx, all[i:i+1])
			if err != nil || receipts[0].Err != nil {
				s.Errorf("submit: %+v, %v", receipts, err)
				return
			}
			ids[i] = receipts[0].ID
			e := bridge.Entry{Marker: all[i].Marker, ID: ids[i], Submitted: time.Now()}
			for range 3 {
				if _, err := s.qs.Look(ctx, []bridge.Entry{e}); err != nil {
					s.Errorf("look: %v", err)
				}
			}
			if err := s.qs.Cancel(ctx, nil); err != nil {
				s.Errorf("cancel: %v", err)
			}
		})
	}
	wg.Wait()
	for i := range s.sent {
		s.sent[i].ID = ids[i]
	}
	if s.Failed() {
		return
	}
	s.await(s.sent, in(bridge.Succeeded))
	s.eachOnce(s.trace("ran"), callers)
}

// deadline checks that a call whose context has ended soon returns an error.
func deadline(s *suite) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	began := time.Now()
	receipts, err := s.qs.Submit(ctx, []bridge.Submission{s.shell(1, "true")})
	if err == nil && (len(receipts) != 1 || receipts[0].Err == nil) {
		s.Errorf("submit after the end of its time: %+v", receipts)
	}
	if _, err := s.qs.Look(ctx, s.sent); err == nil {
		s.Error("look after the end of its time: no error")
	}
	if took := time.Since(began); took > s.rig.Patience/2 {
		s.Errorf("it took %v to give up", took)
	}
}

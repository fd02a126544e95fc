//go:build real

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// deaf is a test that records its errors and does not fail.
type deaf struct {
	testing.TB
	said []string
}

func (d *deaf) Helper()                   {}
func (d *deaf) Error(args ...any)         { d.said = append(d.said, fmt.Sprint(args...)) }
func (d *deaf) Errorf(f string, a ...any) { d.said = append(d.said, fmt.Sprintf(f, a...)) }

// small is a small run without faults, of three jobs. The second job ran twice because its agent was lost.
type small struct {
	*testing.T
	store auditedStore
	load  *load
	seen  *witness
	ids   []int64
}

func newSmall(t *testing.T, quiet testing.TB) *small {
	t.Helper()
	s := &small{T: t, store: memory.New("cpu"), seen: newWitness(), load: newLoad(quiet, ledger{filepath.Join(t.TempDir(), "ledger")})}
	for _, key := range []string{"k0", "k1", "k2"} {
		s.ids = append(s.ids, s.submit(key))
		s.acknowledge(key, s.ids[len(s.ids)-1])
	}
	s.run(s.ids[0])
	s.begin(s.ids[1])
	if lost, err := s.store.Expire(t.Context(), "a"); err != nil || len(lost) != 1 {
		t.Fatal(lost, err)
	}
	s.run(s.ids[1])
	s.report(queue.Ref{JobID: s.ids[1], Attempt: 1}, "stale_attempt")
	s.run(s.ids[2])
	return s
}

// acknowledge records that a client sent a job, and the acknowledged id.
func (s *small) acknowledge(key string, id int64) {
	o := &order{want: queue.Succeeded, noted: true}
	o.spec.Key = key
	s.load.record.send(o)
	s.load.record.acknowledged(key, id)
}

func (s *small) submit(key string) int64 {
	s.Helper()
	subs, err := s.store.Submit(s.Context(), []*queue.Job{{Kind: "k", User: "ann", Pool: "ann", Key: key, Tasks: 1, Submitted: time.Now()}})
	if err != nil || subs[0].Err != nil {
		s.Fatal(subs, err)
	}
	return subs[0].ID
}

// begin leases a task, which writes its begin to the ledger.
func (s *small) begin(id int64) queue.Ref {
	s.Helper()
	grants, err := s.store.Lease(s.Context(), "a", []queue.Want{{Job: id}}, time.Hour)
	if err != nil || grants[0].Lease == nil {
		s.Fatal(grants, err)
	}
	ref := grants[0].Lease.Ref
	s.note("b", ref)
	s.handOut(ref)
	return ref
}

// run runs a task to its end.
func (s *small) run(id int64) {
	s.Helper()
	ref := s.begin(id)
	s.note("e", ref)
	v, err := s.store.Finish(s.Context(), []queue.Result{{Ref: ref, Outcome: queue.Outcome{State: queue.Succeeded}}})
	if err != nil || v[0].Err != nil {
		s.Fatal(v, err)
	}
	s.report(ref, "")
}

func (s *small) note(what string, r queue.Ref) {
	s.Helper()
	f, err := os.OpenFile(s.load.ledger.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintln(f, what, r.JobID, r.Task, r.Attempt)
}

// handOut shows the witness that an attempt is handed out.
func (s *small) handOut(r queue.Ref) {
	s.seen.seeLeases("/v1/agents/a/poll", s.text(api.PollResponse{Start: []api.Lease{{Ref: r}}}))
}

// report shows the witness that an end is reported, and accepted or refused.
func (s *small) report(r queue.Ref, refused string) {
	seen := s.seen.seeReport(s.text(api.ReportRequest{Finished: []api.Finished{{Ref: r, State: string(queue.Succeeded)}}}))
	s.seen.seeAnswer(seen, s.text(api.ReportResponse{Finished: []*api.Error{s.refusal(refused)}}))
}

func (s *small) renew(r queue.Ref, refused string) {
	seen := s.seen.seeReport(s.text(api.ReportRequest{Renew: []queue.Ref{r}}))
	s.seen.seeAnswer(seen, s.text(api.ReportResponse{Renew: []*api.Error{s.refusal(refused)}}))
}

func (s *small) refusal(code string) *api.Error {
	if code == "" {
		return nil
	}
	return &api.Error{Code: code}
}

func (s *small) text(v any) []byte {
	s.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		s.Fatal(err)
	}
	return text
}

// miscounted is a store whose counters are off by one.
type miscounted struct{ auditedStore }

func (m miscounted) Recount(context.Context) (map[string]queue.Counters, error) {
	return map[string]queue.Counters{"ann": {Waiting: 1}}, nil
}

// doctored lists changes to the logs of a small run, which the audit has to judge.
var doctored = map[string]struct {
	doctor func(*small)
	differ func(*tally) // how the tally differs from the tally of a good run
	good   bool         // the audit must find nothing
}{
	"nothing": {func(*small) {}, func(*tally) {}, true},
	"a stale attempt is refused": {
		func(s *small) { s.renew(queue.Ref{JobID: s.ids[1], Attempt: 1}, "stale_attempt") },
		func(r *tally) { r.stale++; r.refused++ }, true,
	},
	"a job that was acknowledged is not there": {
		func(s *small) { s.acknowledge("k9", 4711) },
		func(r *tally) { r.submitted++; r.acked++; r.lost++ }, false,
	},
	"a job did not end": {
		func(s *small) { s.acknowledge("k9", s.submit("k9")) },
		func(r *tally) { r.submitted++; r.acked++; r.lost++ }, false,
	},
	"a job that nobody sent": {
		func(s *small) { s.submit("k9") },
		func(r *tally) { r.unexpected++ }, false,
	},
	"an end is accepted twice": {
		func(s *small) { s.report(queue.Ref{JobID: s.ids[0], Attempt: 1}, "") },
		func(r *tally) { r.twice++; r.stale++ }, false,
	},
	"a stale end is accepted": {
		func(s *small) { s.report(queue.Ref{JobID: s.ids[1], Attempt: 1}, "") },
		func(r *tally) { r.twice++; r.holders++; r.stale++ }, false,
	},
	"a stale attempt is renewed": {
		func(s *small) { s.renew(queue.Ref{JobID: s.ids[1], Attempt: 1}, "") },
		func(r *tally) { r.holders++; r.stale++ }, false,
	},
	"a key gets two ids": {
		func(s *small) { s.load.record.acknowledged("k0", 4711) },
		func(r *tally) { r.twice++ }, false,
	},
	"an id gets two keys": {
		func(s *small) { s.acknowledge("k9", s.ids[0]) },
		func(r *tally) { r.submitted++; r.acked++; r.lost++; r.twice++ }, false,
	},
	"an attempt runs twice": {
		func(s *small) { s.note("b", queue.Ref{JobID: s.ids[0], Attempt: 1}) },
		func(r *tally) { r.duplicates++ }, false,
	},
	"it says that it succeeded, and did not run": {
		func(s *small) { os.Remove(s.load.ledger.file) },
		func(r *tally) { r.ok = 0; r.duplicates = 0; r.explained = 0 }, false,
	},
	"counters are off": {
		func(s *small) { s.store = miscounted{s.store} },
		func(r *tally) { r.counters++ }, false,
	},
}

// TestRealAudit doctors the logs of a small run and checks that the audits of the other tests find every
// fault.
func TestRealAudit(t *testing.T) {
	for name, c := range doctored {
		t.Run(name, func(t *testing.T) {
			quiet := &deaf{TB: t}
			s := newSmall(t, quiet)
			c.doctor(s)
			a := newAudit(quiet, s.load, s.seen)
			a.read(s.store, s.load.ledger)
			a.judge()
			want := tally{submitted: 3, acked: 3, ok: 3, duplicates: 1, explained: 1, stale: 1, refused: 1}
			c.differ(&want)
			if got := a.tally.String(); got != want.String() {
				t.Errorf("got  %s\nwant %s\n%q", got, want, quiet.said)
			}
			if good := len(quiet.said) == 0; good != c.good {
				t.Errorf("it said %q", quiet.said)
			}
		})
	}
}

package storetest

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// changesAreRecorded: the audit record grows, and settings change with it.
func changesAreRecorded(s *suite) {
	a, is := s.Store.(queue.Auditor)
	if !is {
		s.t.Skip("the store keeps no record of changes")
	}
	first := queue.AuditEntry{Who: "ann", From: "socket", What: "set", Subject: "pools.a.weight", Old: "1", New: "2", Note: "soon"}
	s.must(a.Audit(s.ctx, []queue.AuditEntry{first}, map[string]string{"x": "1", "y": "2"}))
	began := time.Now()
	time.Sleep(time.Minute)
	more := []queue.AuditEntry{{Who: "bob", What: "unset"}, {Who: "file", What: "reload", Refused: true, At: began.Add(time.Hour)}}
	s.must(a.Audit(s.ctx, more, map[string]string{"x": ""}))
	got, err := a.Audited(s.ctx, queue.AuditQuery{})
	s.must(err)
	if len(got) != 3 || got[0].Who != "file" || !got[0].Refused || !got[0].At.Equal(began.Add(time.Hour)) || !got[1].At.Equal(began.Add(time.Minute)) {
		s.t.Fatalf("record %+v", got)
	}
	last := got[2]
	if first.ID, first.At = last.ID, last.At; first != last || !last.At.Equal(began) || last.ID <= 0 || got[1].ID <= last.ID {
		s.t.Errorf("kept as %+v, ids %d and %d", last, last.ID, got[1].ID)
	}
	for _, c := range []struct {
		q    queue.AuditQuery
		want []string
	}{
		{queue.AuditQuery{Limit: 1}, []string{"file"}},
		{queue.AuditQuery{Before: got[0].ID, Limit: 1}, []string{"bob"}},
		{queue.AuditQuery{Before: got[0].ID}, []string{"bob", "ann"}},
		{queue.AuditQuery{Since: began.Add(time.Second)}, []string{"file", "bob"}},
	} {
		some, err := a.Audited(s.ctx, c.q)
		s.must(err)
		var who []string
		for _, e := range some {
			who = append(who, e.Who)
		}
		if !slices.Equal(who, c.want) {
			s.t.Errorf("%+v: %v, want %v", c.q, who, c.want)
		}
	}
	if k, is := s.Store.(queue.Settings); is {
		settings, err := k.Settings(s.ctx)
		s.must(err)
		if len(settings) != 1 || settings["y"] != "2" {
			s.t.Errorf("settings %v", settings)
		}
	}
}

// secretsLeaveTheRecord: Redact removes secrets, and keeps everything else in the record.
func secretsLeaveTheRecord(s *suite) {
	a, is := s.Store.(queue.Auditor)
	if !is {
		s.t.Skip("the store keeps no record of changes")
	}
	entries := []queue.AuditEntry{{Who: "ann", What: "set", Old: "a secret", New: "1"}, {Who: "bob", What: "unset", New: "2", Note: "no secret"}, {Who: "eve", New: "3"}}
	s.must(a.Audit(s.ctx, entries, map[string]string{"x": "a secret", "y": "2"}))
	before, err := a.Audited(s.ctx, queue.AuditQuery{})
	s.must(err)
	hide := func(text string) string { return strings.ReplaceAll(text, "secret", "***") }
	s.must(a.Redact(s.ctx, hide, map[string]string{"x": "", "z": "3"}))
	after, err := a.Audited(s.ctx, queue.AuditQuery{})
	s.must(err)
	for i := range before {
		before[i].Old, before[i].Note = hide(before[i].Old), hide(before[i].Note)
	}
	if !slices.Equal(before, after) {
		s.t.Errorf("the record is %+v, want %+v", after, before)
	}
	if k, is := s.Store.(queue.Settings); is {
		settings, err := k.Settings(s.ctx)
		s.must(err)
		if len(settings) != 2 || settings["y"] != "2" || settings["z"] != "3" {
			s.t.Errorf("settings %v", settings)
		}
	}
}

// poolsKnowTheirBeginning: when the first job entered a pool, and when a job was submitted.
func poolsKnowTheirBeginning(s *suite) {
	acc, is := s.Store.(queue.Accountant)
	if !is {
		s.t.Skip("the store keeps no accounts")
	}
	began := time.Now()
	s.submit(job())
	time.Sleep(time.Hour)
	s.submit(job(), job(func(j *queue.Job) { j.Pool = "b" }))
	u, err := acc.Usage(s.ctx)
	s.must(err)
	if a, b := u.Pools["a"].Since, u.Pools["b"].Since; !a.Equal(began) || !b.Equal(began.Add(time.Hour)) {
		s.t.Errorf("a since %v, b since %v, want %v and an hour later", a, b, began)
	}
	var came []time.Time
	_, err = s.Snapshot(s.ctx, func(c queue.Change) error { came = append(came, c.Job.Submitted); return nil })
	s.must(err)
	if len(came) != 3 || !came[0].Equal(began) || !came[1].Equal(began.Add(time.Hour)) {
		s.t.Errorf("the jobs came at %v", came)
	}
}

package storetest

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// changesAreRecorded: the record grows, and settings change with it.
func changesAreRecorded(s *suite) {
	a, is := s.Store.(fairlead.Auditor)
	if !is {
		s.t.Skip("the store keeps no record of changes")
	}
	first := fairlead.AuditEntry{Who: "ann", From: "socket", What: "set", Subject: "pools.a.weight", Old: "1", New: "2", Note: "soon"}
	s.must(a.Audit(s.ctx, []fairlead.AuditEntry{first}, map[string]string{"x": "1", "y": "2"}))
	began := time.Now()
	time.Sleep(time.Minute)
	more := []fairlead.AuditEntry{{Who: "bob", What: "unset"}, {Who: "file", What: "reload", Refused: true, At: began.Add(time.Hour)}}
	s.must(a.Audit(s.ctx, more, map[string]string{"x": ""}))
	got, err := a.Audited(s.ctx, fairlead.AuditQuery{})
	s.must(err)
	if len(got) != 3 || got[0].Who != "file" || !got[0].Refused || !got[0].At.Equal(began.Add(time.Hour)) || !got[1].At.Equal(began.Add(time.Minute)) {
		s.t.Fatalf("record %+v", got)
	}
	last := got[2]
	if first.ID, first.At = last.ID, last.At; first != last || !last.At.Equal(began) || last.ID <= 0 || got[1].ID <= last.ID {
		s.t.Errorf("kept as %+v, ids %d and %d", last, last.ID, got[1].ID)
	}
	for _, c := range []struct {
		q    fairlead.AuditQuery
		want []string
	}{
		{fairlead.AuditQuery{Limit: 1}, []string{"file"}},
		{fairlead.AuditQuery{Before: got[0].ID, Limit: 1}, []string{"bob"}},
		{fairlead.AuditQuery{Before: got[0].ID}, []string{"bob", "ann"}},
		{fairlead.AuditQuery{Since: began.Add(time.Second)}, []string{"file", "bob"}},
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
	if k, is := s.Store.(fairlead.Settings); is {
		settings, err := k.Settings(s.ctx)
		s.must(err)
		if len(settings) != 1 || settings["y"] != "2" {
			s.t.Errorf("settings %v", settings)
		}
	}
}

// poolsKnowTheirBeginning: when the first job came into a pool, and when a job came.
func poolsKnowTheirBeginning(s *suite) {
	acc, is := s.Store.(fairlead.Accountant)
	if !is {
		s.t.Skip("the store keeps no accounts")
	}
	began := time.Now()
	s.submit(job())
	time.Sleep(time.Hour)
	s.submit(job(), job(func(j *fairlead.Job) { j.Pool = "b" }))
	u, err := acc.Usage(s.ctx)
	s.must(err)
	if a, b := u.Pools["a"].Since, u.Pools["b"].Since; !a.Equal(began) || !b.Equal(began.Add(time.Hour)) {
		s.t.Errorf("a since %v, b since %v, want %v and an hour later", a, b, began)
	}
	var came []time.Time
	_, err = s.Snapshot(s.ctx, func(c fairlead.Change) error { came = append(came, c.Job.Submitted); return nil })
	s.must(err)
	if len(came) != 3 || !came[0].Equal(began) || !came[1].Equal(began.Add(time.Hour)) {
		s.t.Errorf("the jobs came at %v", came)
	}
}

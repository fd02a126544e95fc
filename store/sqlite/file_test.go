package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	zombiezen "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/sqlite"
)

func openFile(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// execute runs a statement on a database that nobody has open.
func execute(t *testing.T, path, query string) {
	t.Helper()
	conn, err := zombiezen.OpenConn(path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := sqlitex.ExecuteTransient(conn, query, nil); err != nil {
		t.Fatal(err)
	}
}

func submit(t *testing.T, s fairlead.Store, n int) (ids []int64) {
	t.Helper()
	for range n {
		subs, err := s.Submit(t.Context(), []*fairlead.Job{{Kind: "k", User: "ann", Pool: "ann", Tasks: 1, Submitted: time.Now()}})
		if err != nil || subs[0].Err != nil {
			t.Fatal(err, subs)
		}
		ids = append(ids, subs[0].ID)
	}
	return ids
}

// TestRefusesFiles opens what it must not touch, and expects that it says why and
// leaves the file as it was.
func TestRefusesFiles(t *testing.T) {
	dir := t.TempDir()
	newer := filepath.Join(dir, "newer.db")
	openFile(t, newer).Close()
	execute(t, newer, "PRAGMA user_version = 99")
	foreign := filepath.Join(dir, "foreign.db")
	execute(t, foreign, "CREATE TABLE recipes (name TEXT)")
	notes := filepath.Join(dir, "notes.txt")
	os.WriteFile(notes, []byte(strings.Repeat("not a database\n", 100)), 0o600)
	for _, c := range []struct{ path, want string }{
		{newer, "has format 99, this program knows up to 7: use the newer fairlead"},
		{foreign, "the file is the database of another program"},
		{notes, "the file is not a fairlead database"},
		{filepath.Join(dir, "no", "such", "dir", "x.db"), "no such file or directory"},
	} {
		before, _ := os.ReadFile(c.path)
		_, err := sqlite.Open(t.Context(), c.path, sqlite.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", filepath.Base(c.path), err, c.want)
		}
		if after, _ := os.ReadFile(c.path); string(after) != string(before) {
			t.Errorf("%s was changed", filepath.Base(c.path))
		}
	}
}

// TestOthersCannotRead: a database holds the environments and payloads of all users.
func TestOthersCannotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	submit(t, openFile(t, path), 1)
	files, _ := filepath.Glob(path + "*")
	if len(files) < 3 {
		t.Errorf("only %v", files)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", filepath.Base(f), info.Mode(), err)
		}
	}
}

func TestOneProcessAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := openFile(t, path)
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); err == nil || !strings.Contains(err.Error(), "in use by another fairlead (process ") {
		t.Errorf("a second opening: %v", err)
	}
	s.Close()
	openFile(t, path)
}

// TestCopyOfALiveFile takes the files as a killed process leaves them: what was
// acknowledged is there, leases last for the grace period from the opening on, and no
// id is given again.
func TestCopyOfALiveFile(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "jobs.db"), filepath.Join(dir, "copy.db")
	s := openFile(t, path)
	ids := submit(t, s, 10)
	grants, err := s.Lease(t.Context(), "n1", []fairlead.Want{{Job: ids[0]}}, time.Hour)
	if err != nil || grants[0].Lease == nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := openFile(t, copied)
	jobs, err := c.Jobs(t.Context(), fairlead.Query{})
	if err != nil || len(jobs) != len(ids) {
		t.Fatalf("%d jobs, want %d (%v)", len(jobs), len(ids), err)
	}
	ref := grants[0].Lease.Ref
	if lost, err := c.Expire(t.Context(), ""); err != nil || len(lost) != 0 {
		t.Errorf("expired at once: %v (%v)", lost, err)
	}
	if errs, err := c.Renew(t.Context(), []fairlead.Ref{ref}, time.Hour); err != nil || errs[0] != nil {
		t.Errorf("renewing after the restart: %v %v", err, errs)
	}
	if next := submit(t, c, 1); next[0] <= ids[len(ids)-1] {
		t.Errorf("id %d was given again", next[0])
	}
}

// TestForget removes what ended long ago, and nothing else; the ids are not used again.
func TestForget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := openFile(t, path)
	ids := submit(t, s, 3)
	if _, err := s.Alter(t.Context(), []fairlead.Alteration{{Job: ids[0], Verb: fairlead.VerbCancel}, {Job: ids[2], Verb: fairlead.VerbCancel}}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Forget(t.Context(), time.Now().Add(-time.Hour)); err != nil || n != 0 {
		t.Errorf("forgot %d young jobs (%v)", n, err)
	}
	if n, err := s.Forget(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 2 {
		t.Errorf("forgot %d jobs, want 2 (%v)", n, err)
	}
	jobs, err := s.Jobs(t.Context(), fairlead.Query{})
	if err != nil || len(jobs) != 1 || jobs[0].ID != ids[1] {
		t.Errorf("left: %v (%v)", jobs, err)
	}
	s.Close()
	if next := submit(t, openFile(t, path), 1); next[0] <= ids[2] {
		t.Errorf("id %d was given again", next[0])
	}
}

// TestRecordOutlivesRestart: the record of changes and the beginning of a pool.
func TestRecordOutlivesRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	s := openFile(t, path)
	submit(t, s, 1)
	if err := s.Audit(t.Context(), []fairlead.AuditEntry{{Who: "ann", What: "set"}}, map[string]string{"k": "v"}); err != nil {
		t.Fatal(err)
	}
	before, err := s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = openFile(t, path)
	after, err := s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if since := after.Pools["ann"].Since; since.IsZero() || !since.Equal(before.Pools["ann"].Since) {
		t.Errorf("since %v, was %v", since, before.Pools["ann"].Since)
	}
	record, err := s.Audited(t.Context(), fairlead.AuditQuery{})
	if err != nil || len(record) != 1 || record[0].Who != "ann" {
		t.Errorf("record %+v, %v", record, err)
	}
}

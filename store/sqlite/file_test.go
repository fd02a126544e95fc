package sqlite_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	zombiezen "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/fairlead/fairlead/queue"
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

// execute runs a statement on a database that no process has open.
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

func submit(t *testing.T, s queue.Store, n int) (ids []int64) {
	t.Helper()
	for range n {
		subs, err := s.Submit(t.Context(), []*queue.Job{{Kind: "k", User: "ann", Pool: "ann", Tasks: 1, Submitted: time.Now()}})
		if err != nil || subs[0].Err != nil {
			t.Fatal(err, subs)
		}
		ids = append(ids, subs[0].ID)
	}
	return ids
}

// TestRefusesFiles opens files that the store must not touch. The store gives the reason and leaves the file unchanged.
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
		{newer, "has format 99, but this program knows formats up to 12: use the newer fairlead"},
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

// TestLinksBesideTheFile: the server does not follow a link in place of the lock or the ballast of a database. It names
// the link, and does not change the link's target.
func TestLinksBesideTheFile(t *testing.T) {
	for _, suffix := range []string{"-lock", "-ballast"} {
		dir := t.TempDir()
		precious, file := filepath.Join(dir, "precious"), filepath.Join(dir, "x.db")
		if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(precious, file+suffix); err != nil {
			t.Fatal(err)
		}
		if s, err := sqlite.Open(t.Context(), file, sqlite.Options{}); err == nil || !strings.Contains(err.Error(), file+suffix+" is") || !strings.Contains(err.Error(), "who put it there") {
			t.Errorf("%s: %v", suffix, err)
			if err == nil {
				s.Close()
			}
		}
		if text, _ := os.ReadFile(precious); string(text) != "precious" {
			t.Errorf("%s: the file behind it has %d bytes", suffix, len(text))
		}
	}
}

// TestBallastOfAnotherName: a hard link in place of the ballast is removed, and the file keeps its other name.
func TestBallastOfAnotherName(t *testing.T) {
	dir := t.TempDir()
	precious, file := filepath.Join(dir, "precious"), filepath.Join(dir, "x.db")
	if err := errors.Join(os.WriteFile(precious, []byte("precious"), 0o600), os.Link(precious, file+"-ballast")); err != nil {
		t.Fatal(err)
	}
	openFile(t, file).Close()
	text, _ := os.ReadFile(precious)
	if info, err := os.Stat(file + "-ballast"); err != nil || info.Size() < 1<<20 || string(text) != "precious" {
		t.Errorf("the ballast is %v, %v; the file has %d bytes", info, err, len(text))
	}
}

// TestOthersCannotRead: other users cannot read a database, because it contains the environments and payloads of all
// users.
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

// TestCopyOfALiveFile opens a copy of the files as a killed process leaves them: acknowledged changes are there, leases
// last for the grace period after the opening, and no id is used again.
func TestCopyOfALiveFile(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "jobs.db"), filepath.Join(dir, "copy.db")
	s := openFile(t, path)
	ids := submit(t, s, 10)
	grants, err := s.Lease(t.Context(), "n1", []queue.Want{{Job: ids[0]}}, time.Hour)
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
	jobs, err := c.Jobs(t.Context(), queue.Query{})
	if err != nil || len(jobs) != len(ids) {
		t.Fatalf("%d jobs, want %d (%v)", len(jobs), len(ids), err)
	}
	ref := grants[0].Lease.Ref
	if lost, err := c.Expire(t.Context(), ""); err != nil || len(lost) != 0 {
		t.Errorf("expired at once: %v (%v)", lost, err)
	}
	if errs, err := c.Renew(t.Context(), []queue.Ref{ref}, time.Hour); err != nil || errs[0] != nil {
		t.Errorf("renewing after the restart: %v %v", err, errs)
	}
	if next := submit(t, c, 1); next[0] <= ids[len(ids)-1] {
		t.Errorf("id %d was given again", next[0])
	}
}

// TestForget removes jobs that ended long ago, and nothing else; ids are not reused.
func TestForget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := openFile(t, path)
	ids := submit(t, s, 3)
	if _, err := s.Alter(t.Context(), []queue.Alteration{{Job: ids[0], Verb: queue.VerbCancel}, {Job: ids[2], Verb: queue.VerbCancel}}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Forget(t.Context(), time.Now().Add(-time.Hour)); err != nil || n != 0 {
		t.Errorf("forgot %d young jobs (%v)", n, err)
	}
	if n, err := s.Forget(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 2 {
		t.Errorf("forgot %d jobs, want 2 (%v)", n, err)
	}
	jobs, err := s.Jobs(t.Context(), queue.Query{})
	if err != nil || len(jobs) != 1 || jobs[0].ID != ids[1] {
		t.Errorf("left: %v (%v)", jobs, err)
	}
	s.Close()
	if next := submit(t, openFile(t, path), 1); next[0] <= ids[2] {
		t.Errorf("id %d was given again", next[0])
	}
}

// TestRecordOutlivesRestart: the record of changes and the beginning of a pool survive a restart.
func TestRecordOutlivesRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	s := openFile(t, path)
	submit(t, s, 1)
	if err := s.Audit(t.Context(), []queue.AuditEntry{{Who: "ann", What: "set"}}, map[string]string{"k": "v"}); err != nil {
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
	record, err := s.Audited(t.Context(), queue.AuditQuery{})
	if err != nil || len(record) != 1 || record[0].Who != "ann" {
		t.Errorf("record %+v, %v", record, err)
	}
}

// TestCancelOfWaitingTasksOutlivesRestart: after a restart, the canceled waiting tasks have not come back, and a task
// that was running is not tried again.
func TestCancelOfWaitingTasksOutlivesRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	s := openFile(t, path)
	jobs := []*queue.Job{{User: "ann", Pool: "a", Priority: "normal", Argv: []string{"true"}, Array: "0-4", Retries: 3}}
	if _, err := s.Submit(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	grants, err := s.Lease(t.Context(), "n1", []queue.Want{{Job: 1}}, time.Hour)
	if err != nil || grants[0].Lease == nil {
		t.Fatal(grants, err)
	}
	errs, err := s.Alter(t.Context(), []queue.Alteration{{Job: 1, Verb: queue.VerbCancel, Waiting: true, By: "ann"}})
	if err != nil || errs[0] != nil {
		t.Fatal(errs, err)
	}
	s.Close()
	s = openFile(t, path)
	failed := queue.Result{Ref: grants[0].Lease.Ref, Outcome: queue.Outcome{State: queue.Failed}}
	v, err := s.Finish(t.Context(), []queue.Result{failed})
	if err != nil || v[0].Err != nil || v[0].Again || v[0].State != queue.Failed {
		t.Errorf("%+v, %v", v, err)
	}
	found, err := s.Jobs(t.Context(), queue.Query{})
	if err != nil || len(found) != 1 || found[0].Cancelled != 4 || found[0].Waiting != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestRedactedFilesAreClean: no file of the database contains a secret that was redacted in the record.
func TestRedactedFilesAreClean(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := openFile(t, path)
	secret := strings.Repeat("s3cr3t ", 3000)
	entries := []queue.AuditEntry{{Who: "ann", What: "apply", Old: "s3cr3t", New: secret}}
	if err := s.Audit(t.Context(), entries, map[string]string{"x": secret, "y": "s3cr3t"}); err != nil {
		t.Fatal(err)
	}
	holds := func() (files []string) {
		found, err := filepath.Glob(path + "*")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if text, err := os.ReadFile(f); err != nil || strings.Contains(string(text), "s3cr3t") {
				files = append(files, f)
			}
		}
		return files
	}
	if len(holds()) == 0 {
		t.Fatal("the secret was not kept to begin with")
	}
	hide := func(text string) string { return strings.ReplaceAll(text, "s3cr3t", "*") }
	if err := s.Redact(t.Context(), hide, map[string]string{"x": "*", "y": ""}); err != nil {
		t.Fatal(err)
	}
	if left := holds(); len(left) > 0 {
		t.Errorf("the secret is still in %v", left)
	}
}

// TestOneFileOfManyNames: an open file cannot be opened a second time, whatever path leads to it, and even if the file
// of its lock is gone.
func TestOneFileOfManyNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "jobs.db")
	s := openFile(t, path)
	id := submit(t, s, 1)[0]
	link, hard := filepath.Join(dir, "link.db"), filepath.Join(dir, "hard.db")
	refused := func(path, want string) {
		t.Helper()
		other, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err == nil {
			other.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", filepath.Base(path), err, want)
		}
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	refused(link, "in use by another fairlead (process")
	if err := os.Remove(path + "-lock"); err != nil {
		t.Fatal(err)
	}
	refused(path, "in use by another fairlead, which knows it by another name or has lost the file of its lock")
	refused(link, "in use by another fairlead, which")
	if err := os.Link(path, hard); err != nil {
		t.Fatal(err)
	}
	refused(hard, "has another name, too (a hard link)")
	s.Close()
	refused(path, "has another name, too (a hard link)") // its journal would have only one of the names
	if err := os.Remove(hard); err != nil {
		t.Fatal(err)
	}
	s = openFile(t, link)
	if jobs, err := s.Jobs(t.Context(), queue.Query{IDs: []int64{id}}); err != nil || len(jobs) != 1 {
		t.Errorf("by the link: %v, %v", jobs, err)
	}
}

// TestFileIsGone: when the file is removed or replaced while it is open, nothing more is acknowledged. Everything
// continues when the file is back.
func TestFileIsGone(t *testing.T) {
	dir := t.TempDir()
	path, aside := filepath.Join(dir, "jobs.db"), filepath.Join(dir, "aside")
	var log bytes.Buffer
	o := sqlite.Options{Grace: time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	s, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	submit(t, s, 1)
	refuses := func(when string) {
		t.Helper()
		_, err := s.Submit(t.Context(), []*queue.Job{{Kind: "k", User: "ann", Pool: "ann", Tasks: 1}})
		_, expire := s.Expire(t.Context(), "") // checks the file even while nothing is to be written
		_, health := s.Examine(t.Context())
		for what, err := range map[string]error{"submit": err, "expire": expire, "examine": health} {
			if !errors.Is(err, queue.ErrUnavailable) || !strings.Contains(err.Error(), "put it back") {
				t.Errorf("%s, %s: %v", when, what, err)
			}
		}
	}
	if err := os.Rename(path, aside); err != nil {
		t.Fatal(err)
	}
	refuses("when the file is gone")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refuses("when another file is there")
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), path) {
		t.Errorf("the log has %d errors: %s", n, log.String())
	}
	if err := os.Rename(aside, path); err != nil {
		t.Fatal(err)
	}
	submit(t, s, 1)
	s.Close()
	if n := strings.Count(log.String(), "level=INFO"); n != 1 {
		t.Errorf("the log has %d lines that the file is back: %s", n, log.String())
	}
	s = openFile(t, path)
	if jobs, err := s.Jobs(t.Context(), queue.Query{}); err != nil || len(jobs) != 2 {
		t.Errorf("%d jobs are there, want 2; %v", len(jobs), err)
	}
}

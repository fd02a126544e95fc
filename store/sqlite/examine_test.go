package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestExamine: the facts that doctor gets about a file are true.
func TestExamine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := openFile(t, path)
	h, err := s.Examine(t.Context())
	if err != nil || h.Format == 0 || h.Format != h.Known || h.Bytes == 0 || !h.Reserve || h.Unused != 0 {
		t.Errorf("a new file: %+v, %v", h, err)
	}
	submit(t, s, 20)
	if h, err = s.Examine(t.Context()); err != nil || h.Log == 0 || h.Unused > 0.1 {
		t.Errorf("a file with jobs: %+v, %v", h, err)
	}
	os.Remove(path + "-ballast")
	if h, err = s.Examine(t.Context()); err != nil || h.Reserve {
		t.Errorf("the reserve is gone: %+v, %v", h, err)
	}
	s.Close()
	execute(t, path, "CREATE TABLE filler AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, randomblob(2000) FROM n")
	execute(t, path, "DROP TABLE filler")
	s = openFile(t, path)
	if h, err = s.Examine(t.Context()); err != nil || h.Unused < 0.5 {
		t.Errorf("most of the file holds nothing: %+v, %v", h, err)
	}
}

package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func logs(t *testing.T) *Logs {
	t.Helper()
	l, err := OpenLogs(filepath.Join(t.TempDir(), "logs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// file returns the path of a log, for access around Logs.
func file(l *Logs, job int64, task, attempt int) string {
	return filepath.Join(l.root.Name(), l.Path(job, task, attempt))
}

func writeLog(t *testing.T, l *Logs, job int64, task, attempt int, text string) {
	t.Helper()
	f, err := l.Create(job, task, attempt)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestPath(t *testing.T) {
	l := logs(t)
	for _, test := range []struct {
		job           int64
		task, attempt int
		want          string
	}{
		{17, 0, 2, "0000/00/17_0.2.out"},
		{1234567, 99, 1, "0123/45/1234567_99.1.out"},
		{123456789, 1234, 1, "12345/67/123456789_12xx/123456789_1234.1.out"},
	} {
		if got := l.Path(test.job, test.task, test.attempt); got != test.want {
			t.Errorf("Path(%d, %d, %d) = %s, want %s", test.job, test.task, test.attempt, got, test.want)
		}
	}
}

func TestReadAt(t *testing.T) {
	l := logs(t)
	writeLog(t, l, 17, 0, 2, "0123456789")
	for _, test := range []struct {
		offset int64
		limit  int
		want   string
	}{
		{0, 100, "0123456789"},
		{0, 3, "012"},
		{8, 3, "89"},
		{10, 3, ""},
		{11, 3, ""},
		{-1, 2, "9"},
		{-3, 2, "78"},
		{-11, 2, "01"},
		{0, -1, ""},
	} {
		x, err := l.ReadAt(17, 0, 2, test.offset, test.limit)
		begin := test.offset
		if begin < 0 {
			begin = max(0, 10+begin)
		}
		if string(x.Data) != test.want || x.Offset != begin || x.Size != 10 || err != nil {
			t.Errorf("ReadAt(%d, %d) = %+v, %v; want %q", test.offset, test.limit, x, err, test.want)
		}
	}
	if _, err := l.ReadAt(18, 0, 1, 0, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("log that is not there: %v", err)
	}
}

// TestLogIsNoLink checks that a log that was replaced by a link is neither read nor written through the link.
func TestLogIsNoLink(t *testing.T) {
	l := logs(t)
	writeLog(t, l, 1, 0, 1, "of another")
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{outside, "1_0.1.out", "nowhere"} {
		name := file(l, 2, 0, 1)
		os.Remove(name)
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
		if x, err := l.ReadAt(2, 0, 1, 0, 100); err == nil {
			t.Errorf("read %q through a link to %s", x.Data, target)
		}
		writeLog(t, l, 2, 0, 1, "mine")
		if x, err := l.ReadAt(2, 0, 1, 0, 100); string(x.Data) != "mine" || err != nil {
			t.Errorf("after writing: %q, %v", x.Data, err)
		}
	}
	if x, _ := l.ReadAt(1, 0, 1, 0, 100); string(x.Data) != "of another" {
		t.Errorf("another log has %q", x.Data)
	}
	if data, _ := os.ReadFile(outside); string(data) != "keep" {
		t.Errorf("the file outside has %q", data)
	}
}

// TestLogDirectoryIsNoLink checks that a directory that was replaced by a link does not lead outside.
func TestLogDirectoryIsNoLink(t *testing.T) {
	l := logs(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(l.root.Name(), "0000")); err != nil {
		t.Fatal(err)
	}
	if f, err := l.Create(1, 0, 1); err == nil {
		t.Errorf("created %s", f.Name())
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("outside there are %v", entries)
	}
}

func TestRemove(t *testing.T) {
	l := logs(t)
	now := time.Now()
	for _, job := range []int64{1, 2, 10_000} {
		writeLog(t, l, job, 0, 1, "text")
		writeLog(t, l, job, 500, 1, "text")
		if job != 2 {
			os.Chtimes(file(l, job, 0, 1), now, now.Add(-time.Hour))
			os.Chtimes(file(l, job, 500, 1), now, now.Add(-time.Hour))
		}
	}
	if n, err := l.Remove(now.Add(-time.Minute)); n != 4 || err != nil {
		t.Errorf("removed %d, %v; want 4", n, err)
	}
	if _, err := l.ReadAt(2, 500, 1, 0, 1); err != nil {
		t.Errorf("a new log is gone: %v", err)
	}
	if _, err := l.root.Stat("0001"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty directory is left: %v", err)
	}
	if n, err := l.Remove(now.Add(time.Hour)); n != 2 || err != nil {
		t.Errorf("removed %d, %v; want 2", n, err)
	}
	writeLog(t, l, 1, 0, 1, "text")
}

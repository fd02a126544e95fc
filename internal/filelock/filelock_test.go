package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := Take(path); !errors.As(err, &held) || held.Process != fmt.Sprint(os.Getpid()) {
		t.Errorf("taken twice: %v", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Release()
}

// TestStrangeFiles checks that Take neither follows nor writes into another kind of file in place of the lock
// file.
func TestStrangeFiles(t *testing.T) {
	for name, put := range map[string]func(precious, path string) error{
		"is a symbolic link": os.Symlink,
		"has another name":   os.Link,
		"is not a file":      func(_, path string) error { return syscall.Mkfifo(path, 0o600) },
		"is a directory":     func(_, path string) error { return os.Mkdir(path, 0o700) },
	} {
		dir := t.TempDir()
		precious, path := filepath.Join(dir, "precious"), filepath.Join(dir, "lock")
		if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := put(precious, path); err != nil {
			t.Fatal(err)
		}
		if _, err := Take(path); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if text, _ := os.ReadFile(precious); string(text) != "precious" {
			t.Errorf("%s: the file behind it holds %q", name, text)
		}
	}
}

// TestReleasedBesideAStart checks that Release frees the lock at once, even while a starting process has all
// open files.
func TestReleasedBesideAStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	of, err := syscall.Dup(int(first.f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(of)
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Release()
}

package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

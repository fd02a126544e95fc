package token

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// ReadFile reads the text of a token from a file. It refuses a file that other users may read, because they
// could act as its owner.
func ReadFile(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	switch stat, known := info.Sys().(*syscall.Stat_t); {
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a file", path)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("other users can read the token in %s: chmod 600 %[1]s, "+
			"and make a new token if somebody may have read it", path)
	case known && stat.Uid != 0 && int(stat.Uid) != os.Getuid():
		return "", fmt.Errorf("%s belongs to uid %d, who could replace the token", path, stat.Uid)
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<10))
	if err != nil {
		return "", err
	}
	out := strings.TrimSpace(string(text))
	if _, _, err := Split(out); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

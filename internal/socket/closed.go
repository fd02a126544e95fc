package socket

import (
	"os"
	"path/filepath"
	"syscall"
)

// Closed reports whether only root and the user of this process can connect to a socket. Then other users
// may not write to the socket, or a directory above it does not let them pass.
func Closed(path string) bool {
	path, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	const write, pass = 0o022, 0o011
	if closedFor(path, write) {
		return true
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if closedFor(dir, pass) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// closedFor reports whether a file belongs to root or to us and gives other users none of these rights.
func closedFor(path string, rights os.FileMode) bool {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&rights != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int(stat.Uid) == os.Getuid())
}

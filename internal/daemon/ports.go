package daemon

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/fairlead/fairlead/internal/filelock"
)

// taken holds the locks of the ports of this process, until the process ends.
var taken struct {
	sync.Mutex
	locks []*filelock.Lock
}

// Ports returns free ports of this machine, all different. They are in a range that the system does not use
// for outgoing connections, so that a server can restart on its port. No other test gets one of them while
// this process runs, even before the port is used. Other programs could still take one.
func Ports(n int) ([]int, error) {
	// One directory for all tests of this user, including those with their own TMPDIR.
	dir := filepath.Join("/tmp", fmt.Sprint("fairlead-test-ports-", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var ports []int
	for range 100 * n {
		port := 10_000 + rand.IntN(20_000)
		free, err := claim(dir, port)
		if err != nil {
			return nil, err
		}
		if free {
			ports = append(ports, port)
		}
		if len(ports) == n {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("only %d of the %d ports that were tried are free; %d are needed", len(ports), 100*n, n)
}

// claim reserves a port for this process, if it is free.
func claim(dir string, port int) (bool, error) {
	lock, err := filelock.Take(filepath.Join(dir, fmt.Sprint(port)))
	if _, held := errors.AsType[*filelock.HeldError](err); held {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	l, err := net.Listen("tcp", fmt.Sprint(":", port)) // on all addresses, as some servers do
	if err != nil {
		return false, lock.Release()
	}
	l.Close()
	taken.Lock()
	defer taken.Unlock()
	taken.locks = append(taken.locks, lock)
	return true, nil
}

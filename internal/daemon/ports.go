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

// taken holds the lock of each port that this process has been given, until the process ends.
var taken struct {
	sync.Mutex
	locks []*filelock.Lock
}

// Ports are free ports of this machine, all different, which the system does not give to
// connections: a server can be restarted on its own. No other test gets one of them while this
// process runs, not even before it is used. A program that is no test could still take one.
func Ports(n int) ([]int, error) {
	// One directory for all tests of this user, also for those with a TMPDIR of their own.
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
	return nil, fmt.Errorf("%d ports of %d tried are free; %d are needed", len(ports), 100*n, n)
}

// claim keeps a port for this process, if nobody has it.
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

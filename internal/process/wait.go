//go:build linux

package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit returns when the process has ended; it does not reap it. The Go runtime's poller waits on a
// descriptor of the process, so that a thousand tasks cost a thousand descriptors instead of a thousand
// threads. Kernels before 5.3 have no such descriptors; then a thread waits.
func awaitExit(pid, pidfd int) {
	if pidfd >= 0 && awaitDescriptor(pid, pidfd) == nil {
		return
	}
	var info unix.Siginfo
	for unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// awaitDescriptor waits until the descriptor becomes readable, and closes it.
func awaitDescriptor(pid, pidfd int) error {
	if err := unix.SetNonblock(pidfd, true); err != nil {
		unix.Close(pidfd)
		return err
	}
	f := os.NewFile(uintptr(pidfd), "pidfd")
	defer f.Close()
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return c.Read(func(uintptr) bool { return exited(pid) })
}

// exited reports whether the child has ended and waits to be reaped.
func exited(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == unix.ECHILD || err == nil && info.Signo != 0
}

// reap reaps a child that has exited, and returns its status and its use of resources.
func reap(pid int) (unix.WaitStatus, *unix.Rusage, error) {
	var status unix.WaitStatus
	var usage unix.Rusage
	for {
		_, err := unix.Wait4(pid, &status, 0, &usage)
		if err != unix.EINTR {
			return status, &usage, err
		}
	}
}

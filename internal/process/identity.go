//go:build linux

package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// do calls f with exactly the rights on files that the identity has, without our own rights or the rights of
// our capabilities. So f can open only files that the user could open.
//
// The file-system identity belongs to a thread. The thread that assumes it never drops it again, but ends. So
// no mistake here can leave a thread with mixed rights.
func (id *Identity) do(f func() error) (err error) {
	if id == nil {
		return f()
	}
	ownThread(func() {
		if err = id.assume(); err != nil {
			err = &MachineError{fmt.Errorf("run as user %d: %w", id.UID, err)}
			return
		}
		err = f()
	})
	return err
}

// assume turns the calling thread into the user in all access to files. The wrappers of package syscall would
// turn all threads; those of package unix are the plain system calls.
func (id *Identity) assume() error {
	groups := make([]int, len(id.Groups))
	for i, g := range id.Groups {
		groups[i] = int(g)
	}
	if err := unix.Setgroups(groups); err != nil {
		return err
	}
	// These two calls report no failure; a call with an impossible id returns the current one.
	unix.SetfsgidRetGid(int(id.GID))
	unix.SetfsuidRetUid(int(id.UID))
	if gid, _ := unix.SetfsgidRetGid(-1); gid != int(id.GID) {
		return unix.EPERM
	}
	if uid, _ := unix.SetfsuidRetUid(-1); uid != int(id.UID) {
		return unix.EPERM
	}
	return dropCapabilities()
}

// dropCapabilities removes the effective capabilities from the calling thread. When root changes the
// identity, the kernel removes the capabilities about files; it does not if we are another user with
// capabilities.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[0].Effective, data[1].Effective = 0, 0
	return unix.Capset(&header, &data[0])
}

package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
)

// PeerUID returns the user at the other end of a connection over a Unix socket, as the kernel recorded it
// when the connection was made (SO_PEERCRED). For a server this is the user who connected, for a client the
// user who listens.
func PeerUID(c syscall.Conn) (uid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *syscall.Ucred
	cerr := raw.Control(func(fd uintptr) {
		cred, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if cerr != nil {
		return 0, cerr
	}
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// StrangerError says that a user who is not trusted listens where a server was expected.
type StrangerError struct {
	Path string
	UID  int
}

// Error names the user, and the next step if the server is right.
func (e *StrangerError) Error() string {
	name := UserName(e.UID)
	return fmt.Sprintf("whoever listens on %s runs as %s (uid %d), who is neither root nor you nor the user that you "+
		"trust as the server's: nothing was sent; "+
		"if that is the right server, say so with --server-user %s, FAIRLEAD_SERVER_USER, or server_user in client.yaml",
		e.Path, name, e.UID, name)
}

// Dial connects to a server and checks who listens there, before anything is sent. It accepts root, the user
// of this process and the trusted users.
func Dial(ctx context.Context, path string, trusted ...int) (net.Conn, error) {
	c, err := dial(ctx, path)
	if err != nil {
		return nil, err
	}
	uid, err := PeerUID(c.(*net.UnixConn))
	if err == nil && uid != 0 && uid != os.Getuid() && !slices.Contains(trusted, uid) {
		err = &StrangerError{path, uid}
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// patience is how long a client waits for a server whose queue of connections is full.
const patience = 10 * time.Second

// dial connects. While the server's queue of connections is full, the system returns EAGAIN, and dial tries
// again.
func dial(ctx context.Context, path string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		c, err := new(net.Dialer).DialContext(ctx, "unix", path)
		if !errors.Is(err, syscall.EAGAIN) {
			return c, err
		}
		if !wait.For(ctx, 5*time.Millisecond) {
			return nil, err
		}
	}
}

// UserName returns the name of a user, or the number if there is no name.
func UserName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// UserID returns the number of a user, given a name or a number.
func UserID(name string) (int, error) {
	if uid, err := strconv.ParseUint(name, 10, 31); err == nil {
		return int(uid), nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return 0, fmt.Errorf("there is no user %.40q on this machine", name)
	}
	return strconv.Atoi(u.Uid)
}

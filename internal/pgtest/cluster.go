package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/internal/tempdir"
)

// Cluster is a PostgreSQL server.
type Cluster struct {
	dir    string // directory of its files and its socket
	remove func() // removes the directory, and the one above it
	bin    string
	cred   *syscall.Credential
	server *daemon.Daemon
}

// URL returns the URL of the database.
func (c *Cluster) URL() string {
	return "postgres:///postgres?user=postgres&host=" + c.dir
}

func (c *Cluster) make() (err error) {
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		if c.cred, err = other(); err != nil {
			return err
		}
		if err := os.Chown(c.dir, int(c.cred.Uid), int(c.cred.Gid)); err != nil {
			return err
		}
	}
	initdb := c.command("initdb", "--pgdata="+c.data(), "--username=postgres", "--auth=trust", "--no-sync",
		"--encoding=UTF8", "--locale=C")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return c.Run()
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.cred}
	return cmd
}

// Run starts the server, and waits until it answers. The server ends with this process, however the process
// ends.
func (c *Cluster) Run() error {
	cmd := c.command("postgres", "-D", c.data(), "-k", c.dir, "-c", "listen_addresses=",
		"-c", "max_connections=200", "-c", "log_min_messages=fatal", "-c", "autovacuum_naptime=10s")
	var err error
	if c.server, err = daemon.Start(cmd, syscall.SIGQUIT); err != nil {
		return err
	}
	if err = c.server.Await(startTime, answers(c.URL())); err != nil {
		c.Halt()
	}
	return err
}

// Stop ends the server and removes its files.
func (c *Cluster) Stop() {
	c.Halt()
	c.remove()
}

// Halt ends the server at once, like pg_ctl stop -m immediate. When Run starts it again, it must recover.
func (c *Cluster) Halt() {
	c.server.Signal(syscall.SIGQUIT, startTime)
}

// errAbsent says that PostgreSQL is not installed.
var errAbsent = errors.New("PostgreSQL is not installed: apt-get install postgresql")

// Start makes a cluster and starts its server.
func Start() (*Cluster, error) {
	c := &Cluster{}
	var err error
	if c.bin, err = binaries(); err != nil {
		return nil, err
	}
	// The directory is below a directory of ours, because it belongs to the user who runs the server.
	var above string
	if above, c.remove, err = tempdir.New("", "fairlead-pg-"); err != nil {
		return nil, err
	}
	c.dir = filepath.Join(above, "pg")
	if err = os.Mkdir(c.dir, 0o700); err == nil {
		err = c.make()
	}
	if err != nil {
		c.remove()
		return nil, err
	}
	return c, nil
}

// binaries returns the directory of the newest PostgreSQL.
func binaries() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	if len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", errAbsent
}

// other returns a user to run as instead of root.
func other() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("PostgreSQL does not run as root, and this machine has neither the user " +
		`"postgres" nor the user "nobody" to run it`)
}

// startTime is how long a server may take until it accepts connections.
const startTime = 30 * time.Second

// answers returns a check whether a server accepts connections at a URL.
func answers(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	}
}

// Package pgtest runs a PostgreSQL for the tests of a package: one cluster for a test
// binary, in a directory of its own, reachable by a socket in that directory only, and a
// schema for each test. Where PostgreSQL is not installed the tests are skipped.
package pgtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/daemon"
)

// cluster is the one of this test binary; nil if there is none, and why.
var (
	cluster *Cluster
	missing = "the package's TestMain does not call pgtest.Main"
	schemas atomic.Int64
)

// Cluster is a PostgreSQL server.
type Cluster struct {
	dir    string // of its files and its socket
	bin    string
	cred   *syscall.Credential
	server *daemon.Daemon
	pooler pooler
}

// Main runs the tests of a package beside a PostgreSQL: it is what TestMain calls.
func Main(m *testing.M) int {
	c, err := Start()
	if err != nil {
		missing = err.Error()
		if !errors.Is(err, errAbsent) || os.Getenv("FAIRLEAD_NO_SKIP") == "1" {
			fmt.Fprintln(os.Stderr, "PostgreSQL for the tests:", err)
			return 1
		}
		flag.Set("test.skip", "^Example") // which cannot skip themselves
		return m.Run()
	}
	cluster = c
	defer c.Stop()
	c.pooler.err = c.pooler.start(c)   // here: a test may be in virtual time
	os.Setenv("DATABASE_URL", c.URL()) // for examples
	return m.Run()
}

// errAbsent says that PostgreSQL is not installed.
var errAbsent = errors.New("PostgreSQL is not installed: apt-get install postgresql")

// URL is where the database is, and a schema that no other test uses. Commits do not wait
// for the disk. Without PostgreSQL the test is skipped.
func URL(t testing.TB) (url, schema string) {
	t.Helper()
	url, schema = Durable(t)
	return url + "&options=-c%20synchronous_commit%3Doff", schema
}

// Durable is URL where commits wait for the disk, as benchmarks need.
func Durable(t testing.TB) (url, schema string) {
	t.Helper()
	if cluster == nil {
		t.Skip(missing)
	}
	return cluster.URL(), fmt.Sprint("test", schemas.Add(1))
}

// URL is where the database is.
func (c *Cluster) URL() string {
	return "postgres:///postgres?user=postgres&host=" + c.dir
}

// Restart ends the server of the tests as a failure would, calls f, and starts it again.
func Restart(t testing.TB, f func()) {
	t.Helper()
	if cluster == nil {
		t.Skip(missing)
	}
	cluster.Halt()
	f()
	if err := cluster.Run(); err != nil {
		t.Fatal(err)
	}
}

// Own is the URL of a cluster for one test, of a package that seldom needs one.
func Own(t testing.TB) string {
	t.Helper()
	return OwnCluster(t).URL()
}

// OwnCluster is a cluster for one test, which may halt it and run it again.
func OwnCluster(t testing.TB) *Cluster {
	t.Helper()
	c, err := Start()
	if errors.Is(err, errAbsent) && os.Getenv("FAIRLEAD_NO_SKIP") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	return c
}

// Start makes a cluster and starts its server.
func Start() (*Cluster, error) {
	c := &Cluster{}
	var err error
	if c.bin, err = binaries(); err != nil {
		return nil, err
	}
	if c.dir, err = os.MkdirTemp("", "fairlead-pg-"); err != nil {
		return nil, err
	}
	if err := c.make(); err != nil {
		os.RemoveAll(c.dir)
		return nil, err
	}
	return c, nil
}

// binaries is the directory of the newest PostgreSQL.
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

func (c *Cluster) make() (err error) {
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		if c.cred, err = other(); err != nil {
			return err
		}
		if err := os.Chown(c.dir, int(c.cred.Uid), int(c.cred.Gid)); err != nil {
			return err
		}
	}
	initdb := c.command("initdb", "--pgdata="+c.data(), "--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return c.Run()
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

// other is a user to run as in place of root.
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
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.cred}
	return cmd
}

// Run starts the server, and waits until it answers. It ends with this process, however
// that ends.
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

// startTime is how long a server has until it takes connections.
const startTime = 30 * time.Second

// answers tries whether what was started takes connections at a URL.
func answers(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	}
}

// Stop ends the server and removes its files.
func (c *Cluster) Stop() {
	c.pooler.end()
	c.Halt()
	os.RemoveAll(c.dir)
}

// Halt ends the server at once, as pg_ctl stop -m immediate does: when it starts again, with
// Run, it has to recover.
func (c *Cluster) Halt() {
	c.server.Signal(syscall.SIGQUIT, startTime)
}

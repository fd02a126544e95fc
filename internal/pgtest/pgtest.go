// Package pgtest runs a PostgreSQL for the tests of a package: one cluster for a test binary, and a schema
// for each test. The cluster has its own directory, and is reachable only by a socket in that directory. If
// PostgreSQL is not installed, the tests are skipped.
package pgtest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/fairlead/fairlead/internal/daemon"
)

// The variable cluster holds the cluster of this test binary. If it is nil, the variable missing holds the
// reason. The variable bouncer holds a pooler in front of the cluster.
var (
	cluster *Cluster
	bouncer pooler
	missing = "the package's TestMain does not call pgtest.Main"
	schemas atomic.Int64
)

// Main runs the tests of a package with a PostgreSQL. TestMain calls it.
func Main(m *testing.M) int {
	c, err := Start()
	if err != nil {
		missing = err.Error()
		if !errors.Is(err, errAbsent) || !daemon.MaySkip() {
			fmt.Fprintln(os.Stderr, "PostgreSQL for the tests:", err)
			return 1
		}
		flag.Set("test.skip", "^Example") // examples cannot skip themselves
		return m.Run()
	}
	cluster = c
	defer c.Stop()
	bouncer.err = bouncer.start(c) // start it here, because a test may be in virtual time
	defer bouncer.end()
	os.Setenv("DATABASE_URL", c.URL()) // for examples
	return m.Run()
}

// URL returns the URL of the database, and a schema that no other test uses. Commits do not wait for the
// disk. Without PostgreSQL the test is skipped.
func URL(t testing.TB) (url, schema string) {
	t.Helper()
	url, schema = Durable(t)
	return url + "&options=-c%20synchronous_commit%3Doff", schema
}

// Durable is like URL, but commits wait for the disk, as benchmarks need.
func Durable(t testing.TB) (url, schema string) {
	t.Helper()
	if cluster == nil {
		t.Skip(missing)
	}
	return cluster.URL(), fmt.Sprint("test", schemas.Add(1))
}

// Restart ends the server of the tests like a failure, calls f, and starts it again.
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

// Own returns the URL of a cluster for one test, for packages that seldom need one.
func Own(t testing.TB) string {
	t.Helper()
	return OwnCluster(t).URL()
}

// OwnCluster returns a cluster for one test, which may halt it and run it again.
func OwnCluster(t testing.TB) *Cluster {
	t.Helper()
	c, err := Start()
	if errors.Is(err, errAbsent) {
		daemon.Skip(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	return c
}

// Pooled returns the URL of the database behind a PgBouncer in transaction mode, a schema that no other test
// uses, and HOST:PORT of the database itself. Without PgBouncer the test is skipped.
func Pooled(t testing.TB) (url, schema, direct string) {
	t.Helper()
	_, schema = Durable(t)
	if errors.Is(bouncer.err, errNoPooler) {
		daemon.Skip(t, bouncer.err)
	}
	if bouncer.err != nil {
		t.Fatal(bouncer.err)
	}
	return cluster.URL() + "&port=" + poolerPort, schema, cluster.dir + ":5432"
}

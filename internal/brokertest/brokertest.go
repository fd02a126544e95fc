// Package brokertest runs a beanstalkd or a RabbitMQ for one test, on loopback, with its files in the test's
// directory. It neither uses nor changes a broker that the machine runs by itself.
package brokertest

import (
	"os/exec"
	"testing"

	"github.com/fairlead/fairlead/internal/daemon"
)

// need finds a program. If it is not installed, need skips the test, if skipping is allowed.
func need(t testing.TB, pkg string, paths ...string) string {
	t.Helper()
	for _, path := range paths {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	daemon.Skip(t, pkg+" is not installed: apt-get install "+pkg)
	return ""
}

// ports returns free ports.
func ports(t testing.TB, n int) []int {
	t.Helper()
	all, err := daemon.Ports(n)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

package brokertest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/daemon"
)

// Beanstalkd is a beanstalkd that the test may kill and start again.
type Beanstalkd struct {
	Address string // host and port
	program string
	port    int
	binlog  string // directory; "": it forgets everything when it ends
	flags   []string
	server  *daemon.Daemon
}

// NewBeanstalkd starts one that writes each command to its binlog before it answers. If it is killed while it
// moves the contents of old files to new ones, it may still lose jobs.
func NewBeanstalkd(t testing.TB) *Beanstalkd {
	t.Helper()
	return newBeanstalkd(t, filepath.Join(t.TempDir(), "binlog"))
}

// NewKeepingBeanstalkd starts one that moves nothing between files, and so loses nothing.
func NewKeepingBeanstalkd(t testing.TB) *Beanstalkd {
	t.Helper()
	return newBeanstalkd(t, filepath.Join(t.TempDir(), "binlog"), "-n")
}

// NewForgetfulBeanstalkd starts one without a binlog.
func NewForgetfulBeanstalkd(t testing.TB) *Beanstalkd {
	t.Helper()
	return newBeanstalkd(t, "")
}

func newBeanstalkd(t testing.TB, binlog string, flags ...string) *Beanstalkd {
	t.Helper()
	b := &Beanstalkd{program: need(t, "beanstalkd", "beanstalkd", "/usr/bin/beanstalkd"), port: ports(t, 1)[0],
		binlog: binlog, flags: flags}
	b.Address = fmt.Sprint("127.0.0.1:", b.port)
	if binlog != "" {
		if err := os.Mkdir(binlog, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b.Start(t)
	t.Cleanup(b.Kill)
	return b
}

// Start starts the beanstalkd, and waits until it answers. The kernel accepts connections for it earlier, while a
// signal such as that of Drain still kills it.
func (b *Beanstalkd) Start(t testing.TB) {
	t.Helper()
	args := append([]string{"-l", "127.0.0.1", "-p", strconv.Itoa(b.port)}, b.flags...)
	if b.binlog != "" {
		args = append(args, "-b", b.binlog, "-f", "0")
	}
	var err error
	if b.server, err = daemon.Start(exec.Command(b.program, args...), syscall.SIGKILL); err != nil {
		t.Fatal("beanstalkd: ", err)
	}
	var dialer net.Dialer
	err = b.server.Await(30*time.Second, func(ctx context.Context) error {
		c, err := dialer.DialContext(ctx, "tcp", b.Address)
		if err != nil {
			return err
		}
		defer c.Close()
		defer context.AfterFunc(ctx, func() { c.Close() })()
		if _, err := io.WriteString(c, "list-tube-used\r\n"); err != nil {
			return err
		}
		_, err = bufio.NewReader(c).ReadString('\n')
		return err
	})
	if err != nil {
		t.Fatal("beanstalkd: ", err)
	}
}

// Kill ends it like a failure.
func (b *Beanstalkd) Kill() { b.server.Signal(syscall.SIGKILL, time.Minute) }

// Drain makes it refuse new jobs until it is started again, and waits until it does.
func (b *Beanstalkd) Drain(t testing.TB) {
	t.Helper()
	if err := b.server.Send(syscall.SIGUSR1); err != nil {
		t.Fatal("beanstalkd: ", err)
	}
	c, err := beanstalk.Dial("tcp", b.Address)
	if err != nil {
		t.Fatal("beanstalkd: ", err)
	}
	defer c.Close()
	await.True(t, "beanstalkd refuses new jobs", func() bool {
		stats, err := c.Stats()
		return err == nil && stats["draining"] == "true"
	})
}

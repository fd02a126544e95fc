package brokertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/daemon"
)

// RabbitMQ is a RabbitMQ that the test may stop, kill and start again.
type RabbitMQ struct {
	URL    string
	dir    string
	erl    string
	home   string // directory of RabbitMQ's files
	env    []string
	server *daemon.Daemon
}

// rabbitText is the configuration. Its limits keep the broker from stopping publishers because the test
// machine lacks memory or disk space.
const rabbitText = `vm_memory_high_watermark.relative = 0.9
disk_free_limit.absolute = 1MB
loopback_users = none
log.console = false
log.file.level = warning
`

// NewRabbitMQ starts a node with its own name, cookie, directory, ports and port mapper, which no other node
// uses.
func NewRabbitMQ(t testing.TB) *RabbitMQ {
	t.Helper()
	r := &RabbitMQ{erl: need(t, "rabbitmq-server", "erl"), dir: t.TempDir(), home: rabbitHome(t)}
	epmd := need(t, "rabbitmq-server", "epmd")
	free := ports(t, 3)
	r.URL = fmt.Sprintf("amqp://guest:guest@127.0.0.1:%d/", free[0])
	for name, text := range map[string]string{"rabbitmq.conf": rabbitText, "rabbitmq-env.conf": "", "plugins": "[].\n"} {
		if err := os.WriteFile(r.path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.env = []string{
		"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=" + r.dir,
		"RABBITMQ_NODENAME=test@localhost", fmt.Sprint("RABBITMQ_NODE_PORT=", free[0]), "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
		fmt.Sprint("RABBITMQ_DIST_PORT=", free[1]), fmt.Sprint("ERL_EPMD_PORT=", free[2]), "ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_HOME=" + r.home, "ERL_LIBS=" + filepath.Join(r.home, "plugins"),
		"RABBITMQ_CONF_ENV_FILE=" + r.path("rabbitmq-env.conf"), "RABBITMQ_CONFIG_FILE=" + r.path("rabbitmq.conf"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + r.path("plugins"), "RABBITMQ_MNESIA_BASE=" + r.path("mnesia"),
		"RABBITMQ_LOG_BASE=" + r.path("log"), "RABBITMQ_PID_FILE=" + r.path("pid"),
	}
	mapper, err := daemon.Start(r.command(epmd, "-port", fmt.Sprint(free[2]), "-address", "127.0.0.1"), syscall.SIGKILL)
	if err != nil {
		t.Fatal("epmd: ", err)
	}
	t.Cleanup(func() { mapper.Signal(syscall.SIGKILL, time.Minute) })
	r.Start(t)
	t.Cleanup(r.Kill)
	return r
}

// rabbitHome returns the directory where the package installs RabbitMQ.
func rabbitHome(t testing.TB) string {
	t.Helper()
	for _, pattern := range []string{"/usr/lib/rabbitmq/lib/rabbitmq_server-*", "/opt/rabbitmq"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	return filepath.Dir(filepath.Dir(need(t, "rabbitmq-server", "/usr/lib/rabbitmq/bin/rabbitmq-server")))
}

func (r *RabbitMQ) path(name string) string { return filepath.Join(r.dir, name) }

func (r *RabbitMQ) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = r.dir, r.env
	return cmd
}

// Start starts the RabbitMQ, and waits until it accepts connections. It does not use the package's script,
// which would leave a shell between us and the server.
func (r *RabbitMQ) Start(t testing.TB) {
	t.Helper()
	cmd := r.command(r.erl, "-noinput", "-boot", "start_sasl", "-s", "rabbit", "boot", "+W", "w", "+B", "i",
		"+S", "2:2", "+sbwt", "none", "+sbwtdcpu", "none", "+sbwtdio", "none",
		"-syslog", "logger", "[]", "-syslog", "syslog_error_logger", "false", "-kernel", "prevent_overlapping_partitions",
		"false")
	var err error
	if r.server, err = daemon.Start(cmd, syscall.SIGKILL); err != nil {
		t.Fatal("RabbitMQ: ", err)
	}
	err = r.server.Await(5*time.Minute, func(context.Context) error {
		c, err := amqp.Dial(r.URL)
		if err != nil {
			return err
		}
		return c.Close()
	})
	if err != nil {
		t.Fatalf("RabbitMQ: %v\n%s", err, r.log())
	}
}

// log returns the ends of its logs.
func (r *RabbitMQ) log() string {
	var all strings.Builder
	files, _ := filepath.Glob(r.path("log/*.log"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		all.Write(text[max(0, len(text)-4096):])
	}
	return all.String()
}

// Kill ends it like a failure.
func (r *RabbitMQ) Kill() { r.server.Signal(syscall.SIGKILL, time.Minute) }

// Stop ends it in an orderly way.
func (r *RabbitMQ) Stop() { r.server.Signal(syscall.SIGTERM, time.Minute) }

// Sync writes the definitions of queues to disk. RabbitMQ writes messages before it confirms them, but
// Erlang's disk_log gathers other writes for two seconds, and a kill in this time loses a new queue.
func (r *RabbitMQ) Sync(t testing.TB) { r.Control(t, "eval", "mnesia:sync_log().") }

// Control runs rabbitmqctl, like an administrator.
func (r *RabbitMQ) Control(t testing.TB, args ...string) {
	t.Helper()
	if out, err := r.command(filepath.Join(r.home, "sbin", "rabbitmqctl"), args...).CombinedOutput(); err != nil {
		t.Fatalf("rabbitmqctl %q: %v\n%s", args, err, out)
	}
}

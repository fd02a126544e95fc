package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/fairlead/fairlead/internal/daemon"
)

// pooler is a PgBouncer in front of a cluster, in the mode that keeps the least state: it lends a connection
// for one transaction.
type pooler struct {
	err    error
	server *daemon.Daemon
}

// poolerPort is in the name of the pooler's socket, which is beside the socket of PostgreSQL.
const poolerPort = "6432"

// poolerText is the configuration of the pooler; %[1]s is the directory of the sockets. Commits do not wait
// for the disk.
const poolerText = `[databases]
* = host=%[1]s user=postgres connect_query='SET synchronous_commit=off'
[pgbouncer]
pool_mode = transaction
listen_port = ` + poolerPort + `
unix_socket_dir = %[1]s
auth_type = any
max_client_conn = 500
default_pool_size = 20
min_pool_size = 0
log_connections = 0
log_disconnections = 0
log_stats = 0
`

// errNoPooler says that PgBouncer is not installed.
var errNoPooler = errors.New("PgBouncer is not installed: apt-get install pgbouncer")

func (p *pooler) start(c *Cluster) error {
	program := "/usr/sbin/pgbouncer"
	if _, err := os.Stat(program); err != nil {
		if program, err = exec.LookPath("pgbouncer"); err != nil {
			return errNoPooler
		}
	}
	file := filepath.Join(c.dir, "pgbouncer.ini")
	if err := os.WriteFile(file, fmt.Appendf(nil, poolerText, c.dir), 0o644); err != nil {
		return err
	}
	cmd := c.command("postgres") // for its user and directory
	cmd.Path, cmd.Args = program, []string{program, "--quiet", file}
	var err error
	if p.server, err = daemon.Start(cmd, syscall.SIGTERM); err != nil {
		return err
	}
	return p.server.Await(startTime, answers(c.URL()+"&port="+poolerPort))
}

// end ends the pooler, if it was started.
func (p *pooler) end() {
	if p.server != nil {
		p.server.Signal(syscall.SIGTERM, startTime)
	}
}

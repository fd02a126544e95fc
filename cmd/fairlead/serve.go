package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/internal/socket"
	"github.com/fairlead/fairlead/internal/tempdir"
	"github.com/fairlead/fairlead/internal/wait"
)

type serve struct {
	*app
	dev                          bool
	database, configFile, socket string
	listen, outside              string
	logLevel, logFormat          string
	lease                        time.Duration
	cpus                         int
	gpus                         []string
	labels                       map[string]string
	drain                        time.Duration
	name                         string
}

func serveCommand(a *app) *cobra.Command {
	s := &serve{app: a}
	c := &cobra.Command{
		Use:   "serve [--dev] [--db FILE|URL] [--config FILE]",
		Short: "Run a server",
		Long: `Run a server: it keeps the jobs, decides which of them run, and hands them to agents
(fairlead work). With --dev it includes an agent for this machine, and keeps the jobs in a
temporary file unless --db is given.

--db is a file, or the URL of a PostgreSQL database, postgres://USER@HOST/DATABASE. The server
keeps the jobs there in the schema fairlead, or in the schema NAME if the URL has schema=NAME.
If the database needs a password, set PGPASSFILE or PGPASSWORD: other users cannot read these, but
they can read the URL. Several servers can use one schema: each schedules its own nodes, knows all
jobs, and counts the usage on all servers.

Commands, agents and bridges connect to the server's socket. There the operating system identifies
the user of each process. --listen 127.0.0.1:7447 adds an address for browsers and Prometheus; with --dev that is
the default. That address does not identify users: fairlead dashboard gives a browser a session.
Agents on other machines connect to the address of --listen-tls, once fairlead cluster init has
made the key of the cluster.

The server reads its configuration again on SIGHUP and when the file changes. If the file has
errors, the last good configuration stays in use. SIGTERM and Ctrl-C end the server; running tasks
continue at their agents while it is away. With --dev they may run for the time of --drain; then
the server stops them.`,
		Example: "  fairlead serve --dev\n  fairlead serve --config /etc/fairlead/fairlead.yaml --db /var/lib/fairlead/jobs.db\n  fairlead serve --db 'postgres://fairlead@db.example.org/jobs?sslmode=verify-full'",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return s.run(c) },
	}
	f := c.Flags()
	f.BoolVar(&s.dev, "dev", false, "include an agent for this machine, with a temporary database")
	f.StringVar(&s.database, "db", "", "file for the jobs, or URL of a PostgreSQL database (default: fairlead.db; with --dev a temporary file)")
	f.StringVar(&s.configFile, "config", "", "configuration (default: equal shares for all users)")
	f.StringVar(&s.socket, "socket", "", "socket to listen on (default: "+defaultSocket()+")")
	f.StringVar(&s.listen, "listen", "", "address for browsers and Prometheus, or none (default: none; with --dev "+defaultAddress+")")
	f.StringVar(&s.outside, "listen-tls", "",
		"address for agents on other machines, such as 0.0.0.0:7448, or none (default: none)")
	f.DurationVar(&s.lease, "lease", 0, "duration of a task's lease (default 1m)")
	f.StringVar(&s.logLevel, "log", "", "debug, info, warn or error (default: info; with --dev warn)")
	f.StringVar(&s.logFormat, "log-format", "", "text or json")
	f.IntVar(&s.cpus, "cpus", runtime.NumCPU(), "with --dev: processors to offer")
	f.StringSliceVar(&s.gpus, "gpus", nil, "with --dev: GPUs to offer, e.g. a100:2 (default: the GPUs that nvidia-smi or /dev shows)")
	f.StringToStringVar(&s.labels, "label", nil, "with --dev: labels of the node, e.g. rack=b")
	f.StringVar(&s.name, "name", hostname(), "with --dev: name of the node")
	f.DurationVar(&s.drain, "drain", 5*time.Second, "with --dev: how long running tasks may continue at exit")
	return c
}

func (s *serve) run(c *cobra.Command) error {
	for _, name := range []string{"cpus", "gpus", "label", "drain", "name"} {
		if c.Flags().Changed(name) && !s.dev {
			return usagef("--%s needs --dev; without --dev, give it to fairlead work", name)
		}
	}
	cfg := config.Default()
	if s.configFile != "" {
		var err error
		if cfg, err = loadConfig(s.app, s.configFile); err != nil {
			return err
		}
	}
	o, cleanup, err := s.options(cfg)
	if err != nil {
		return err
	}
	defer cleanup()
	reload, stop := hangups()
	defer stop()
	o.reload = reload
	x, err := newInstance(c.Context(), o)
	if err != nil {
		return err
	}
	if s.dev {
		return s.runDev(c.Context(), x, o)
	}
	s.banner(x, o, nil)
	return s.until(c.Context(), x)
}

// until waits until ctx is done or a part of the server fails, and stops the server.
func (s *serve) until(ctx context.Context, x *instance) error {
	select {
	case <-ctx.Done():
		return x.stop()
	case err := <-x.failed:
		x.stop()
		return err
	}
}

// options takes each option from the flags, otherwise from the configuration, and otherwise from the
// defaults.
func (s *serve) options(cfg *config.Config) (o instanceOptions, cleanup func(), err error) {
	cleanup = func() {}
	level, err := s.level(cfg)
	if err != nil {
		return o, cleanup, err
	}
	o = instanceOptions{
		config: cfg, configFile: s.configFile, database: cmp.Or(s.database, cfg.Server.Database, "fairlead.db"),
		listen: cfg.Server.Listen, tls: cfg.Server.TLS, lease: cmp.Or(s.lease, cfg.Server.LeaseTTL, time.Minute),
		log: s.logger(level, cmp.Or(s.logFormat, cfg.Server.LogFormat)),
	}
	if err := errors.Join(checkFormat(cmp.Or(s.logFormat, "text")), checkDrain(s.drain)); err != nil {
		return o, cleanup, err
	}
	if s.database == "" && strings.Contains(cfg.Server.Database, ":"+config.Hidden+"@") {
		return o, cleanup, usagef("server.database holds %s instead of its password; write the password there, or give it in PGPASSFILE", config.Hidden)
	}
	if o.lease < 100*time.Millisecond {
		return o, cleanup, usagef("--lease %v is too short: agents need time to renew", o.lease)
	}
	if o.socket, err = s.socketOptions(&cfg.Server); err != nil {
		return o, cleanup, err
	}
	switch {
	case s.listen == "none":
		o.listen = nil
	case s.listen != "":
		o.listen = []string{s.listen}
	case s.dev && len(o.listen) == 0:
		o.listen = []string{defaultAddress}
	}
	switch s.outside {
	case "":
	case "none":
		o.tls.Listen = nil
	default:
		o.tls.Listen = []string{s.outside}
	}
	o.storeName = config.Hide(o.database)
	if s.dev && s.database == "" {
		dir, remove, err := tempdir.New("", "fairlead-dev-")
		if err != nil {
			return o, cleanup, err
		}
		cleanup = remove
		o.database, o.storeName = filepath.Join(dir, "fairlead.db"), "temporary"
	}
	return o, cleanup, nil
}

// socketOptions returns the path of the socket, and who may connect to it.
func (s *serve) socketOptions(cfg *config.Server) (o socket.Options, err error) {
	o = socket.Options{Path: cmp.Or(s.socket, cfg.Socket, defaultSocket()), Mode: cmp.Or(cfg.SocketMode, fs.FileMode(0o666)), GID: -1}
	if o.Path == "none" {
		return o, usagef("a server needs its socket: commands, agents and bridges reach the server there, and browsers get their sessions through it")
	}
	o.Private = isPrivate(o.Path)
	if cfg.SocketGroup != "" {
		g, err := user.LookupGroup(cfg.SocketGroup)
		if err != nil {
			return o, usagef("server.socket_group: there is no group %.40q on this machine", cfg.SocketGroup)
		}
		o.GID, err = strconv.Atoi(g.Gid)
		return o, err
	}
	return o, nil
}

func (s *serve) level(cfg *config.Config) (slog.Level, error) {
	if s.logLevel == "" && s.dev {
		return slog.LevelWarn, nil
	}
	if s.logLevel == "" {
		return cfg.Server.LogLevel, nil
	}
	return logLevel(s.logLevel)
}

// hangups turns SIGHUP into a channel.
func hangups() (<-chan struct{}, func()) {
	signals, out := make(chan os.Signal, 1), make(chan struct{}, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for range signals {
			wait.Wake(out)
		}
	}()
	return out, func() { signal.Stop(signals); close(signals) }
}

// runDev runs an agent beside the server.
func (s *serve) runDev(ctx context.Context, x *instance, o instanceOptions) (err error) {
	defer func() {
		if stopped := x.stop(); err == nil {
			err = stopped
		}
	}()
	client, err := api.Dial(o.socket.Path)
	if err != nil {
		return err
	}
	defer client.Close()
	work := agentOptions{name: s.name, cpus: s.cpus, gpus: s.gpus, finder: gpu.Nvidia{}, labels: s.labels, dir: agentDir(o.database, s.name), drain: s.drain}
	ao, err := work.options(ctx, client, o.log)
	if err != nil {
		return err
	}
	ao.AllowRoot = true
	ready := make(chan struct{}, 1)
	ao.Joined = func() {
		wait.Wake(ready)
	}
	ended := make(chan error, 1)
	go func() { ended <- agent.Run(ctx, ao) }()
	select {
	case <-ready:
		s.banner(x, o, &ao)
		err = s.devUntil(ctx, x, ended)
	case err = <-ended:
	}
	return err
}

// agentDir returns the directory for the files of a development server's agent. It is beside the database
// file and is named after it, so that each of several servers has its own. If the database is not a file,
// the directory is below the working directory. Other servers on the database may use that directory, too,
// so a node with a chosen name gets a directory of that name.
func agentDir(database, node string) string {
	switch {
	case !isURL(database):
		return strings.TrimSuffix(database, filepath.Ext(database)) + "-agent"
	case node != hostname():
		return "fairlead-agent-" + node
	}
	return "fairlead-agent"
}

func (s *serve) devUntil(ctx context.Context, x *instance, agentEnded <-chan error) error {
	select {
	case <-ctx.Done():
		fmt.Fprintln(s.errs, "ending; press Ctrl-C again to end at once")
		return drained(agentEnded)
	case err := <-x.failed:
		return err
	case err := <-agentEnded:
		return err
	}
}

// firstLinkLasts is the life of the dashboard address that the server prints on a terminal at its start.
// The address works once; fairlead dashboard prints others.
const firstLinkLasts = 10 * time.Minute

// banner prints the addresses and places of the server, in a few aligned lines.
func (s *serve) banner(x *instance, o instanceOptions, ao *agent.Options) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(s.out, "  %-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	title, hint := "server", ""
	if o.socket.Path != defaultSocket() {
		hint = "FAIRLEAD_SERVER=" + o.socket.Path + " "
	}
	if s.dev {
		title = "development server; Ctrl-C ends it"
	}
	fmt.Fprintf(s.out, "fairlead %s %s\n", version, title)
	line("socket", "%s", o.socket.Path)
	for i, at := range x.addresses {
		switch {
		case at.missing != nil:
			line("address", "cannot listen on http://%s: %v; trying again", at.address, at.missing)
		case !s.dev || i > 0:
			line("address", "http://%s", at.address)
		case s.terminal():
			line("dashboard", "%s", x.server.Invite(os.Getuid(), firstLinkLasts))
		default: // others may read a file or a journal while the code still works
			line("dashboard", "http://%s; to sign in, run: %sfairlead dashboard", at.address, hint)
		}
	}
	for _, at := range x.outside {
		if at.missing != nil {
			line("nodes", "cannot listen on https://%s: %v; trying again", at.address, at.missing)
			continue
		}
		line("nodes", "https://%s", at.address)
	}
	database := x.place
	if database == "temporary" {
		database = "temporary: jobs are lost at exit; to keep them, use --db FILE"
	}
	line("database", "%s", database)
	if ao != nil {
		line("node", "%s: %d cpu, %s memory", ao.Name, ao.Capacity["cpu"], size(ao.Capacity["mem"]))
	}
	file := "defaults: equal shares for all users (policy fair)"
	if o.configFile != "" {
		file = o.configFile
	}
	st := x.config.Status()
	if othersFile(&st) {
		file = "the file of the other servers, not " + file
	}
	line("config", "%s (version %s)", file, st.Hash)
	line("try", "%sfairlead submit -- echo hello", hint)
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/permit"
	"github.com/fairlead/fairlead/internal/server"
	"github.com/fairlead/fairlead/internal/settings"
	"github.com/fairlead/fairlead/internal/socket"
	"github.com/fairlead/fairlead/internal/tracing"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
	"github.com/fairlead/fairlead/store/sqlite"
)

// instance is a server that runs in this process, with all its parts.
type instance struct {
	store   jobStore
	place   string // the place of the database, for people
	loop    *engine.Loop
	server  *server.Server
	log     *slog.Logger
	config  *settings.Keeper
	servers sync.WaitGroup
	cancel  context.CancelFunc
	failed  chan error
	changed chan struct{} // another server has changed the configuration
	revoked chan struct{} // another server has revoked a node
	listens []net.Listener

	addresses []listening // the actual addresses
	outside   []listening // the addresses for other machines
}

// listening is an address on which the server listens or tries to listen.
type listening struct {
	address string
	missing error // why it does not listen yet
}

// instanceOptions configures an instance.
type instanceOptions struct {
	config     *config.Config
	configFile string // watched, if there is one
	reload     <-chan struct{}
	database   string
	storeName  string
	socket     socket.Options
	listen     []string // loopback addresses
	tls        config.TLS
	lease      time.Duration
	log        *slog.Logger
}

// newInstance opens the store, creates the loop and the server, and listens. The caller has to call stop, also after a
// failure that arrives on the channel "failed".
func newInstance(ctx context.Context, o instanceOptions) (*instance, error) {
	x := &instance{
		log: o.log, failed: make(chan error, 4), changed: make(chan struct{}, 1), revoked: make(chan struct{}, 1),
	}
	ctx, x.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := x.open(ctx, o); err != nil {
		x.stop()
		return nil, err
	}
	return x, nil
}

func (x *instance) open(ctx context.Context, o instanceOptions) (err error) {
	if x.store, o, err = openStore(ctx, o); err != nil {
		return err
	}
	x.place = o.storeName
	if x.config, err = settings.Open(ctx, x.store, o.config, o.configFile, serverName(o)); err != nil {
		return err
	}
	if st := x.config.Status(); st.Problem != "" {
		x.log.Error(st.Problem)
	}
	x.loop, err = engine.NewLoop(ctx, x.store, engine.LoopOptions{Shares: x.config.Config().Shares, LeaseTTL: o.lease, Logger: x.log, Seed: uint64(time.Now().UnixNano()), Name: serverName(o), Address: serverAddress(o), Changed: x.settingsChanged})
	if err != nil {
		return err
	}
	ahead := forecast.New(x.loop)
	ahead.Explainer().Remember()
	x.config.Bind(x.loop, ahead)
	tracer, err := tracing.New(os.Getenv, version, x.log)
	if err != nil {
		return err
	}
	if tracer != nil {
		x.goes(func() error {
			<-ctx.Done()
			rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
			defer cancel()
			if err := tracer.Close(rest); err != nil {
				x.log.Warn("the last spans could not be reported", "error", err)
			}
			return nil
		})
	}
	authority, err := openAuthority(o.tls, x.log)
	if err != nil {
		return err
	}
	x.server = server.New(server.Options{
		CA: authority, Loop: x.loop, Forecast: ahead, KeepHistory: true,
		Store: x.store, Program: version, StoreName: o.storeName, Database: o.database, Anonymous: o.config.Server.Anonymous, Origins: o.config.Server.Origins, Config: x.config, Logger: x.log, Tracer: tracer,
	})
	if err := x.listen(o); err != nil {
		return err
	}
	x.goes(func() error { return x.loop.Run(ctx) })
	x.goes(func() error { return x.follow(ctx) })
	x.goes(func() error { return x.dropRevoked(ctx) })
	x.goes(func() error { return x.server.Serve(ctx, x.listens...) })
	x.goes(func() error { return x.retain(ctx, o.config.Server.Retention) })
	if o.configFile != "" {
		x.goes(func() error { return x.watch(ctx, o) })
	}
	return nil
}

// serverName distinguishes the server from others on the same store: its socket is its own, also after a
// restart.
func serverName(o instanceOptions) string { return hostname() + ":" + serverAddress(o) }

// serverAddress returns the path of the server's socket.
func serverAddress(o instanceOptions) string {
	path, err := filepath.Abs(o.socket.Path)
	if err != nil {
		return o.socket.Path
	}
	return path
}

// settingsChanged gets the keys of settings that another server has changed.
func (x *instance) settingsChanged(keys []string) {
	if slices.ContainsFunc(keys, settings.Ours) {
		wait.Wake(x.changed)
	}
	if slices.Contains(keys, permit.Changed) {
		wait.Wake(x.revoked)
	}
}

// follow applies configurations that another server has applied.
func (x *instance) follow(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-x.changed:
		}
		before := x.config.Config().Shares.Hash
		if err := x.config.Follow(ctx); err != nil && ctx.Err() == nil {
			x.log.Error("cannot apply the configuration of another server; the previous one stays in use", "error", err)
		} else if now := x.config.Config().Shares.Hash; now != before {
			x.log.Info("applied the configuration of another server", "version", now)
		}
	}
}

func (x *instance) goes(f func() error) {
	x.servers.Go(func() {
		if err := f(); err != nil {
			select {
			case x.failed <- err:
			default:
			}
		}
	})
}

// watch applies each valid version of the file; after an invalid version the last valid one stays current.
func (x *instance) watch(ctx context.Context, o instanceOptions) error {
	return o.config.Watch(ctx, o.configFile, o.reload, func(c *config.Config) {
		if err := x.config.Reload(ctx, c); err != nil {
			x.log.Error("the new configuration was refused; the previous one stays in use", "error", err)
			return
		}
		x.log.Info("applied the new configuration", "version", x.config.Config().Shares.Hash)
	}, func(err error) {
		x.log.Error("the configuration has errors; the last good one stays in use", "error", err)
		if err := x.config.Broken(ctx, err); err != nil {
			x.log.Warn("could not record that the configuration was refused", "error", err)
		}
	})
}

// retain removes jobs that ended long ago.
func (x *instance) retain(ctx context.Context, kept time.Duration) error {
	if kept == 0 {
		return nil
	}
	for {
		n, err := x.store.Forget(ctx, time.Now().Add(-kept))
		if err != nil && ctx.Err() == nil {
			x.log.Error("old jobs could not be removed", "error", err)
		} else if n > 0 {
			x.log.Info("removed old jobs", "jobs", n)
		}
		if !wait.For(ctx, time.Hour) {
			return nil
		}
	}
}

// listen opens the socket and the addresses. The server cannot do without its socket. If a port is in use,
// the server gets it later.
func (x *instance) listen(o instanceOptions) error {
	l, err := socket.Listen(o.socket)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	x.listens = append(x.listens, l)
	for _, address := range o.listen {
		if err := checkLoopback(address); err != nil {
			return err
		}
		l, err := x.server.Listen(address)
		if err != nil {
			return fmt.Errorf("%w; listen elsewhere with --listen 127.0.0.1:0, or not at all with --listen none", err)
		}
		x.addresses = append(x.addresses, listening{l.Addr().String(), l.Missing()})
		x.listens = append(x.listens, l)
	}
	return x.listenOutside(o.tls.Listen)
}

// listenOutside listens for other machines.
func (x *instance) listenOutside(addresses []string) error {
	for _, address := range addresses {
		l, err := x.server.Listen(address)
		if err != nil {
			return fmt.Errorf("--listen-tls: %w", err)
		}
		x.outside = append(x.outside, listening{l.Addr().String(), l.Missing()})
		x.listens = append(x.listens, x.server.NodeListener(l))
	}
	return nil
}

// dropRevoked ends the connections of nodes that another server has revoked.
func (x *instance) dropRevoked(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-x.revoked:
		}
		if err := x.server.DropRevoked(ctx); err != nil && ctx.Err() == nil {
			x.log.Error("could not read which nodes are revoked; each request of a node is checked separately", "error", err)
		}
	}
}

// checkLoopback refuses addresses to which other machines could connect: the traffic there is not encrypted.
func checkLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return usagef("--listen: %w; expected an address such as %s", err, defaultAddress)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return usagef("--listen %s: other machines could connect, without encryption; use 127.0.0.1, "+
			"and --listen-tls for agents on other machines", address)
	}
	return nil
}

// stop ends everything and waits for it.
func (x *instance) stop() error {
	x.cancel()
	x.servers.Wait()
	for _, l := range x.listens {
		l.Close() // if it started, the server has already closed it
	}
	if x.store == nil {
		return nil
	}
	return x.store.Close()
}

// jobStore is the store of a server.
type jobStore interface {
	queue.Store
	settings.Store
	// Forget removes jobs that ended before an instant.
	Forget(ctx context.Context, before time.Time) (int, error)
}

// isURL reports whether a database server holds the jobs, instead of a file.
func isURL(database string) bool {
	return strings.HasPrefix(database, "postgres://") || strings.HasPrefix(database, "postgresql://")
}

// keywords matches a connection string of libpq (PostgreSQL, 34.1.1.1), such as "host=db dbname=jobs".
var keywords = regexp.MustCompile(`(?i)^\s*(host|hostaddr|port|dbname|user|password|service|sslmode)\s*=`)

// openStore opens the database of a server, and sets its place in the options.
func openStore(ctx context.Context, o instanceOptions) (jobStore, instanceOptions, error) {
	unit := o.config.Shares.Sched.Unit
	if keywords.MatchString(o.database) {
		return nil, o, queue.Invalidf("database", "it looks like the keywords of a PostgreSQL connection, "+
			"not like a file; write it as a URL: postgres://USER@HOST/DATABASE")
	}
	if !isURL(o.database) {
		s, err := sqlite.Open(ctx, o.database, sqlite.Options{Unit: unit, Grace: o.lease, Logger: o.log})
		if err != nil {
			return nil, o, err
		}
		return s, o, nil
	}
	s, err := postgres.Open(ctx, o.database, postgres.Options{Unit: unit, Grace: o.lease, Logger: o.log})
	if err != nil {
		return nil, o, err
	}
	o.storeName, o.database = s.Place(), ""
	return s, o, nil
}

// defaultAddress is the default address of the dashboard of a development server.
const defaultAddress = "127.0.0.1:7447"

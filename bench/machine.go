package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/pgtest"
)

// silent returns a logger for libraries that would log every step.
func silent() *slog.Logger {
	return slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError + 1}))
}

// database is the PostgreSQL that all contestants share.
type database struct {
	cluster *pgtest.Cluster
	url     string
	pid     string // of its first process
	version string
}

// settings are those of a small dedicated server. Commits wait for the disk.
var settings = []string{"shared_buffers = '1GB'", "max_wal_size = '8GB'", "checkpoint_timeout = '15min'"}

func startDatabase(ctx context.Context, settings ...string) (*database, error) {
	cluster, err := pgtest.Start()
	if err != nil {
		return nil, err
	}
	d := &database{cluster: cluster, url: cluster.URL()}
	if err := d.set(ctx, settings); err != nil {
		cluster.Stop()
		return nil, err
	}
	cluster.Halt()
	if err := cluster.Run(); err != nil {
		cluster.Stop()
		return nil, err
	}
	if err := d.ask(ctx); err != nil {
		cluster.Stop()
		return nil, err
	}
	return d, nil
}

func (d *database) set(ctx context.Context, settings []string) error {
	conn, err := pgx.Connect(ctx, d.url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, s := range settings {
		if _, err := conn.Exec(ctx, "ALTER SYSTEM SET "+s); err != nil {
			return err
		}
	}
	return nil
}

// ask finds the server's first process: its file has the process number on its first line.
func (d *database) ask(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, d.url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var dir string
	if err := conn.QueryRow(ctx, `SELECT current_setting('data_directory'), current_setting('server_version')`).Scan(&dir, &d.version); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	d.pid, _, _ = strings.Cut(string(text), "\n")
	return err
}

// cpu returns the processor time of all processes of the server, including ended ones. Without /proc it
// returns 0.
func (d *database) cpu() time.Duration {
	const perTick = time.Second / 100
	ticks := 0
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest) // from the third on: state, ppid, ...
		if len(fields) < 15 {
			continue
		}
		at := func(i int) int { n, _ := strconv.Atoi(fields[i-3]); return n }
		if fields[1] == d.pid {
			ticks += at(14) + at(15)
		} else if filepath.Base(filepath.Dir(path)) == d.pid {
			ticks += at(14) + at(15) + at(16) + at(17)
		}
	}
	return time.Duration(ticks) * perTick
}

// ownCPU returns the processor time of this process.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// load returns the load of the machine.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	f := strings.Fields(string(text))
	if err != nil || len(f) < 3 {
		return "unknown"
	}
	return fmt.Sprint(f[0], " ", f[1], " ", f[2])
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/internal/units"
)

// agentOptions are the flags of an agent.
type agentOptions struct {
	name, mem, dir string
	gpus           []string
	finder         gpu.Finder // of what there is where gpus is empty; nil: of nothing
	cpus           int
	request        map[string]int
	labels         map[string]string
	drain          time.Duration
	allowRoot, any bool
}

func (a *app) workCommand() *cobra.Command {
	w := agentOptions{finder: gpu.Nvidia{}}
	var level, format string
	c := &cobra.Command{
		Use:   "work [flags]",
		Short: "Run an agent: offer this machine to a server",
		Long: `Run an agent: it offers this machine, or a part of it, to a server, and runs jobs as
processes. As root it runs each job as its user; otherwise it runs its own user's jobs.
Each task that asks for GPUs finds the numbers of its own in CUDA_VISIBLE_DEVICES. An agent
that is itself started with this variable offers those GPUs only.

SIGTERM and Ctrl-C drain it: it takes nothing new, lets running tasks end for the time
of --drain, and gives the rest back. A second one ends it at once.`,
		Example: "  fairlead work --cpus 8 --mem 32G\n  fairlead work --server ./lab.sock --name n1 --cpus 4\n  fairlead work --gpus a100:4 --label rack=b --label room=2",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			log, err := a.logTo(level, format)
			if err == nil {
				err = checkDrain(w.drain)
			}
			if err != nil {
				return err
			}
			return a.with(func(client *api.Client) error {
				o, err := w.options(c.Context(), client, log)
				if err != nil {
					return err
				}
				return a.work(c.Context(), o)
			})
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&w.name, "name", hostname(), "name of the node")
	f.IntVar(&w.cpus, "cpus", runtime.NumCPU(), "processors to offer")
	f.StringVar(&w.mem, "mem", "", "memory to offer (default: all)")
	f.StringSliceVar(&w.gpus, "gpus", nil, "GPUs to offer: a number, or with types, e.g. a100:4,h100:2; 0 is none (default: those that nvidia-smi or /dev shows)")
	f.StringToIntVar(&w.request, "resource", nil, "further resources to offer, e.g. tape=2")
	f.StringToStringVar(&w.labels, "label", nil, "labels for constraints of jobs, e.g. rack=b; arch, os and host are there by themselves")
	f.StringVar(&w.dir, "dir", "", "directory for output and scripts (default: "+defaultAgentDir("NAME")+")")
	f.DurationVar(&w.drain, "drain", 30*time.Second, "how long running tasks may go on at the end")
	f.BoolVar(&w.allowRoot, "allow-root", false, "run root's jobs as well")
	f.BoolVar(&w.any, "any-user", false, "run everybody's jobs as the agent's own user")
	f.StringVar(&level, "log", "info", "debug, info, warn or error")
	f.StringVar(&format, "log-format", "text", "text or json")
	return c
}

func defaultAgentDir(name string) string { return stateDir("agent", name) }

// stateDir is where a part of the program keeps what it must not lose.
func stateDir(part, name string) string {
	if os.Getuid() == 0 {
		return filepath.Join("/var/lib/fairlead", part, name)
	}
	state := os.Getenv("XDG_STATE_HOME")
	if home, err := os.UserHomeDir(); state == "" && err == nil {
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "fairlead", part, name)
}

func (w *agentOptions) options(ctx context.Context, client *api.Client, log *slog.Logger) (agent.Options, error) {
	capacity := map[string]int64{"cpu": int64(w.cpus)}
	for name, n := range w.request {
		capacity[name] = int64(n)
	}
	devices, err := w.devices(ctx, log)
	if err != nil {
		return agent.Options{}, err
	}
	maps.Copy(capacity, gpu.Capacity(devices))
	if w.mem != "" {
		n, err := units.ParseSize(w.mem)
		if err != nil {
			return agent.Options{}, usagef("--mem: %w", err)
		}
		capacity["mem"] = n
	} else {
		capacity["mem"] = totalMemory()
	}
	if w.cpus < 1 {
		return agent.Options{}, usagef("--cpus must be at least 1")
	}
	if err := checkNode(w.name, "node"); err != nil {
		return agent.Options{}, err
	}
	return agent.Options{
		Client: client, Name: w.name, Capacity: capacity, GPUs: devices, Dir: cmp.Or(w.dir, defaultAgentDir(w.name)), Version: version,
		Labels: w.allLabels(), Host: hostname(), Logger: log, Drain: w.drain, AllowRoot: w.allowRoot, AnyUser: w.any,
	}, nil
}

// allLabels are those that were given, and what this program knows of the machine.
func (w *agentOptions) allLabels() map[string]string {
	all := map[string]string{"arch": runtime.GOARCH, "os": runtime.GOOS}
	if host := hostname(); cluster.CheckLabel("host", host) == nil {
		all["host"] = host
	}
	maps.Copy(all, w.labels)
	return all
}

// totalMemory is the memory of this machine, in bytes.
func totalMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}

// work runs an agent until it is told to end, and then until it has drained or is
// told again.
func (a *app) work(ctx context.Context, o agent.Options) error {
	o.Joined = func() {
		fmt.Fprintf(a.out, "node %s joined %s: %d cpu, %s memory\n", o.Name, o.Client.Address, o.Capacity["cpu"], size(o.Capacity["mem"]))
	}
	ended := make(chan error, 1)
	go func() { ended <- agent.Run(ctx, o) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	fmt.Fprintf(a.errs, "draining for at most %v; again Ctrl-C ends at once\n", o.Drain)
	return drained(ended)
}

// drained waits for the end of an agent that was told to end, or for being told again.
func drained(ended <-chan error) error {
	hard, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	select {
	case err := <-ended:
		return err
	case <-hard.Done():
		return exit(130)
	}
}

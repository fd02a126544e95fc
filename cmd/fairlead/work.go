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
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/internal/submit"
	"github.com/fairlead/fairlead/internal/units"
)

// agentOptions holds the flags of an agent.
type agentOptions struct {
	name, mem, dir string
	gpus           []string
	finder         gpu.Finder // finds the GPUs if gpus is empty; nil: offers none
	cpus           int
	request        map[string]int
	labels         map[string]string
	drain          time.Duration
	allowRoot, any bool
	served         served
}

// served selects the users whose jobs an agent runs as root.
type served struct {
	minUID        int
	users, groups []string
}

// firstUser is the smallest uid that Debian and others give to people.
const firstUser = 1000

func (s *served) flags(f *pflag.FlagSet, who string) {
	f.IntVar(&s.minUID, "min-uid", firstUser,
		"as root: smallest uid whose jobs the "+who+" runs; smaller ones are system accounts")
	f.StringSliceVar(&s.users, "users", nil,
		"as root: run only the jobs of these users and of members of --groups (default: all users)")
	f.StringSliceVar(&s.groups, "groups", nil,
		"as root: run only the jobs of members of these groups and of the users in --users")
}

func workCommand(a *app) *cobra.Command {
	w := agentOptions{finder: gpu.Nvidia{}}
	var level, format, join string
	c := &cobra.Command{
		Use:   "work [flags]",
		Short: "Run an agent that offers this machine to a server",
		Long: `Run an agent: it offers this machine, or a part of it, to a server, and runs jobs as
processes. An agent that runs as root runs each job as the job's user, except the jobs of system
accounts (--min-uid); --users and --groups limit it to the jobs of some users. An agent that runs as
another user runs only that user's jobs. With --any-user the agent runs the jobs of all users as its
own user. Such jobs could act as that user at the server, so the server accepts the agent only if
nobody else can connect to the server's socket.

On another machine the agent connects to https://HOST:PORT. When it connects for the first time, it
presents a join token, which an administrator gets with fairlead nodes permit. The agent then makes
a key that never leaves the machine, and renews its certificate automatically.

Tasks that ask for GPUs find the numbers of their GPUs in CUDA_VISIBLE_DEVICES. If the agent is
started with this variable, it offers only those GPUs.

SIGTERM and Ctrl-C drain the agent: it takes no new tasks, waits for running ones for the time of
--drain, and returns the rest. A second signal ends it at once.`,
		Example: `  fairlead work --cpus 8 --mem 32G
  fairlead work --server ./lab.sock --name n1 --cpus 4
  fairlead work --gpus a100:4 --label rack=b --label room=2
  fairlead work --server https://head:7448 --name n17 --join @/etc/fairlead/join-token`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			log, err := a.logTo(level, format)
			if err == nil {
				err = checkDrain(w.drain)
			}
			if err != nil {
				return err
			}
			m := member{w.name, filepath.Join(cmp.Or(w.dir, defaultAgentDir(w.name)), "certificate"), join}
			return m.connected(c.Context(), a, log, func(client *api.Client) error {
				o, err := w.options(c.Context(), client, log)
				if err != nil {
					return err
				}
				return work(c.Context(), a, o)
			})
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&w.name, "name", hostname(), "name of the node")
	f.IntVar(&w.cpus, "cpus", runtime.NumCPU(), "processors to offer")
	f.StringVar(&w.mem, "mem", "", "memory to offer (default: all)")
	f.StringSliceVar(&w.gpus, "gpus", nil, "GPUs to offer: a number, or with types, e.g. a100:4,h100:2; 0 is none (default: the GPUs that nvidia-smi or /dev shows)")
	f.StringToIntVar(&w.request, "resource", nil, "further resources to offer, e.g. tape=2")
	f.StringToStringVar(&w.labels, "label", nil, "labels for constraints of jobs, e.g. rack=b; arch, os and host are set automatically")
	f.StringVar(&w.dir, "dir", "", "directory for output and scripts (default: "+defaultAgentDir("NAME")+")")
	f.DurationVar(&w.drain, "drain", 30*time.Second, "how long running tasks may continue at exit")
	f.StringVar(&join, "join", "",
		"join token, or @FILE with one, for a server on another machine; it is used once and ignored afterwards")
	f.BoolVar(&w.allowRoot, "allow-root", false, "also run root's jobs")
	f.BoolVar(&w.any, "any-user", false, "run the jobs of all users as the agent's own user; only where nobody else can connect to the server")
	w.served.flags(f, "agent")
	f.StringVar(&level, "log", "info", "debug, info, warn or error")
	f.StringVar(&format, "log-format", "text", "text or json")
	return c
}

func defaultAgentDir(name string) string { return stateDir("agent", name) }

// stateDir returns the directory for data that a part of the program must not lose.
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
		MinUID: w.served.minUID, Users: w.served.users, Groups: w.served.groups,
	}, nil
}

// allLabels returns the given labels, and labels from the properties of the machine.
func (w *agentOptions) allLabels() map[string]string {
	all := map[string]string{"arch": runtime.GOARCH, "os": runtime.GOOS}
	if host := hostname(); cluster.CheckLabel("host", host) == nil {
		all["host"] = host
	}
	maps.Copy(all, w.labels)
	return all
}

// devices returns the GPUs that an agent offers: the given ones, or those of the machine. If the agent
// cannot examine a GPU, it runs without offering that GPU.
func (w *agentOptions) devices(ctx context.Context, log *slog.Logger) ([]gpu.Device, error) {
	names := gpu.VisibleNames(os.LookupEnv(gpu.Visible))
	if len(w.gpus) > 0 {
		said := map[string]int64{}
		if err := submit.AddGPUs(said, w.gpus); err != nil {
			return nil, usageError{err}
		}
		all, err := gpu.Numbered(said, names)
		if err != nil {
			return nil, usagef("--gpus: %w", err)
		}
		return all, nil
	}
	if w.finder == nil {
		return nil, nil
	}
	all, err := w.finder.Find(ctx)
	if err == nil {
		all, err = gpu.Only(all, names)
	}
	if err != nil {
		log.Warn("no GPUs are offered; give their number with --gpus, or --gpus 0", "error", err)
		return nil, nil
	}
	if len(all) > 0 {
		log.Info("found GPUs", "devices", gpu.Names(all))
	}
	return all, nil
}

// totalMemory returns the memory of this machine, in bytes.
func totalMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}

// work runs an agent until ctx is done, and then until it has drained or a second signal comes.
func work(ctx context.Context, a *app, o agent.Options) error {
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
	fmt.Fprintf(a.errs, "draining for at most %v; press Ctrl-C again to end at once\n", o.Drain)
	return drained(ended)
}

// drained waits for the end of an agent, or for another signal.
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

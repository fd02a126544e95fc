package agent

import (
	"log/slog"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/gpu"
)

// Options describe an agent.
type Options struct {
	Client   *api.Client
	Name     string            // of the node
	Capacity map[string]int64  // what it offers
	GPUs     []gpu.Device      // the GPUs that Capacity counts, to be handed out
	Labels   map[string]string // what it is like
	Dir      string            // for the output of tasks, and scripts
	Version  string            // of the program
	Host     string            // name of the machine
	Logger   *slog.Logger      // default: discards
	Drain    time.Duration     // how long running tasks may go on when it is to stop; default 30s
	Env      map[string]string // added to the environment of every task

	// Whose jobs are run: an agent that runs as root runs each as its user, and those
	// of root only with AllowRoot. Another agent runs the jobs of its own user, and
	// those of others, as its own user, only with AnyUser.
	AllowRoot bool
	AnyUser   bool
	// MinUID is the smallest number of a user whose jobs an agent that runs as root runs, root apart: those below it
	// are accounts of the system. With Users or Groups it runs only the jobs of these users and of members of these
	// groups.
	MinUID        int
	Users, Groups []string
	// Joined is called when the server let the agent in, each time.
	Joined func()
}

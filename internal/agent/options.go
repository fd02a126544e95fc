package agent

import (
	"log/slog"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/gpu"
)

// Options describes an agent.
type Options struct {
	Client   *api.Client
	Name     string            // of the node
	Capacity map[string]int64  // the resources that it offers
	GPUs     []gpu.Device      // the GPUs that Capacity counts
	Labels   map[string]string // properties of the node
	Dir      string            // for scripts and the output of tasks
	Version  string            // of the program
	Host     string            // name of the machine
	Logger   *slog.Logger      // default: discards
	Drain    time.Duration     // how long running tasks may continue when the agent stops; default 30s
	Env      map[string]string // added to the environment of every task

	// AllowRoot and AnyUser say whose jobs the agent runs. An agent that runs as root runs each job as its
	// user, and the jobs of root only with AllowRoot. An agent that does not run as root runs only the jobs of its own
	// user. With AnyUser, an agent runs the jobs of all users as its own user.
	AllowRoot bool
	AnyUser   bool
	// MinUID is for an agent that runs as root. It refuses the jobs of users with smaller uids, because these are
	// accounts of the system; AllowRoot decides about root. If Users or Groups is set, the agent runs only the jobs of
	// these users and of the members of these groups.
	MinUID        int
	Users, Groups []string
	// Joined is called each time the server has let the agent in.
	Joined func()
}

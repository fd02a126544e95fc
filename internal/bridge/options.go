package bridge

import (
	"cmp"
	"log/slog"
	"maps"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
)

// Options describes a bridge.
type Options struct {
	Client  *api.Client // of the server
	QS      QS
	System  string // name of the QS in answers
	Name    string // of the node as which the bridge joins the server
	Dir     string // for the ledger and the output of jobs
	Labels  map[string]string
	Version string // of the program
	Host    string // name of the machine
	Logger  *slog.Logger
	// Away records times in which the QS does not answer. The adapter may share it. Default: one that writes
	// to the Logger.
	Away *wait.Outage

	// Groups decides where jobs go in the QS, which gets all jobs at once. Nil: the bridge submits a job only
	// when a slot is free, in the order of the server, and gives all jobs the priority Level.
	Groups *Groups
	Level  int64
	// Slots is how many of the server's units the tasks in the QS may have at a time. Default: practically
	// unlimited with Groups, 1 without.
	Slots int64
	// Resources limits further resources of the tasks in the QS. CPUs, memory and GPUs are unlimited unless
	// Resources names them.
	Resources map[string]int64

	// Poll is the shortest interval at which the bridge asks the QS about its entries. Default: 1s.
	Poll time.Duration
	// Lease is how long the server leaves the tasks with the bridge when the bridge is silent. Default: a
	// day.
	Lease time.Duration
	// Batch is how many tasks one call submits. Default: 200.
	Batch int
	// Patience is how long one call of the QS may take. Default: 1m.
	Patience time.Duration
	// Drain is how long the bridge stays after a request to end, so that entries in the QS can end first.
	// Default: it does not wait.
	Drain time.Duration
	// TakeOver lets the bridge join under a name whose tasks are in another ledger that is lost. The bridge
	// submits the tasks of that ledger again.
	TakeOver bool
	// Joined is called each time the server has let the bridge in.
	Joined func()
}

// Amounts of a resource that the bridge does not count, because the QS knows its own limits. Package cluster
// knows these amounts.
const (
	unlimited      = 1_000_000
	unlimitedBytes = 1 << 50
)

// fill fills in the defaults.
func (o *Options) fill() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Away == nil {
		o.Away = wait.NewOutage(o.Logger, "the queueing system does not answer", "the queueing system answers again")
	}
	if o.Slots == 0 {
		o.Slots = 1
		if o.Groups != nil {
			o.Slots = unlimited
		}
	}
	o.Poll = cmp.Or(o.Poll, time.Second)
	o.Lease = cmp.Or(o.Lease, 24*time.Hour)
	o.Batch = cmp.Or(o.Batch, 200)
	o.Patience = cmp.Or(o.Patience, time.Minute)
}

// capacity returns the resources that the bridge offers.
func (o *Options) capacity(unit string) map[string]int64 {
	all := map[string]int64{"cpu": unlimited, "mem": unlimitedBytes, "gpu": unlimited}
	maps.Copy(all, o.Resources)
	all[unit] = o.Slots
	return all
}

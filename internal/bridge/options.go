package bridge

import (
	"cmp"
	"log/slog"
	"maps"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
)

// Options describe a bridge.
type Options struct {
	Client  *api.Client // of the server
	QS      QS
	System  string // what the QS is called in answers
	Name    string // of the node as which the bridge joins the server
	Dir     string // for the ledger and the output of jobs
	Labels  map[string]string
	Version string // of the program
	Host    string // name of the machine
	Logger  *slog.Logger
	// Away is told when the QS does not answer. The adapter may share it. Default: one that
	// writes to the Logger.
	Away *wait.Outage

	// Groups decide where jobs go in the QS, which gets all of them at once. Nil: jobs are
	// kept back until there is a free slot, all at one Level, in the order of the server.
	Groups *Groups
	Level  int64
	// Slots is how much the QS may have at a time, in the unit of the server. Default: with
	// Groups as good as everything, without them 1.
	Slots int64
	// Resources are further amounts that the QS may have at a time. Of processors, memory and
	// GPUs there are enough unless they are named.
	Resources map[string]int64

	// Poll is how often the QS is asked what became of its entries, at most. Default: 1s.
	Poll time.Duration
	// Lease is for how long the server leaves the tasks with the bridge when it hears nothing
	// of it. Default: a day.
	Lease time.Duration
	// Batch is how many tasks are submitted by one call. Default: 200.
	Batch int
	// Patience is how long one call of the QS may take. Default: 1m.
	Patience time.Duration
	// Drain is for how long the bridge stays when it is told to end, so that entries in the QS
	// end first. Default: it does not wait.
	Drain time.Duration
	// TakeOver joins under a name whose tasks were written down in another ledger, which is
	// lost: what it had is submitted once more.
	TakeOver bool
	// Joined is called when the server let the bridge in, each time.
	Joined func()
}

// unlimited is how much there is of a resource that nobody counts: the QS knows its own limits. Package
// cluster knows these amounts.
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

// capacity is what the bridge offers.
func (o *Options) capacity(unit string) map[string]int64 {
	all := map[string]int64{"cpu": unlimited, "mem": unlimitedBytes, "gpu": unlimited}
	maps.Copy(all, o.Resources)
	all[unit] = o.Slots
	return all
}

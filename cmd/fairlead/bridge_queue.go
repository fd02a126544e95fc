package main

import (
	"context"
	"log/slog"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/bridge"
	other "github.com/fairlead/fairlead/internal/bridge/queue"
	"github.com/fairlead/fairlead/internal/socket"
	"github.com/fairlead/fairlead/internal/wait"
)

// queueBridge is the bridge to another queue of fairlead.
var queueBridge = bridgeKind{
	name: "queue", system: "the other queue",
	long: `Put fair share in front of another fairlead server. The bridge submits jobs to that server,
into one pool. Give that pool the policy fifo, so that priorities decide the order.
Jobs that the bridge sends to the back get the lowest priority. The bridge's user has to be an
administrator there to submit jobs of other users.`,
	example: `  fairlead bridge queue --to /run/other/fairlead.sock --pool bridged --group physics=50,biology=30 --check
  fairlead bridge queue --to /run/other/fairlead.sock --pool bridged --config bridge.yaml
  fairlead bridge queue --to /run/other/fairlead.sock --pool bridged --feed just-in-time --slots 64`,
	options: []config.BridgeOption{
		{Name: "to", Doc: "Path of the other server's socket.", Must: true},
		{Name: "to-user", Doc: "User of the other server, if that is neither root nor the bridge's own user."},
		{Name: "pool", Default: "bridged", Doc: "Pool of the other server for the jobs."},
		{Name: "constraint", Doc: "Constraint on the nodes of the other server, for all jobs."},
	},
	open: func(_ context.Context, get func(string) string, _ *slog.Logger, _ *wait.Outage) (bridge.QS, error) {
		o := other.Options{Address: get("to"), Pool: get("pool"), Constraint: get("constraint")}
		if name := get("to-user"); name != "" {
			uid, err := socket.UserID(name)
			if err != nil {
				return nil, usagef("to-user: %w", err)
			}
			o.Trusted = []int{uid}
		}
		q, err := other.Open(o)
		if err != nil {
			return nil, usageError{err}
		}
		return q, nil
	},
}

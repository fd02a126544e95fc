package main

import (
	"context"
	"log/slog"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/bridge"
	other "github.com/fairlead/fairlead/internal/bridge/queue"
)

// queueBridge is a bridge to another queue of fairlead.
var queueBridge = bridgeKind{
	name: "queue", system: "the other queue",
	long: `Put fair share in front of another queue of fairlead. Jobs are submitted to its server,
into one pool, which should have the policy fifo: then its priorities are the levels, of which
the back has the lowest. The bridge's user has to be an administrator there if it is to
submit the jobs of others.`,
	example: `  fairlead bridge queue --to /run/other/fairlead.sock --pool bridged --group physics=50,biology=30 --check
  fairlead bridge queue --to http://127.0.0.1:7448 --pool bridged --config bridge.yaml
  fairlead bridge queue --to http://127.0.0.1:7448 --pool bridged --feed just-in-time --slots 64`,
	options: []config.BridgeOption{
		{Name: "to", Doc: "Address of the other server: http://HOST:PORT or the path of its socket.", Must: true},
		{Name: "pool", Default: "bridged", Doc: "Pool there, into which jobs are submitted."},
		{Name: "constraint", Doc: "Constraint on the nodes there, for all jobs."},
	},
	open: func(_ context.Context, get func(string) string, _ *slog.Logger, _ *bridge.Outage) (bridge.QS, error) {
		q, err := other.Open(other.Options{Address: get("to"), Pool: get("pool"), Constraint: get("constraint")})
		if err != nil {
			return nil, usageError{err}
		}
		return q, nil
	},
}

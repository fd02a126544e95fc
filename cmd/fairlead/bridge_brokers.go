package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/beanstalkd"
	"github.com/fairlead/fairlead/internal/bridge/rabbitmq"
	"github.com/fairlead/fairlead/internal/wait"
)

// amqpVariable names the variable that holds the address of RabbitMQ with its password: other users can read
// the flags of a process, but not its environment.
const amqpVariable = "FAIRLEAD_AMQP_URL"

const (
	beanstalkdAddress = "127.0.0.1:11300"
	amqpAddress       = "amqp://guest:guest@127.0.0.1:5672/"
	brokerQueue       = "fairlead" // default name of the tube or queue
)

// beanstalkdBridge is the bridge to beanstalkd.
var beanstalkdBridge = bridgeKind{
	name: "beanstalkd", system: "beanstalkd",
	long: `Put fair share in front of beanstalkd (1.12 or newer). Jobs go into one tube, which serves
small priorities first. fairlead bridge worker takes them out and runs them; your own program
can do that, too: docs/how-to/put-it-in-front-of-beanstalkd.md describes the messages.
Start beanstalkd with -b DIR -f0. Otherwise beanstalkd loses its jobs when it restarts, and
the bridge submits them again.`,
	example: `  fairlead bridge beanstalkd --group physics=50,biology=30 --above daq
  fairlead bridge beanstalkd --to queue.example.org:11300 --tube batch --config bridge.yaml
  fairlead bridge beanstalkd --feed just-in-time --slots 64`,
	options: []config.BridgeOption{
		{Name: "to", Default: beanstalkdAddress, Doc: "Address of beanstalkd, HOST:PORT."},
		{Name: "tube", Default: brokerQueue, Doc: "Tube for the jobs; the bridge's other tubes are named after it."},
		{Name: "ttr", Default: "1m", Doc: "Time after which the job of a silent worker goes to another one."},
	},
	levels: func(n int) (levels []int64) {
		for i := range n {
			levels = append(levels, int64(n-i)*100)
		}
		return levels
	},
	open: func(_ context.Context, get func(string) string, log *slog.Logger, away *wait.Outage) (bridge.QS, error) {
		ttr, err := time.ParseDuration(get("ttr"))
		if err != nil {
			return nil, usagef("--ttr: %q is not a duration such as 30s or 5m", get("ttr"))
		}
		err = cmp.Or(flagged("to", beanstalkd.CheckAddress(get("to"))), flagged("tube", beanstalkd.CheckTube(get("tube"))), flagged("ttr", beanstalkd.CheckTTR(ttr)))
		if err != nil {
			return nil, err
		}
		return beanstalkd.Open(beanstalkd.Options{Address: get("to"), Tube: get("tube"), TTR: ttr, Logger: log, Away: away}), nil
	},
}

// rabbitBridge is the bridge to RabbitMQ.
var rabbitBridge = bridgeKind{
	name: "rabbitmq", system: "RabbitMQ",
	long: `Put fair share in front of RabbitMQ. Jobs go into one durable priority queue, which serves
large priorities first. fairlead bridge worker takes them out and runs them; your own program
can do that, too: docs/how-to/put-it-in-front-of-rabbitmq.md describes the messages.
The address can be in ` + amqpVariable + `, where other users cannot read its password.`,
	example: `  fairlead bridge rabbitmq --group physics=50,biology=30 --above daq
  ` + amqpVariable + `=amqp://bridge:secret@queue.example.org:5672/ fairlead bridge rabbitmq --queue batch --config bridge.yaml
  fairlead bridge rabbitmq --feed just-in-time --slots 64`,
	options: []config.BridgeOption{
		{Name: "to", Doc: "Address of RabbitMQ, amqp://USER:PASSWORD@HOST:PORT/VHOST; without it the address in " + amqpVariable + " or else " + amqpAddress + "."},
		{Name: "queue", Default: brokerQueue, Doc: "Queue for the jobs; the bridge's other queues are named after it."},
		{Name: "priorities", Default: "10", Doc: "Largest priority of the queue, at most 255; RabbitMQ recommends few priorities."},
	},
	open: func(_ context.Context, get func(string) string, log *slog.Logger, away *wait.Outage) (bridge.QS, error) {
		n, err := strconv.Atoi(get("priorities"))
		if err != nil || n < 1 || n > 255 {
			return nil, usagef("--priorities: %q is not a number from 1 to 255", get("priorities"))
		}
		if err := cmp.Or(flagged("to", rabbitmq.CheckURL(amqpURL(get("to")))), flagged("queue", rabbitmq.CheckQueue(get("queue")))); err != nil {
			return nil, err
		}
		return rabbitmq.Open(rabbitmq.Options{URL: amqpURL(get("to")), Queue: get("queue"), Priorities: n, Logger: log, Away: away}), nil
	},
}

// flagged adds the name of a flag to the error of its value. Nil stays nil.
func flagged(name string, err error) error {
	if err == nil {
		return nil
	}
	return usageError{fmt.Errorf("--%s: %w", name, err)}
}

func amqpURL(given string) string { return cmp.Or(given, os.Getenv(amqpVariable), amqpAddress) }

// brokers names the kinds whose jobs fairlead bridge worker runs.
func brokers() string { return fmt.Sprintf("%s or %s", beanstalkdBridge.name, rabbitBridge.name) }

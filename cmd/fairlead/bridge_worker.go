package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/bridge/beanstalkd"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/internal/bridge/rabbitmq"
)

// brokerWorker are the flags of a worker of a message queue.
type brokerWorker struct {
	*app
	to, queue, name, dir string
	slots                int
	drain                time.Duration
	allowRoot, any       bool
	logLevel, logFormat  string
}

func (a *app) bridgeWorkerCommand() *cobra.Command {
	w := &brokerWorker{app: a}
	c := &cobra.Command{
		Use: "worker KIND [flags]", Short: "Run jobs that a bridge has put into beanstalkd or RabbitMQ",
		Long: `Run jobs that a bridge has put into beanstalkd or RabbitMQ: it takes one job for each slot out
of the queue, runs it as an agent would, with its user, script, environment and time limit,
tells the bridge that it has started and how it ended, and then deletes it from the queue.
When a job is cancelled it ends it. It needs no way to fairlead's server.

Whoever can write to the queue can have it run commands: as root, as any user. Without
root it runs the jobs of its own user.

SIGTERM and Ctrl-C drain it: it takes nothing new, lets running jobs end for the time of
--drain, and gives the rest back to the queue. A second one ends it at once.`,
		Example: "  fairlead bridge worker beanstalkd --slots 8\n  fairlead bridge worker beanstalkd --to queue.example.org:11300 --queue batch --name n7\n  " +
			amqpVariable + "=amqp://worker:secret@queue.example.org:5672/ fairlead bridge worker rabbitmq --queue batch",
		Args: cobra.ExactArgs(1), ValidArgs: []string{beanstalkdBridge.name, rabbitBridge.name},
		RunE: func(c *cobra.Command, args []string) error { return w.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&w.to, "to", "", "address, as of the bridge (default: "+beanstalkdAddress+" or that of "+amqpVariable+")")
	f.StringVar(&w.queue, "queue", brokerQueue, "name of the queue or tube, as of the bridge")
	f.IntVar(&w.slots, "slots", runtime.NumCPU(), "jobs at a time")
	f.StringVar(&w.name, "name", hostname(), "name of the worker, as the bridge tells it")
	f.StringVar(&w.dir, "dir", "", "directory for output and scripts (default: "+stateDir("bridge-worker", "NAME")+")")
	f.DurationVar(&w.drain, "drain", 30*time.Second, "how long running jobs may go on at the end")
	f.BoolVar(&w.allowRoot, "allow-root", false, "run root's jobs as well")
	f.BoolVar(&w.any, "any-user", false, "run everybody's jobs as the worker's own user")
	f.StringVar(&w.logLevel, "log", "info", "debug, info, warn or error")
	f.StringVar(&w.logFormat, "log-format", "text", "text or json")
	completeWords(c, "log", "debug", "info", "warn", "error")
	completeWords(c, "log-format", "text", "json")
	return c
}

func (w *brokerWorker) run(ctx context.Context, kind string) error {
	log, err := w.logTo(w.logLevel, w.logFormat)
	if err != nil {
		return err
	}
	if w.slots < 1 {
		return usagef("--slots must be at least 1")
	}
	if err := errors.Join(checkNode(w.name, "worker"), checkDrain(w.drain)); err != nil {
		return err
	}
	var work func(context.Context, *mq.Worker)
	var wrong error
	switch kind {
	case beanstalkdBridge.name:
		at := cmp.Or(w.to, beanstalkdAddress)
		wrong = cmp.Or(flagged("to", beanstalkd.CheckAddress(at)), flagged("queue", beanstalkd.CheckTube(w.queue)))
		work = func(ctx context.Context, m *mq.Worker) {
			beanstalkd.Work(ctx, beanstalkd.WorkerOptions{Options: beanstalkd.Options{Address: at, Tube: w.queue, Logger: log}, Slots: w.slots, Worker: m, Drain: w.drain})
		}
	case rabbitBridge.name:
		wrong = cmp.Or(flagged("to", rabbitmq.CheckURL(amqpURL(w.to))), flagged("queue", rabbitmq.CheckQueue(w.queue)))
		work = func(ctx context.Context, m *mq.Worker) {
			rabbitmq.Work(ctx, rabbitmq.WorkerOptions{Options: rabbitmq.Options{URL: amqpURL(w.to), Queue: w.queue, Logger: log}, Slots: w.slots, Worker: m, Drain: w.drain})
		}
	default:
		return usagef("%q is not %s", kind, brokers())
	}
	if wrong != nil {
		return wrong
	}
	m, err := agent.OpenMachine(agent.Options{
		Name: w.name, Dir: cmp.Or(w.dir, stateDir("bridge-worker", w.name)), Logger: log, AllowRoot: w.allowRoot, AnyUser: w.any,
	})
	if err != nil {
		return err
	}
	defer m.Close()
	return w.until(ctx, func(ctx context.Context) {
		go m.Clean(ctx)
		fmt.Fprintf(w.out, "worker %s takes %d jobs at a time from %s, queue %s\n", w.name, w.slots, kind, w.queue)
		work(ctx, &mq.Worker{Name: w.name, Machine: m})
	})
}

// until works until the end, or a second signal.
func (w *brokerWorker) until(ctx context.Context, work func(context.Context)) error {
	ended := make(chan error, 1)
	go func() {
		work(ctx)
		ended <- nil
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	fmt.Fprintf(w.errs, "waiting for at most %v for what runs; again Ctrl-C ends at once\n", w.drain)
	return drained(ended)
}

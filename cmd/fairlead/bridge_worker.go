package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/bridge/beanstalkd"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/internal/bridge/rabbitmq"
	"github.com/fairlead/fairlead/internal/socket"
)

// brokerWorker holds the flags of a worker of a message queue.
type brokerWorker struct {
	*app
	to, queue, name, dir string
	slots                int
	drain                time.Duration
	allowRoot, any       bool
	served               served
	logLevel, logFormat  string
}

func bridgeWorkerCommand(a *app) *cobra.Command {
	w := &brokerWorker{app: a}
	c := &cobra.Command{
		Use: "worker KIND [flags]", Short: "Run jobs that a bridge has put into beanstalkd or RabbitMQ",
		Long: `Run jobs that a bridge has put into beanstalkd or RabbitMQ. The worker takes one job for each
slot from the queue, and runs it as an agent would: with the job's user, script, environment and
time limit. It reports the start and the end to the bridge, and then deletes the job from the queue.
It ends jobs that are canceled. It needs no connection to fairlead's server.

Anyone who can write to the queue can run commands through the worker. A worker that runs as root
runs each job as the job's user. Any other worker runs only the jobs of its own user or, with
--any-user, the jobs of all users as its own user.

SIGTERM and Ctrl-C drain the worker: it takes no new jobs, waits for running ones for the time of
--drain, and returns the rest to the queue. A second signal ends it at once.`,
		Example: "  fairlead bridge worker beanstalkd --slots 8\n  fairlead bridge worker beanstalkd --to queue.example.org:11300 --queue batch --name n7\n  " +
			amqpVariable + "=amqp://worker:secret@queue.example.org:5672/ fairlead bridge worker rabbitmq --queue batch",
		Args: cobra.ExactArgs(1), ValidArgs: []string{beanstalkdBridge.name, rabbitBridge.name},
		RunE: func(c *cobra.Command, args []string) error { return w.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&w.to, "to", "", "address, as given to the bridge (default: "+beanstalkdAddress+" or that of "+amqpVariable+")")
	f.StringVar(&w.queue, "queue", brokerQueue, "name of the queue or tube, as given to the bridge")
	f.IntVar(&w.slots, "slots", runtime.NumCPU(), "number of jobs to run at a time")
	f.StringVar(&w.name, "name", hostname(), "name of the worker, as the bridge reports it")
	f.StringVar(&w.dir, "dir", "", "directory for output and scripts (default: "+stateDir("bridge-worker", "NAME")+")")
	f.DurationVar(&w.drain, "drain", 30*time.Second, "how long running jobs may continue at exit")
	f.BoolVar(&w.allowRoot, "allow-root", false, "also run root's jobs")
	f.BoolVar(&w.any, "any-user", false, "run the jobs of all users as the worker's own user")
	w.served.flags(f, "worker")
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
	if err := w.checkAnyUser(os.Getuid()); err != nil {
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
		MinUID: w.served.minUID, Users: w.served.users, Groups: w.served.groups,
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

// checkAnyUser refuses --any-user to a worker that runs as root without --allow-root. It also refuses it to a
// worker that runs as the user of this machine's server if others can connect to that server, because that
// user may do everything there.
func (w *brokerWorker) checkAnyUser(uid int) error {
	if !w.any {
		return nil
	}
	if uid == 0 && !w.allowRoot {
		return usagef(
			"with --any-user a worker that runs as root would run the jobs of all users as root: leave out --any-user, so " +
				"that each job runs as its user, or add --allow-root")
	}
	where, err := w.which()
	if err != nil {
		return nil // there is no server
	}
	info, err := os.Stat(where.Server)
	if err != nil {
		return nil
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 && int(stat.Uid) == uid && !socket.Closed(where.Server) {
		return usagef("with --any-user all jobs would run as the user of the server at %s, who may do everything there: start the worker as another user, or as root without --any-user, so that each job runs as its user", where.Server)
	}
	return nil
}

// until runs work until it returns. After ctx is done, a second signal ends the wait.
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
	fmt.Fprintf(w.errs, "waiting for at most %v for running tasks; press Ctrl-C again to end at once\n", w.drain)
	return drained(ended)
}

package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// WorkerOptions describes a worker: the queue that it serves, and how it runs tasks.
type WorkerOptions struct {
	Options
	Slots  int // tasks at a time
	Worker *mq.Worker
	// Drain is how long tasks may continue when the worker ends.
	Drain time.Duration

	reportedLongest bool // it has logged how long jobs may run
}

// Work takes tasks and runs them, until ctx ends.
func Work(ctx context.Context, o WorkerOptions) {
	o.defaults()
	try := bridge.NewRetry(o.Away, time.Second/2, 5*time.Second)
	for ctx.Err() == nil {
		if err := o.serve(ctx, try); err != nil {
			try.Again(ctx, err)
		}
	}
}

// crew is the state that the slots of a worker share, with its connection.
type crew struct {
	*WorkerOptions
	*amqp.Connection
	notices string // the queue of its cancellations
	mu      sync.Mutex
	stops   map[string]context.CancelCauseFunc // by marker
}

// serve takes tasks over one connection, until it breaks or ctx ends.
func (o *WorkerOptions) serve(ctx context.Context, try *bridge.Retry) error {
	c, err := dial(ctx, o.URL, "fairlead worker "+o.Worker.Name)
	if err != nil {
		return err
	}
	defer c.Close()
	try.Answered()
	if open, err := o.awaitGate(ctx, c); err != nil || !open {
		return explain(&o.Options, err)
	}
	if !o.reportedLongest {
		o.Logger.Info(longest(c))
		o.reportedLongest = true
	}
	w := &crew{WorkerOptions: o, Connection: c, stops: map[string]context.CancelCauseFunc{}}
	if err := w.listen(); err != nil {
		return explain(&o.Options, err)
	}
	var wg sync.WaitGroup
	errs := make([]error, o.Slots)
	for i := range errs {
		wg.Go(func() {
			for ctx.Err() == nil && !w.IsClosed() {
				if errs[i] = w.slot(ctx); errs[i] != nil && !w.IsClosed() {
					o.Logger.Warn("a slot begins again", "slot", i, "error", explain(&o.Options, errs[i]))
					wait.For(ctx, time.Second)
				}
			}
		})
	}
	wg.Wait()
	if !w.IsClosed() || ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("the connection to RabbitMQ at %s was lost", place(o.URL))
}

// awaitGate waits until workers may take work, and returns false if ctx ends before.
func (o *WorkerOptions) awaitGate(ctx context.Context, c *amqp.Connection) (bool, error) {
	for told := false; ; told = true {
		open, err := isOpen(c, &o.Options)
		if err != nil || open {
			return open, err
		}
		if !told {
			o.Logger.Info("waiting for the bridge, which has not used the queue since RabbitMQ was started; is fairlead "+
				"bridge rabbitmq running, with this --queue?", "queue", o.Queue, "at", place(o.URL))
		}
		if !wait.For(ctx, 200*time.Millisecond) {
			return false, nil
		}
	}
}

// listen receives cancellations, until the connection ends.
func (w *crew) listen() error {
	ch, err := w.Channel()
	if err != nil {
		return err
	}
	q, err := ch.QueueDeclare("", false, true, true, false, nil)
	if err != nil {
		return err
	}
	notices, err := ch.Consume(q.Name, "", true, true, false, false, nil)
	if err != nil {
		return err
	}
	w.notices = q.Name
	go func() {
		for n := range notices {
			w.mu.Lock()
			if stop := w.stops[n.RoutingKey]; stop != nil {
				stop(mq.ErrCancelled)
			}
			w.mu.Unlock()
		}
		w.Close()
	}()
	return nil
}

// slot runs one task after the other.
func (w *crew) slot(ctx context.Context) error {
	ch, err := w.Channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	if err := errors.Join(ch.Qos(1, 0, false), ch.Tx()); err != nil {
		return err
	}
	have, lose := context.WithCancelCause(context.WithoutCancel(ctx))
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	go func() {
		lose(lostBy(<-closed))
	}()
	deliveries, err := ch.Consume(w.Queue, "", false, false, false, false, nil)
	if err != nil {
		return fmt.Errorf("take tasks: %w", err)
	}
	for {
		select {
		case <-ctx.Done():
			return nil // messages that came meanwhile go back to their places
		case d, ok := <-deliveries:
			if !ok {
				return errors.New("the connection to RabbitMQ was lost")
			}
			if ctx.Err() != nil {
				return nil
			}
			if err := w.perform(ctx, have, ch, d); err != nil {
				return err
			}
		}
	}
}

// perform runs a task, reports its end, and acknowledges it. Report and acknowledgement are one transaction, so that a
// failure leaves both or none. When the context "have" ends, perform stops the task.
func (w *crew) perform(ctx, have context.Context, ch *amqp.Channel, d amqp.Delivery) error {
	task, err := mq.ReadTask(d.Body)
	if err != nil {
		w.Logger.Warn("rejected a message that no bridge has put here", "message", d.MessageId, "error", err)
		return errors.Join(d.Reject(false), ch.TxCommit())
	}
	r, known := w.Worker.End(task.Marker)
	if !known {
		if r, err = w.run(ctx, have, ch, task); err != nil {
			w.outlasted(r, err)
			w.Logger.Warn("left a task to other workers", "marker", task.Marker, "error", err)
			return errors.Join(err, d.Nack(false, true), ch.TxCommit())
		}
		w.Worker.Ended(r)
	}
	if err := w.report(ch, r); err != nil {
		return err
	}
	if err := errors.Join(d.Ack(false), ch.TxCommit()); err != nil {
		return fmt.Errorf("report the end of task %s: %w", task.Marker, err)
	}
	return nil
}

// report publishes a report, as a part of a transaction.
func (w *crew) report(ch *amqp.Channel, r mq.Report) error {
	if err := ch.Publish("", w.name("reports"), false, false, publishing(r)); err != nil {
		return fmt.Errorf("report task %s: %w", r.Marker, err)
	}
	return nil
}

// run runs a task to its end.
func (w *crew) run(ctx, have context.Context, ch *amqp.Channel, task *mq.Task) (mq.Report, error) {
	running, stop := context.WithCancelCause(have)
	defer stop(nil)
	late := context.AfterFunc(ctx, func() {
		if wait.For(running, w.Drain) {
			stop(mq.ErrLeaving)
		}
	})
	defer late()
	w.mu.Lock()
	w.stops[task.Marker] = stop
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.stops, task.Marker)
		w.mu.Unlock()
	}()
	// Bind the task to the cancellations before the bridge hears that it has started.
	if err := ch.QueueBind(w.notices, task.Marker, w.name("cancel"), false, nil); err != nil {
		return mq.Report{}, err
	}
	started := w.Worker.Start(task, "")
	if err := errors.Join(w.report(ch, started), ch.TxCommit()); err != nil {
		return started, err
	}
	r, err := w.Worker.Run(running, task, started)
	if err != nil {
		return r, err
	}
	return r, ch.QueueUnbind(w.notices, task.Marker, w.name("cancel"), nil)
}

// outlasted records that a task was lost because it ran for too long. If the worker gets the task again, it
// reports the task as failed and does not run it. Otherwise the task would run for the same time again, and
// be lost again, forever.
func (w *crew) outlasted(r mq.Report, err error) {
	var late *timeoutError
	if !errors.As(err, &late) {
		return
	}
	r.State, r.ExitCode, r.Error = string(queue.Failed), -1, late.Error()
	w.Worker.Ended(r)
}

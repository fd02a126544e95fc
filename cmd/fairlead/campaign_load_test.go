//go:build campaign

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// begin starts the users, and a watcher of the queue's length. They use all servers, given as sockets.
func (l *load) begin(seed uint64, sockets []string, names ...string) {
	t := l.record.t
	for i, name := range names {
		u := &submitter{load: l, name: name, rng: rand.New(rand.NewPCG(seed, uint64(i)+1))}
		for _, s := range sockets {
			c := dial(t, s)
			c.As = name
			u.clients = append(u.clients, c)
		}
		l.users.Go(u.run)
	}
	var watchers []*api.Client
	for _, s := range sockets {
		watchers = append(watchers, dial(t, s))
	}
	l.users.Go(func() {
		for n := 0; !l.stopped(); n++ {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			if list, err := watchers[n%len(watchers)].Jobs.List(ctx, url.Values{"limit": {"1"}}); err == nil {
				l.backlog.Store(list.Summary.Waiting + list.Summary.Running)
			}
			cancel()
			time.Sleep(50 * time.Millisecond)
		}
	})
}

// end tells the users to stop, and waits until they have.
func (l *load) end() {
	close(l.stop)
	l.users.Wait()
}

func (l *load) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// submitter submits jobs, one request after the other, and repeats each until the server has acknowledged it.
type submitter struct {
	*load
	name    string
	clients []*api.Client // one per server; any of them will do
	rng     *rand.Rand
	n       int
	done    []*order // acknowledged orders
	cancel  []int64  // jobs to cancel
}

// client returns the client of a random server.
func (u *submitter) client() *api.Client { return u.clients[u.rng.IntN(len(u.clients))] }

func (u *submitter) run() {
	for !u.stopped() {
		switch {
		case len(u.cancel) > 0 && u.rng.IntN(3) == 0:
			u.cancelOne()
		case len(u.done) > 0 && u.rng.IntN(15) == 0: // repeat an order, as if the answer had been lost
			u.submit(u.done[u.rng.IntN(len(u.done))])
		case u.backlog.Load() > mostBacklog:
			time.Sleep(10 * time.Millisecond)
		default:
			orders := []*order{u.order()}
			for u.rng.IntN(4) == 0 { // several jobs in one request
				orders = append(orders, u.order())
			}
			u.submit(orders...)
			time.Sleep(time.Duration(u.rng.IntN(15)) * time.Millisecond)
		}
	}
	for len(u.cancel) > 0 {
		u.cancelOne()
	}
}

// patient repeats f until it succeeds.
func (u *submitter) patient(what string, f func(context.Context) error) {
	for end := time.Now().Add(mostWait); ; time.Sleep(time.Duration(5+u.rng.IntN(15)) * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		err := f(ctx)
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			u.record.t.Errorf("%s could not %s: %v", u.name, what, err)
			return
		}
	}
}

func (u *submitter) submit(orders ...*order) {
	var req api.SubmitRequest
	for _, o := range orders {
		u.record.send(o)
		req.Jobs = append(req.Jobs, o.spec)
	}
	var resp *api.SubmitResponse
	u.patient("submit", func(ctx context.Context) (err error) {
		resp, err = u.client().Jobs.Submit(ctx, req)
		return err
	})
	if resp == nil {
		return
	}
	for i, s := range resp.Jobs {
		o := orders[i]
		if s.Error != nil {
			u.record.t.Errorf("%s: job %s was refused: %s", u.name, o.spec.Key, s.Error.Detail)
			continue
		}
		u.record.acknowledged(o.spec.Key, s.ID)
		u.done = append(u.done, o)
		if o.cancel {
			u.cancel = append(u.cancel, s.ID)
			o.cancel = false
		}
	}
}

// cancelOne cancels a job. Such jobs do not end by themselves: if the job has ended already, the answer to an earlier
// cancellation was lost.
func (u *submitter) cancelOne() {
	id := u.cancel[0]
	u.cancel = u.cancel[1:]
	u.patient(fmt.Sprint("cancel job ", id), func(ctx context.Context) error {
		resp, err := u.client().Jobs.Alter(ctx, api.AlterRequest{Verb: "cancel", Jobs: []int64{id}})
		if err != nil {
			return err
		}
		if e := resp.Results[0]; e != nil && e.Code != "state" {
			u.record.t.Errorf("%s: cancel job %d: %s", u.name, id, e.Detail)
		}
		return nil
	})
}

func (u *submitter) idOf(o *order) int64 {
	u.record.mu.Lock()
	defer u.record.mu.Unlock()
	return u.record.ids[o.spec.Key]
}

// order makes up a job.
func (u *submitter) order() *order {
	u.n++
	o := &order{want: queue.Succeeded, noted: true}
	begin, end := u.ledger.note("b"), u.ledger.note("e")
	script := begin + "; " + end
	switch kind := u.rng.IntN(20); kind {
	case 0, 1:
		script, o.noted = "exit 0", false
	case 2, 3, 4:
		script = fmt.Sprintf("%s; sleep 0.%02d; %s", begin, u.rng.IntN(50), end)
	case 5, 6:
		o.spec.Array = fmt.Sprintf("0-%d%%%d", 1+u.rng.IntN(6), 1+u.rng.IntN(3))
	case 7:
		o.spec.Array, script = "3-15:4", fmt.Sprintf("%s; sleep 0.05; %s", begin, end)
	case 8, 9: // fails once
		o.spec.Retries, o.spec.BackoffSeconds = 2, 0.05
		script = fmt.Sprintf("%s; test $FAIRLEAD_ATTEMPT -ge 2 && %s", begin, end)
	case 10:
		o.want, script = queue.Failed, begin+"; exit 3"
	case 11:
		o.want, script = queue.Failed, begin+"; exit 4"
		o.spec.Retries, o.spec.BackoffSeconds, o.spec.Array = 1, 0.02, "0-1"
	case 12, 13:
		o.want, o.cancel, script = queue.Cancelled, true, begin+"; sleep 600"
		if kind == 13 {
			o.spec.Array = "0-5%2"
		}
	case 14, 15:
		if len(u.done) > 0 {
			o.spec.After = []api.After{{Job: u.idOf(u.done[len(u.done)-1]), On: "any"}}
		}
	}
	if u.gangs && u.n%25 == 0 {
		o.want, o.noted, o.cancel = queue.Succeeded, true, false
		o.spec = api.Spec{Gang: 2 + u.rng.IntN(2)}
		script = begin + "; sleep 0.1; " + end
	}
	o.spec.Key = fmt.Sprintf("%s-%d", u.name, u.n)
	o.spec.Name, o.spec.Argv = o.spec.Key, []string{"sh", "-c", script}
	return o
}

package bridgetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/wait"
)

// Fake is a queueing system in memory that a test can make fail. It serves the largest priority first, and
// equal priorities in the order of submission. It outlives its adapters.
type Fake struct {
	// Slots is how many entries run at a time.
	Slots int
	// Run runs an entry until the entry ends, or until ctx ends because it is canceled.
	Run func(ctx context.Context, s bridge.Submission) Ran
	// Fault, if set, is called before each call of an adapter with the name of its method, and after it with
	// a + appended. If it returns an error, the call returns this error instead of its answer.
	Fault func(call string) error
	// Ages is the answer about aging in Describe; Unknown stands for No.
	Ages frontback.Answer

	mu      sync.Mutex
	last    int
	entries map[string]*fakeEntry // by ID
	running int
	changed []chan struct{}
	order   []string // markers, in the order of their starts
}

// Ran is how an entry ended.
type Ran struct {
	ExitCode int
	Output   string
	Used     *frontback.Use
}

type fakeEntry struct {
	bridge.Submission
	bridge.Status
	number int
	cancel context.CancelFunc
}

// ErrAway is an error for Fault to return.
var ErrAway = errors.New("the queueing system does not answer")

// Adapter returns a new adapter to f.
func (f *Fake) Adapter() bridge.QS {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := make(chan struct{}, 1)
	f.changed = append(f.changed, c)
	return &fakeAdapter{f, c}
}

// Started returns the markers of the started entries, in order.
func (f *Fake) Started() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.order)
}

// Submissions returns the submissions that f has taken, in order.
func (f *Fake) Submissions() []bridge.Submission {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*fakeEntry
	for _, e := range f.entries {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *fakeEntry) int { return cmp.Compare(a.number, b.number) })
	var out []bridge.Submission
	for _, e := range all {
		out = append(out, e.Submission)
	}
	return out
}

// Lose makes f forget an entry as if it had never been there.
func (f *Fake) Lose(marker string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e := f.find(bridge.Entry{Marker: marker}); e != nil {
		f.stop(e)
		delete(f.entries, e.ID)
	}
	f.next()
}

// find finds an entry. The caller of this method and of those below holds the lock.
func (f *Fake) find(e bridge.Entry) *fakeEntry {
	if e.ID != "" {
		return f.entries[e.ID]
	}
	for _, x := range f.entries {
		if x.Marker == e.Marker {
			return x
		}
	}
	return nil
}

func (f *Fake) submit(s bridge.Submission) string {
	f.last++
	e := &fakeEntry{Submission: s, Status: bridge.Status{Phase: bridge.Pending, ID: strconv.Itoa(f.last)}, number: f.last}
	if f.entries == nil {
		f.entries = map[string]*fakeEntry{}
	}
	f.entries[e.ID] = e
	f.next()
	return e.ID
}

// next starts the entries that have room.
func (f *Fake) next() {
	for f.running < f.Slots {
		var best *fakeEntry
		for _, e := range f.entries {
			if e.Phase == bridge.Pending &&
				(best == nil || cmp.Or(cmp.Compare(e.Priority, best.Priority), cmp.Compare(best.number, e.number)) > 0) {
				best = e
			}
		}
		if best == nil {
			break
		}
		f.start(best)
	}
	for _, c := range f.changed {
		wait.Wake(c)
	}
}

func (f *Fake) start(e *fakeEntry) {
	ctx, cancel := context.WithCancel(context.Background())
	e.Phase, e.Began, e.cancel = bridge.Running, time.Now(), cancel
	f.running++
	f.order = append(f.order, e.Marker)
	go func() {
		r := f.Run(ctx, e.Submission)
		f.mu.Lock()
		defer f.mu.Unlock()
		if e.Phase == bridge.Running {
			e.Phase, e.Ended, e.ExitCode, e.Output, e.Used = bridge.Succeeded, time.Now(), r.ExitCode, r.Output, r.Used
			if r.ExitCode != 0 {
				e.Phase, e.Error = bridge.Failed, fmt.Sprintf("exit code %d", r.ExitCode)
			}
			f.running--
			f.next()
		}
		cancel()
	}()
}

// stop ends an entry.
func (f *Fake) stop(e *fakeEntry) {
	switch e.Phase {
	case bridge.Running:
		e.cancel()
		f.running--
	case bridge.Pending:
	default:
		return
	}
	e.Phase, e.Ended, e.Error = bridge.Cancelled, time.Now(), "cancelled"
}

type fakeAdapter struct {
	*Fake
	changed chan struct{}
}

// call makes one call. If there is a fault before f, it does not run f; if there is a fault after f, it
// loses the answer.
func (a *fakeAdapter) call(ctx context.Context, name string, f func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if a.Fault != nil {
		if err := a.Fault(name); err != nil {
			return err
		}
	}
	a.mu.Lock()
	f()
	a.mu.Unlock()
	if a.Fault != nil {
		return a.Fault(name + "+")
	}
	return nil
}

// Describe implements bridge.QS, like the methods below.
func (a *fakeAdapter) Describe(ctx context.Context) (q frontback.Queue, err error) {
	q = frontback.Queue{Name: "fake", Ages: a.Ages, Obeys: frontback.Yes}
	if q.Ages == frontback.Unknown {
		q.Ages = frontback.No
	}
	return q, a.call(ctx, "describe", func() {})
}

func (a *fakeAdapter) Submit(ctx context.Context, all []bridge.Submission) (out []bridge.Receipt, err error) {
	err = a.call(ctx, "submit", func() {
		for _, s := range all {
			out = append(out, bridge.Receipt{ID: a.submit(s)})
		}
	})
	return out, err
}

func (a *fakeAdapter) Look(ctx context.Context, all []bridge.Entry) (out []bridge.Status, err error) {
	err = a.call(ctx, "look", func() {
		for _, e := range all {
			x := bridge.Status{Phase: bridge.Absent}
			if found := a.find(e); found != nil {
				x = found.Status
				x.Says = "fake: " + strconv.Itoa(int(x.Phase))
			}
			out = append(out, x)
		}
	})
	return out, err
}

func (a *fakeAdapter) Cancel(ctx context.Context, all []bridge.Entry) error {
	return a.call(ctx, "cancel", func() {
		for _, e := range all {
			if x := a.find(e); x != nil {
				a.stop(x)
			}
		}
		a.next()
	})
}

func (a *fakeAdapter) Forget(ctx context.Context, all []bridge.Entry) error {
	return a.call(ctx, "forget", func() {})
}

func (a *fakeAdapter) Changed() <-chan struct{} { return a.changed }
func (a *fakeAdapter) Close() error             { return nil }

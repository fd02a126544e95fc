package fairlead

import (
	"context"
	"sync"
)

// together ends attempts for callers who each have one: what comes while a call to the store
// is under way goes into the next one. So nobody waits for company, and where thousands of
// small tasks end every second a transaction ends many of them.
type together struct {
	finish func(context.Context, []Result) ([]Verdict, error)

	mu      sync.Mutex
	results []Result
	callers []chan<- error
	busy    bool
}

// togetherMost bounds what goes into one transaction.
const togetherMost = 1000

// end ends an attempt. The error is that of the call, of which the store took nothing.
func (t *together) end(r Result) error {
	done := make(chan error, 1)
	t.mu.Lock()
	t.results, t.callers = append(t.results, r), append(t.callers, done)
	if !t.busy {
		t.busy = true
		go t.run()
	}
	t.mu.Unlock()
	return <-done
}

// run goes on as long as there is something to end.
func (t *together) run() {
	for {
		t.mu.Lock()
		n := min(len(t.results), togetherMost)
		results, callers := t.results[:n:n], t.callers[:n:n]
		t.results, t.callers = t.results[n:], t.callers[n:]
		t.busy = n > 0
		t.mu.Unlock()
		if n == 0 {
			return
		}
		_, err := t.finish(context.Background(), results)
		for _, c := range callers {
			c <- err
		}
	}
}

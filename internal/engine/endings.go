package engine

import (
	"errors"

	"github.com/fairlead/fairlead/internal/batch"
	"github.com/fairlead/fairlead/queue"
)

// endings collects the ends of attempts from callers with one end each. A caller does not wait for others. Still,
// where thousands of small tasks end every second, one transaction ends many of them.
type endings = batch.Batcher[queue.Result, struct{}]

// maxTogether is the maximum number of ends in one transaction.
const maxTogether = 1000

// newEndings ends attempts by finish. If finish fails, the store took nothing of the batch, and each call in the batch
// gets the error. If the store refuses single ends, only their calls get an error. If the context of a caller ends
// first, the store may still take the end of its attempt.
func newEndings(finish func([]queue.Result) ([]queue.Verdict, error)) *endings {
	return &endings{MaxWeight: maxTogether, Run: func(calls []*batch.Call[queue.Result, struct{}]) {
		results := make([]queue.Result, len(calls))
		for i, c := range calls {
			results[i] = c.In
		}
		verdicts, err := finish(results)
		for i, c := range calls {
			its := err
			if u := (unkept{}); err == nil && errors.As(verdicts[i].Err, &u) {
				its = u
			}
			c.Answer(struct{}{}, its)
		}
	}}
}

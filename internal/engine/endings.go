package engine

import (
	"github.com/fairlead/fairlead/internal/batch"
	"github.com/fairlead/fairlead/queue"
)

// endings ends attempts for callers who each have one. So nobody waits for company, and where
// thousands of small tasks end every second a transaction ends many of them.
type endings = batch.Batcher[queue.Result, struct{}]

// maxTogether bounds what goes into one transaction.
const maxTogether = 1000

// newEndings ends attempts by finish. If it fails, the store took nothing of the batch, and each call in the
// batch gets the error. When the context of a caller ends, the store may take the end of the attempt after that.
func newEndings(finish func([]queue.Result) error) *endings {
	return &endings{MaxWeight: maxTogether, Run: func(calls []*batch.Call[queue.Result, struct{}]) {
		results := make([]queue.Result, len(calls))
		for i, c := range calls {
			results[i] = c.In
		}
		err := finish(results)
		for _, c := range calls {
			c.Answer(struct{}{}, err)
		}
	}}
}

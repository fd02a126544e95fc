package queue

import (
	"context"
	"slices"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
)

// Cancel cancels jobs.
func (q *Queue) Cancel(ctx context.Context, all []bridge.Entry) error {
	ids, err := q.ids(ctx, all)
	if err != nil {
		return err
	}
	ids = slices.DeleteFunc(ids, func(id int64) bool { return id == 0 })
	if len(ids) == 0 {
		return nil
	}
	// The answer says for each job whether it has ended or is missing; neither is an error here.
	if _, err = q.client.Jobs.Alter(ctx, api.AlterRequest{Verb: "cancel", Jobs: ids, Cause: "by the bridge"}); err != nil {
		return q.explain(err)
	}
	return nil
}

// Forget does nothing: a server keeps ended jobs for as long as its configuration says.
func (q *Queue) Forget(ctx context.Context, _ []bridge.Entry) error { return ctx.Err() }

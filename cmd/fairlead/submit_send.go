package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// send submits, and tries again if the answer is lost on its way: under the job's key
// that is safe.
func (s *submission) send(ctx context.Context, client *api.Client, spec *api.Spec) (*api.Submitted, error) {
	request := api.SubmitRequest{Jobs: []api.Spec{*spec}, DryRun: s.dryRun, Unsatisfiable: s.unsatisfiable, Estimate: !s.parsable && !s.hold}
	r, err := client.Submit(ctx, request)
	for try := 0; try < 3 && errors.Is(err, io.ErrUnexpectedEOF); try++ {
		time.Sleep(200 * time.Millisecond)
		r, err = client.Submit(ctx, request)
	}
	if err != nil {
		return nil, err
	}
	return &r.Jobs[0], r.Jobs[0].Error.Err()
}

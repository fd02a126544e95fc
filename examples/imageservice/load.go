package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/postgres"
)

// The tenants. The large one floods the service; the small ones ask for a few images per second, and have
// much to do only at the end.
const large = "acme"

var small = []string{"bolt", "cleo"}

// scene is one run of the load.
type scene struct {
	options
	name   string
	store  *postgres.Store
	client *fairlead.Client
	number int64 // of the last image
	mu     sync.Mutex

	measured map[string][]outcome // by tenant
}

// load submits everything, and waits until the images of the small tenants are done.
func (s *scene) load(ctx context.Context) error {
	if err := s.submit(ctx, large, flooding, s.flood); err != nil {
		return err
	}
	var all sync.WaitGroup
	errs := make([]error, len(small))
	for i, tenant := range small {
		all.Go(func() { errs[i] = s.pace(ctx, tenant) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if s.flood > 0 {
		for _, tenant := range small {
			if err := s.submit(ctx, tenant, rushing, s.rush); err != nil {
				return err
			}
		}
	}
	return s.wait(ctx)
}

// The names of jobs, which give the reason of their submission.
const (
	flooding = "flood"
	pacing   = "pace" // one by one
	rushing  = "rush" // many by the small tenants, so that all have work
)

// submit submits many images of a tenant.
func (s *scene) submit(ctx context.Context, tenant, why string, images int) error {
	for images > 0 {
		jobs := make([]fairlead.Job, min(images, 1000))
		for i := range jobs {
			jobs[i] = s.job(tenant, why)
		}
		if _, err := s.client.Submit(ctx, jobs...); err != nil {
			return err
		}
		images -= len(jobs)
	}
	return nil
}

// pace submits images of a tenant one by one.
func (s *scene) pace(ctx context.Context, tenant string) error {
	next := time.NewTicker(time.Duration(float64(time.Second) / s.rate))
	defer next.Stop()
	for began := time.Now(); time.Since(began) < s.time; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-next.C:
		}
		if _, err := s.client.Submit(ctx, s.job(tenant, pacing)); err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) job(tenant, why string) fairlead.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	return fairlead.Job{User: tenant, Name: why, Args: Resize{Image: s.number, From: s.from, Width: s.width}}
}

// wait waits until the images of the small tenants are done, at most for the given patience. Without a
// patience it waits for all images.
func (s *scene) wait(ctx context.Context) error {
	look := time.NewTicker(250 * time.Millisecond)
	defer look.Stop()
	for began := time.Now(); s.patience == 0 || time.Since(began) < s.patience; {
		accounts, err := s.store.Usage(ctx)
		if err != nil {
			return err
		}
		left := int64(0)
		for pool, a := range accounts.Pools {
			if pool != large || s.patience == 0 {
				left += a.Waiting + a.Running
			}
		}
		if left == 0 {
			return nil
		}
		progress(os.Stderr, "  %d images to do   ", left)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
	return nil
}

// progress overwrites the previous line, if the output is a terminal.
func progress(f *os.File, format string, args ...any) {
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintf(f, format+"\r", args...)
	}
}

// outcome is an image with the instants that the database recorded. If it has not begun or ended by the end
// of the run, the end of the run is the lower bound.
type outcome struct {
	why                       string
	submitted, started, ended time.Time
	began                     bool
}

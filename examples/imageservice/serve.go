package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/store/postgres"
)

// shares returns the shares: all tenants are entitled to the same.
func shares(policy string) (fairlead.Shares, error) {
	c, err := config.Parse("imageservice", []byte("policy: "+policy))
	if err != nil {
		return fairlead.Shares{}, err
	}
	return c.Shares, nil
}

// serve runs a server of the service: any number of them may run on one database.
func serve(ctx context.Context, o options) error {
	store, err := postgres.Open(ctx, o.db, postgres.Options{Schema: o.schema})
	if err != nil {
		return err
	}
	defer store.Close()
	s, err := shares(o.policy)
	if err != nil {
		return err
	}
	app, err := fairlead.New(ctx, store, fairlead.Options{Slots: o.slots, Shares: s})
	if err != nil {
		return err
	}
	var images, bytes atomic.Int64
	fairlead.Handle(app, func(ctx context.Context, w *fairlead.Work[Resize]) error {
		small, err := resize(w.Args)
		if err != nil {
			return err
		}
		images.Add(1)
		bytes.Add(int64(len(small))) // a service would keep them
		return nil
	})
	fmt.Println(ready)
	err = app.Run(ctx)
	fmt.Fprintf(os.Stdout, "%d %d\n", images.Load(), bytes.Load())
	return err
}

// ready is the line that a server prints when it begins.
const ready = "ready"

// Imageservice is a service with three tenants that makes small images of large ones in the
// background, on a PostgreSQL, with several servers, and measures how long each tenant waits
// while one of them floods it.
//
//	go run ./examples/imageservice -db postgres://user@host/name
//
// runs the same load three times: without the flood, with it under the policy fair, and with it
// under fifo; each time with -servers processes of its own. What a server does stands in
// serve.go and is all that a service needs. To have a server of that kind on another machine:
//
//	go run ./examples/imageservice -serve -db postgres://user@host/name -schema imageservice
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	db, schema, policy string
	serve              bool
	servers, slots     int
	flood, rush        int
	rate               float64
	time, patience     time.Duration
	from, width        int
	check              bool
	floor              time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.db, "db", os.Getenv("DATABASE_URL"), "URL of a PostgreSQL database, in which the schemas imageservice_* are made and removed")
	flag.IntVar(&o.servers, "servers", 3, "processes that work at the same time")
	flag.IntVar(&o.slots, "slots", 1, "images that each of them works on at once")
	flag.IntVar(&o.flood, "flood", 200_000, "images that the large tenant submits at once")
	flag.Float64Var(&o.rate, "rate", 4, "images that each of the small tenants submits in a second")
	flag.DurationVar(&o.time, "time", time.Minute, "how long the small tenants do so")
	flag.IntVar(&o.rush, "rush", 300, "images that each of them submits at once afterwards, so that all tenants have work")
	flag.DurationVar(&o.patience, "patience", time.Minute, "how long to wait then for the images of the small tenants; what has not begun has waited so long at least; 0 waits for all images of all")
	flag.IntVar(&o.from, "from", 1600, "width of the large images")
	flag.IntVar(&o.width, "to", 200, "width of the small images")
	flag.BoolVar(&o.check, "check", false, "exit with status 1 if the small tenants wait for the flood or do not get their shares")
	flag.DurationVar(&o.floor, "floor", 0, "with -check: waits up to this long are good enough, on a machine that has other things to do as well")
	flag.BoolVar(&o.serve, "serve", false, "be a server, until Ctrl-C")
	flag.StringVar(&o.schema, "schema", "imageservice", "with -serve: where the jobs are")
	flag.StringVar(&o.policy, "policy", "fair", "with -serve: fair or fifo")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "imageservice:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%q is not a flag; see -help", flag.Arg(0))
	case o.db == "":
		return errors.New("name a database: -db postgres://user@host/name")
	case o.servers < 1 || o.slots < 1 || o.flood < 1 || o.rush < 1 || o.rate <= 0 || o.from < 1 || o.width < 1:
		return errors.New("servers, slots, flood, rush, rate, from and to have to be above 0")
	case o.serve:
		return serve(ctx, o)
	}
	return compare(ctx, o)
}

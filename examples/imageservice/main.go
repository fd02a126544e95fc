// Imageservice is a service with three tenants that makes small images from large ones in the background, on
// a PostgreSQL, with several servers. It measures the wait of each tenant while one of them floods it.
//
//	go run ./examples/imageservice -db postgres://user@host/name
//
// runs the same load three times: without the flood, with the flood under the policy fair, and with the
// flood under fifo. Each run has -servers processes of its own. serve.go holds the code of a server, which
// is all that a service needs. To run such a server on another machine:
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
)

func main() {
	o := readFlags()
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

package main

import (
	"flag"
	"os"
	"time"
)

// options holds the flags.
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

// readFlags reads the flags of the command line.
func readFlags() (o options) {
	flag.StringVar(&o.db, "db", os.Getenv("DATABASE_URL"),
		"URL of a PostgreSQL database, in which the schemas imageservice_* are made and removed")
	flag.IntVar(&o.servers, "servers", 3, "processes that work at the same time")
	flag.IntVar(&o.slots, "slots", 1, "images that each of them works on at once")
	flag.IntVar(&o.flood, "flood", 200_000, "images that the large tenant submits at once")
	flag.Float64Var(&o.rate, "rate", 4, "images that each of the small tenants submits in a second")
	flag.DurationVar(&o.time, "time", time.Minute, "how long the small tenants do so")
	flag.IntVar(&o.rush, "rush", 300,
		"images that each of them submits at once afterwards, so that all tenants have work")
	flag.DurationVar(&o.patience, "patience", time.Minute,
		"how long to wait then for the images of the small tenants; an image that has not begun has waited at least this long; 0 waits for all images")
	flag.IntVar(&o.from, "from", 1600, "width of the large images")
	flag.IntVar(&o.width, "to", 200, "width of the small images")
	flag.BoolVar(&o.check, "check", false,
		"exit with status 1 if the small tenants wait for the flood or do not get their shares")
	flag.DurationVar(&o.floor, "floor", 0,
		"with -check: waits up to this long are good enough, on a machine that has other things to do as well")
	flag.BoolVar(&o.serve, "serve", false, "be a server, until Ctrl-C")
	flag.StringVar(&o.schema, "schema", "imageservice", "with -serve: where the jobs are")
	flag.StringVar(&o.policy, "policy", "fair", "with -serve: fair or fifo")
	flag.Parse()
	return o
}

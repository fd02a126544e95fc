package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/postgres"
)

// compare runs the load three times: without the flood, with the flood under fair, and with the flood under
// fifo. It prints the waits of each tenant.
func compare(ctx context.Context, o options) error {
	quiet := o
	quiet.flood = 0
	queue := o
	queue.policy = "fifo"
	var scenes []*scene
	for _, next := range []struct {
		name string
		options
	}{{"quiet", quiet}, {"fair", o}, {"fifo", queue}} {
		s, err := play(ctx, next.options, next.name)
		if err != nil {
			return err
		}
		scenes = append(scenes, s)
	}
	fmt.Println()
	printTable(scenes)
	return judge(scenes[0], scenes[1])
}

// printTable prints the table.
func printTable(scenes []*scene) {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\ttenant\timages\tbegan\twaited p50\tp95\tlongest\tan image takes\tshare while all have work\t")
	for _, s := range scenes {
		parts, _ := s.parts()
		for _, tenant := range append([]string{large}, small...) {
			waits := s.waits(tenant)
			if len(waits) == 0 {
				continue
			}
			share := ""
			if s.flood > 0 {
				share = fmt.Sprintf("%.1f%%", 100*parts[tenant])
			}
			began, atLeast := s.began(tenant)
			fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s%v\t%s%v\t%s%v\t%v\t%s\t\n", s.name, tenant, len(waits), began,
				atLeast(0.5), of(0.5, waits), atLeast(0.95), of(0.95, waits), atLeast(1), of(1, waits), of(0.5, s.lengths()), share)
		}
	}
	t.Flush()
}

// judge decides whether the small tenants noticed the flood. Running jobs are not stopped for them, so a job
// that arrives while all slots are busy waits for the first free slot. If the small tenants hardly waited
// before, their waits may grow by the time of one image, and no more.
func judge(quiet, fair *scene) error {
	before, now, image := of(0.95, quiet.waits(small...)), of(0.95, fair.waits(small...)), of(0.95, fair.lengths())
	most := max(2*before, before+image)
	parts, lasted := fair.parts()
	worst := 0.0
	for _, part := range parts {
		worst = max(worst, part-1.0/3, 1.0/3-part)
	}
	fmt.Printf("\nThe small tenants waited %v without the flood and %v with it (p95); twice as long, or one image (%v) longer, is %v.\n", before, now, image, most)
	fmt.Printf("While all had work, for %v, nobody's share was further than %.1f points from a third.\n",
		lasted.Round(100*time.Millisecond), 100*worst)
	switch {
	case !fair.check:
		return nil
	case now > max(most, fair.floor):
		return errors.New("the small tenants waited too long")
	case worst > 0.05:
		return errors.New("somebody did not get a third")
	}
	return nil
}

// play runs the load on servers of its own, in a schema of its own, and returns the results of the jobs.
func play(ctx context.Context, o options, name string) (s *scene, err error) {
	o.schema = "imageservice_" + name
	if err := drop(ctx, o); err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, drop(context.WithoutCancel(ctx), o)) }()
	s = &scene{options: o, name: name}
	if s.store, err = postgres.Open(ctx, o.db, postgres.Options{Schema: o.schema}); err != nil {
		return nil, err
	}
	defer s.store.Close()
	sh, err := shares(o.policy)
	if err != nil {
		return nil, err
	}
	s.client = fairlead.NewClient(s.store, sh)
	servers, err := start(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, servers.stop(os.Stdout)) }()
	fmt.Printf("%s: %d servers of %d slots, policy %s, %d images of %s\n", name, o.servers, o.slots, o.policy, o.flood,
		large)
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	return s, s.measure(ctx, time.Now())
}

// drop removes the schema of a run.
func drop(ctx context.Context, o options) error {
	config, err := pgx.ParseConfig(o.db)
	if err != nil {
		return err
	}
	delete(config.RuntimeParams, "schema") // the store's own
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{o.schema}.Sanitize()+" CASCADE")
	return err
}

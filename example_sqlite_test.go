package fairlead_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/sqlite"
)

// Keep the jobs in a file: acknowledged jobs are there after a crash.
func Example_sqlite() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "fairlead-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "jobs.db")

	store, err := sqlite.Open(ctx, file, sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	client := fairlead.NewClient(store, fairlead.DefaultShares())
	ids, err := client.Submit(ctx, fairlead.Job{User: "ann", Kind: "invoice", Payload: []byte("2026-11")})
	fmt.Println("submitted", ids, err)
	store.Close() // or the end of the program, however it comes

	store, err = sqlite.Open(ctx, file, sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	loop, err := fairlead.NewLoop(ctx, store, fairlead.LoopOptions{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(ctx)
	invoice := func(_ context.Context, l *fairlead.Lease) error {
		fmt.Println("invoice", string(l.Job.Payload), "attempt", l.Attempt)
		stop()
		return nil
	}
	go loop.Run(ctx)
	loop.Work(ctx, fairlead.WorkOptions{Handlers: map[string]fairlead.Handler{"invoice": fairlead.HandlerFunc(invoice)}})

	job, err := loop.Client().Job(context.Background(), ids[0])
	fmt.Println(job.State, err)
	// Output:
	// submitted [1] <nil>
	// invoice 2026-11 attempt 1
	// succeeded <nil>
}

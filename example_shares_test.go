package fairlead_test

import (
	"context"
	"fmt"
	"log"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/store/memory"
)

// Read shares from a configuration, and change them while the loop runs.
func ExampleLoop_Configure() {
	ctx := context.Background()
	shares, err := config.Parse("shares.yaml", []byte(`
placement:
  - {kind: "report|export", pool: "batch/{user}"}
  - {pool: "web/{user}"}
pools:
  web: {weight: 3}
  batch: {weight: 1, max_running: 2}
`))
	if err != nil {
		log.Fatal(err) // it names every problem, with line and column
	}
	loop, err := fairlead.NewLoop(ctx, memory.New("cpu"), fairlead.LoopOptions{Shares: shares.Shares})
	if err != nil {
		log.Fatal(err)
	}
	ids, err := loop.Client().Submit(ctx,
		fairlead.Job{User: "ann", Kind: "report"}, fairlead.Job{User: "ann", Kind: "login"})
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range ids {
		j, err := loop.Client().Job(ctx, id)
		fmt.Println(j.Kind, "goes to", j.Pool, err)
	}

	shares, err = config.Parse("shares.yaml", []byte("pools: {web: {weight: 1}, batch: {weight: 1}}"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(loop.Configure(ctx, shares.Shares))
	for _, p := range fairlead.Pools(ctx, loop) {
		if p.Depth == 1 {
			fmt.Printf("%s: %.0f%%\n", p.Path, 100*p.Share)
		}
	}
	// Output:
	// report goes to batch/ann <nil>
	// login goes to web/ann <nil>
	// <nil>
	// batch: 50%
	// web: 50%
}

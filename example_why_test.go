package fairlead_test

import (
	"context"
	"fmt"
	"log"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// Ask why a job waits, and check the answer from the numbers in it.
func ExampleWhy() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	loop, err := fairlead.NewLoop(ctx, memory.New("cpu"), fairlead.LoopOptions{})
	if err != nil {
		log.Fatal(err)
	}
	busy := make(chan bool)
	handler := func(context.Context, *fairlead.Lease) error {
		busy <- true
		<-ctx.Done()
		return ctx.Err()
	}
	go loop.Run(ctx)
	go loop.Work(ctx, fairlead.WorkOptions{Handlers: map[string]fairlead.Handler{"render": fairlead.HandlerFunc(handler)}})

	// Ann's first job takes the only slot; then Ann and Ben wait.
	loop.Client().Submit(ctx, fairlead.Job{User: "ann", Kind: "render"})
	<-busy
	ids, err := loop.Client().Submit(ctx, fairlead.Job{User: "ann", Kind: "render"}, fairlead.Job{User: "ben", Kind: "render"})
	if err != nil {
		log.Fatal(err)
	}

	answer, err := fairlead.Why(ctx, loop, ids[0], fairlead.WhyOptions{Evidence: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Verdict, answer.Reason.Code)
	fmt.Println("number", answer.Rank.Position, "of", answer.Rank.Of)
	level := answer.Levels[0]
	fmt.Println("by", level.Formula)
	for _, child := range level.Children {
		fmt.Println("  ", child.Name, "waits:", child.Waiting, "runs:", child.Running)
	}
	fmt.Println("verified:", why.Verified(replay.Verify(answer, policy.Rule)))
	// Output:
	// working as designed share.behind
	// number 2 of 2
	// by joined + (served + expected) / weight
	//    ben waits: 1 runs: 0
	//    ann waits: 1 runs: 1
	// verified: true
}

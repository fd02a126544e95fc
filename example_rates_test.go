package fairlead_test

import (
	"context"
	"fmt"
	"log"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/store/memory"
)

// Start at most as many tasks as a service takes calls, and run at most as many at once as there are licenses.
func ExampleLoop_Limits() {
	ctx := context.Background()
	shares, err := config.Parse("shares.yaml", []byte(`
rates: {linkedin: {rate: 5/s, burst: 10, kinds: [crawl]}}
licenses: {matlab: 3}
`))
	if err != nil {
		log.Fatal(err)
	}
	loop, err := fairlead.NewLoop(ctx, memory.New("cpu"), fairlead.LoopOptions{Shares: shares.Shares})
	if err != nil {
		log.Fatal(err)
	}
	_, err = loop.Client().Submit(ctx,
		fairlead.Job{User: "ann", Kind: "crawl", Array: "1-500"}, // by its kind under linkedin
		fairlead.Job{User: "bob", Kind: "mail", Rates: []string{"linkedin"}},
		fairlead.Job{User: "cleo", Kind: "fit", Licenses: fairlead.Amounts{"matlab": 2}},
	)
	if err != nil {
		log.Fatal(err)
	}
	_, err = loop.Client().Submit(ctx, fairlead.Job{User: "cleo", Kind: "fit", Licenses: fairlead.Amounts{"matlab": 4}})
	fmt.Println(err)

	licenses, rates := loop.Limits(ctx)
	fmt.Printf("%s: %d of %d used, %d wait\n", licenses[0].Name, licenses[0].Used, licenses[0].Total, licenses[0].Waiting)
	fmt.Printf("%s: %s, %d may start at once, %d wait\n", rates[0].Name, rates[0].Limit, rates[0].Left, rates[0].Waiting)
	// Output:
	// licenses: a task asks for 4 of matlab, but the cluster has only 3: it could never start; ask for less
	// matlab: 0 of 3 used, 1 wait
	// linkedin: 5/s, 10 may start at once, 501 wait
}

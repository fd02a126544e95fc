package fairlead_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/memory"
)

// Submit jobs, submit one of them again, and query them.
func ExampleClient() {
	ctx := context.Background()
	client := fairlead.NewClient(memory.New("cpu"), fairlead.DefaultShares())

	ids, err := client.Submit(ctx,
		fairlead.Job{User: "ann", Kind: "thumbnail", Payload: []byte("cat.jpg"), Key: "cat"},
		fairlead.Job{User: "ben", Kind: "thumbnail", Payload: []byte("dog.jpg"), After: []fairlead.Dependency{{Job: -1}}},
	)
	fmt.Println(ids, err)

	// The same key of the same user is the same job: after a lost answer it is safe to
	// submit again.
	again, err := client.Submit(ctx, fairlead.Job{User: "ann", Kind: "thumbnail", Payload: []byte("cat.jpg"), Key: "cat"})
	fmt.Println(again, err)

	jobs, err := client.Jobs(ctx, fairlead.Query{})
	for _, j := range jobs {
		fmt.Println(j.ID, j.User, j.Pool, j.State)
	}
	fmt.Println(err)

	_, err = client.Job(ctx, 99)
	fmt.Println(errors.Is(err, fairlead.ErrNotFound))
	// Output:
	// [1 2] <nil>
	// [1] <nil>
	// 1 ann ann waiting
	// 2 ben ben blocked
	// <nil>
	// true
}

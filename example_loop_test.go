package fairlead_test

import (
	"context"
	"fmt"
	"log"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/memory"
)

// Share the workers of a program among its users: a user who floods the queue does not keep the others waiting.
func ExampleLoop() {
	ctx, stop := context.WithCancel(context.Background())
	loop, err := fairlead.NewLoop(ctx, memory.New("cpu"), fairlead.LoopOptions{})
	if err != nil {
		log.Fatal(err)
	}

	// Ann submits a flood, then Ben asks for one.
	var jobs []fairlead.Job
	for i := range 5 {
		jobs = append(jobs, fairlead.Job{User: "ann", Kind: "thumbnail", Payload: fmt.Appendf(nil, "ann-%d.jpg", i+1)})
	}
	jobs = append(jobs, fairlead.Job{User: "ben", Kind: "thumbnail", Payload: []byte("ben-1.jpg")})
	if _, err := loop.Client().Submit(ctx, jobs...); err != nil {
		log.Fatal(err)
	}

	left := len(jobs)
	thumbnail := func(ctx context.Context, l *fairlead.Lease) error {
		fmt.Println(l.Job.User, string(l.Job.Payload))
		if left--; left == 0 {
			stop()
		}
		return nil // an error would be a failure, to be tried again if the job says so
	}

	go loop.Run(ctx)
	err = loop.Work(ctx, fairlead.WorkOptions{
		Slots:    1,
		Handlers: map[string]fairlead.Handler{"thumbnail": fairlead.HandlerFunc(thumbnail)},
	})
	fmt.Println("ended:", err)
	// Output:
	// ann ann-1.jpg
	// ben ben-1.jpg
	// ann ann-2.jpg
	// ann ann-3.jpg
	// ann ann-4.jpg
	// ann ann-5.jpg
	// ended: <nil>
}

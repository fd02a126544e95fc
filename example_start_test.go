package fairlead_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/memory"
)

// Start and Stop suit a program with its own beginning and end, such as a web server. Stats counts the results of its
// handlers.
func ExampleApp_Start() {
	ctx := context.Background()
	app, err := fairlead.New(ctx, memory.New("cpu"), fairlead.Options{Grace: 30 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan string)
	fairlead.Handle(app, func(ctx context.Context, w *fairlead.Work[Thumbnail]) error {
		done <- w.Args.Image
		return nil
	})
	if err := app.Start(ctx); err != nil { // from here on this process takes tasks
		log.Fatal(err)
	}
	if _, err := app.Submit(ctx, fairlead.Job{User: "acme", Args: Thumbnail{"logo.png", 64}}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-done)

	ending, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	fmt.Println("stopped:", app.Stop(ending), "succeeded:", app.Stats().Succeeded)
	// Output:
	// logo.png
	// stopped: <nil> succeeded: 1
}

// A job of a kind without a handler is refused when it is submitted.
func ExampleApp_Submit_unknownKind() {
	ctx := context.Background()
	app, err := fairlead.New(ctx, memory.New("cpu"), fairlead.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fairlead.Handle(app, func(context.Context, *fairlead.Work[Thumbnail]) error { return nil })
	_, err = app.Submit(ctx, fairlead.Job{User: "acme", Kind: "thumbnial", Payload: []byte(`{}`)})
	fmt.Println(errors.Is(err, fairlead.ErrInvalid), err)
	// Output:
	// true kind: nobody handles kind "thumbnial" (here: thumbnail); call Handle before, or set Options.AnyKind
}

// A handler that finds nothing to do yet postpones its task, which does not count as a failure.
func ExampleSnooze() {
	ctx, stop := context.WithCancel(context.Background())
	app, err := fairlead.New(ctx, memory.New("cpu"), fairlead.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fairlead.Handle(app, func(ctx context.Context, w *fairlead.Work[Thumbnail]) error {
		if w.Attempt < 3 {
			fmt.Println("not uploaded yet")
			return fairlead.Snooze(10 * time.Millisecond)
		}
		fmt.Println("done in attempt", w.Attempt)
		stop()
		return nil
	})
	if _, err := app.Submit(ctx, fairlead.Job{User: "acme", Args: Thumbnail{"late.jpg", 200}}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ended:", app.Run(ctx))
	// Output:
	// not uploaded yet
	// not uploaded yet
	// done in attempt 3
	// ended: <nil>
}

// A handler that knows when the next attempt can succeed says so, and replaces Job.Backoff.
func ExampleRetryAfter() {
	ctx, stop := context.WithCancel(context.Background())
	app, err := fairlead.New(ctx, memory.New("cpu"), fairlead.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fairlead.Handle(app, func(ctx context.Context, w *fairlead.Work[Thumbnail]) error {
		if w.Attempt == 1 {
			return fairlead.RetryAfter(10*time.Millisecond, errors.New("429: too many requests"))
		}
		fmt.Println("done in attempt", w.Attempt)
		stop()
		return nil
	})
	if _, err := app.Submit(ctx, fairlead.Job{User: "acme", Args: Thumbnail{"far.jpg", 200}, Retries: 3}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ended:", app.Run(ctx))
	// Output:
	// done in attempt 2
	// ended: <nil>
}

// A weight that follows from a customer's payment today counts from now on.
func ExampleApp_SetWeight() {
	ctx := context.Background()
	app, err := fairlead.New(ctx, memory.New("cpu"), fairlead.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, customer := range []string{"acme", "bolt"} {
		if _, err := app.Submit(ctx, fairlead.Job{User: customer, Args: Thumbnail{}}); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(app.SetWeight(ctx, "acme", 3), app.SetMax(ctx, "acme", fairlead.Amounts{"cpu": 8}))
	for _, p := range app.Shares(ctx)[1:] { // without the root
		fmt.Println(p.Path, p.Weight)
	}
	// Output:
	// <nil> <nil>
	// acme 3
	// bolt 1
}

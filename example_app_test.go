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

// Thumbnail is what a job of this kind is to do.
type Thumbnail struct {
	Image string `json:"image"`
	Width int    `json:"width"`
}

// Kind names the kind of job.
func (Thumbnail) Kind() string { return "thumbnail" }

// Background jobs in a program: a store, a handler for each kind of job, and a pool for each user who submits. Acme
// floods the queue; Bolt, who comes last, is served second.
func ExampleApp() {
	ctx, stop := context.WithCancel(context.Background())
	app, err := fairlead.New(ctx, memory.New("cpu"), fairlead.Options{Slots: 1})
	if err != nil {
		log.Fatal(err)
	}
	left := 5
	fairlead.Handle(app, func(ctx context.Context, w *fairlead.Work[Thumbnail]) error {
		fmt.Println(w.Job.User, w.Args.Image, w.Args.Width)
		if left--; left == 0 {
			stop()
		}
		return nil
	})

	for i := range 4 {
		_, err = app.Submit(ctx, fairlead.Job{User: "acme", Args: Thumbnail{fmt.Sprintf("%d.jpg", i+1), 200}})
	}
	_, err = app.Submit(ctx, fairlead.Job{User: "bolt", Args: Thumbnail{"logo.png", 64}})
	fmt.Println("submitted:", err)

	fmt.Println("ended:", app.Run(ctx))
	// Output:
	// submitted: <nil>
	// acme 1.jpg 200
	// bolt logo.png 64
	// acme 2.jpg 200
	// acme 3.jpg 200
	// acme 4.jpg 200
	// ended: <nil>
}

// Middleware does something before and after each handler; Permanent ends a job that another attempt would not help.
func ExampleApp_Use() {
	ctx, stop := context.WithCancel(context.Background())
	app, err := fairlead.New(ctx, memory.New("cpu"), fairlead.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.Use(func(next fairlead.Handler) fairlead.Handler {
		return fairlead.HandlerFunc(func(ctx context.Context, l *fairlead.Lease) error {
			err := next.Handle(ctx, l)
			fmt.Printf("%s of %s, attempt %d: %v\n", l.Job.Kind, l.Job.User, l.Attempt, err)
			stop()
			return err
		})
	})
	fairlead.Handle(app, func(ctx context.Context, w *fairlead.Work[Thumbnail]) error {
		return fairlead.Permanent(errors.New("there is no such image"))
	})
	ids, err := app.Submit(ctx, fairlead.Job{User: "acme", Args: Thumbnail{Image: "gone.jpg"}, Retries: 5})
	fmt.Println("ended:", app.Run(ctx), err)
	job, err := app.Client().Job(context.Background(), ids[0])
	fmt.Println(job.State, job.Cause, err)
	// Output:
	// thumbnail of acme, attempt 1: there is no such image
	// ended: <nil> <nil>
	// failed there is no such image <nil>
}

// Cron submits a job by a schedule. All processes of a store may have the same schedule: each instant is one job.
func ExampleApp_Cron() {
	ctx := context.Background()
	app, err := fairlead.New(ctx, memory.New("cpu"), fairlead.Options{})
	if err != nil {
		log.Fatal(err)
	}
	report := func(at time.Time) fairlead.Job {
		return fairlead.Job{User: "system", Args: Thumbnail{Image: at.Format("2006-01-02") + ".png"}}
	}
	fmt.Println(app.Cron("nightly", "0 3 * * *", report))
	fmt.Println(app.Cron("now and then", "sometimes", report))
	// Output:
	// <nil>
	// cron: "sometimes" is not a schedule: five fields (minute, hour, day of the month, month, day of the week), or @hourly, @daily and the like
}

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

// Invoice holds the arguments of a job of this kind.
type Invoice struct {
	Customer string `json:"customer"`
	Month    string `json:"month"`
}

// Kind names the kind of job.
func (Invoice) Kind() string { return "invoice" }

var errNoSuchCustomer = errors.New("no such customer")

// sendInvoice stands for the work of your program.
func sendInvoice(_ context.Context, customer, month string) error {
	if customer == "nobody" {
		return errNoSuchCustomer
	}
	fmt.Println("invoice of", month, "to", customer)
	return nil
}

// A worker of another queue becomes a function, and options of each job.
func Example_converted() {
	ctx, stop := context.WithCancel(context.Background())
	app, err := fairlead.New(ctx, memory.New("cpu"), fairlead.Options{Slots: 10})
	if err != nil {
		log.Fatal(err)
	}
	fairlead.Handle(app, func(ctx context.Context, w *fairlead.Work[Invoice]) error {
		err := sendInvoice(ctx, w.Args.Customer, w.Args.Month)
		if errors.Is(err, errNoSuchCustomer) {
			return fairlead.Permanent(err)
		}
		return err
	})
	invoice := func(customer, month string) fairlead.Job {
		return fairlead.Job{
			User: customer, // whose turn it is
			Args: Invoice{customer, month}, Key: "invoice " + month,
			Retries: 4, Backoff: time.Second, Limit: time.Minute,
		}
	}
	first, err := app.Submit(ctx, invoice("acme", "2026-11"))
	fmt.Println(first, err)
	again, err := app.Submit(ctx, invoice("acme", "2026-11"), invoice("nobody", "2026-11"))
	fmt.Println(again, err)

	watch := app.Watch()
	defer watch.Close()
	go app.Run(ctx)
	for ended := 0; ended < 2; {
		if e := <-watch.C; e.Code == "ended" {
			ended++
		}
	}
	stop()
	for _, id := range again {
		job, err := app.Client().Job(context.Background(), id)
		fmt.Println(job.User, job.State, job.Cause, err)
	}
	// Unordered output:
	// [1] <nil>
	// [1 2] <nil>
	// invoice of 2026-11 to acme
	// acme succeeded  <nil>
	// nobody failed no such customer <nil>
}

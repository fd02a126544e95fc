package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/postgres"
)

// Confirmation is the e-mail that follows an order.
type Confirmation struct {
	Order int `json:"order"`
}

// Kind names the kind of job.
func (Confirmation) Kind() string { return "confirmation" }

// The order and its e-mail in one transaction: there is an e-mail exactly if there is an order.
func Example_transaction() {
	ctx, stop := context.WithCancel(context.Background())
	db, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL")) // that of your program
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	store, err := postgres.OpenPool(ctx, db, postgres.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	app, err := fairlead.New(ctx, store, fairlead.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fairlead.Handle(app, func(ctx context.Context, w *fairlead.Work[Confirmation]) error {
		fmt.Println("confirmed to", w.Job.User, "order", w.Args.Order)
		stop()
		return nil
	})

	if _, err := db.Exec(ctx, `CREATE TABLE orders (number int, customer text)`); err != nil {
		log.Fatal(err)
	}
	order := func(number int, customer string, pay func() error) error {
		return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `INSERT INTO orders VALUES ($1, $2)`, number, customer); err != nil {
				return err
			}
			if _, err := app.SubmitTx(ctx, postgres.Tx(tx),
				fairlead.Job{User: customer, Args: Confirmation{number}}); err != nil {
				return err
			}
			return pay()
		})
	}
	fmt.Println("1:", order(1, "acme", func() error { return errors.New("the card was refused") }))
	fmt.Println("2:", order(2, "bolt", func() error { return nil }))
	fmt.Println("ended:", app.Run(ctx))
	// Output:
	// 1: the card was refused
	// 2: <nil>
	// confirmed to bolt order 2
	// ended: <nil>
}

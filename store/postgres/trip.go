package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// trip collects statements, and sends them together when a result is needed.
type trip struct {
	db      *database
	ctx     context.Context
	line    line
	batch   *pgx.Batch
	results []func(pgx.BatchResults) error
	now     time.Time // instant of the transaction; zero until the database has returned it
}

// line sends statements: a connection, or a transaction of the program.
type line interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// queue adds a statement that returns nothing.
func (d *trip) queue(sql string, args ...any) {
	d.batch.Queue(d.db.sql(sql), args...)
	d.results = append(d.results, func(r pgx.BatchResults) error { _, err := r.Exec(); return err })
}

// ask adds a query. The function "scan" is called for each row of the result when the query is sent.
func (d *trip) ask(sql string, scan func(pgx.Rows) error, args ...any) {
	d.batch.Queue(d.db.sql(sql), args...)
	d.results = append(d.results, func(r pgx.BatchResults) error {
		rows, err := r.Query()
		if err != nil {
			return err
		}
		return each(rows, scan)
	})
}

// do sends the collected statements.
func (d *trip) do() error {
	if len(d.results) == 0 {
		return nil
	}
	batch, results := d.batch, d.results
	d.batch, d.results = &pgx.Batch{}, nil
	r := d.line.SendBatch(d.ctx, batch)
	for _, f := range results {
		if err := f(r); err != nil {
			r.Close() // its error only follows from the first one, e.g. that nothing could be sent
			return err
		}
	}
	return r.Close()
}

func (d *trip) askBool(sql string, into *bool, args ...any) {
	d.ask(sql, func(r pgx.Rows) error { return r.Scan(into) }, args...)
}

package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
)

// statements prints the statements that took the most time of the database, in that order.
func (d *database) statements(ctx context.Context, out io.Writer) error {
	conn, err := pgx.Connect(ctx, d.url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS pg_stat_statements`); err != nil {
		return err
	}
	rows, err := conn.Query(ctx, `SELECT query, calls, rows, total_exec_time, mean_exec_time * 1000, min_exec_time * 1000, wal_bytes::bigint FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT 25`)
	if err != nil {
		return err
	}
	defer rows.Close()
	fmt.Fprintln(out, "     calls       rows   total ms  us/call  at least  us/row   WAL kB  statement")
	for rows.Next() {
		var text string
		var calls, n, wal int64
		var total, mean, least float64
		if err := rows.Scan(&text, &calls, &n, &total, &mean, &least, &wal); err != nil {
			return err
		}
		text = strings.Join(strings.Fields(text), " ")
		fmt.Fprintf(out, "%10d %10d %10.0f %8.0f %9.0f %7.1f %8d  %.100s\n", calls, n, total, mean, least, total*1000/float64(max(n, 1)), wal>>10, text)
	}
	return rows.Err()
}

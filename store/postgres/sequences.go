package postgres

import (
	"errors"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"
)

// numbered lists the sequences, and for each a query for the largest known number taken from it. Most belong to
// identity columns, with the names that PostgreSQL gives them.
var numbered = []struct{ sequence, largest string }{
	{"job_id", `greatest((SELECT max(id) FROM @.job), (SELECT max(id) FROM @.ended),
		(SELECT max(job) FROM @.jobkey))`},
	{"pool_id_seq", `(SELECT max(id) FROM @.pool)`},
	{"ending_id_seq", `(SELECT max(id) FROM @.ending)`},
	{"lease_id_seq", `(SELECT max(id) FROM @.lease)`},
	{"stop_id_seq", `(SELECT max(id) FROM @.stop)`},
	{"audit_id_seq", `(SELECT max(id) FROM @.audit)`},
	{"feed_seq_seq", `greatest((SELECT max(seq) FROM @.feed), (SELECT max(last) FROM @.feed_kept))`},
}

// eventSequence has no index for its largest number. It is checked only if another sequence is behind.
const eventSequence, largestEvent = "event_id_seq", `(SELECT max(id) FROM @.event)`

// advanceText sets a sequence to the largest number taken from it, if it is behind that.
const advanceText = `WITH x AS (SELECT $largest AS largest)
	SELECT setval('@.$sequence', largest) FROM x, @.$sequence
	WHERE largest > last_value OR largest = last_value AND NOT is_called`

// firstRow reads the columns of the first row of an SQL query.
type firstRow func(into []any, sql string, args ...any) error

// advance moves sequences forward that are behind and would otherwise give numbers twice. They fall behind if the
// database is the copy of another one without its sequences: logical replication leaves them out (PostgreSQL 15, 31.6
// "Restrictions").
func advance(first firstRow, log *slog.Logger) error {
	behind := false
	for _, s := range numbered {
		set, err := advanceOne(first, log, s.sequence, s.largest)
		if err != nil {
			return err
		}
		behind = behind || set
	}
	if !behind {
		return nil
	}
	_, err := advanceOne(first, log, eventSequence, largestEvent)
	return err
}

// advanceOne sets a sequence if it is behind, and reports whether it was.
func advanceOne(first firstRow, log *slog.Logger, sequence, largest string) (bool, error) {
	var to int64
	err := first([]any{&to}, strings.NewReplacer("$largest", largest, "$sequence", sequence).Replace(advanceText))
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		log.Warn("a sequence was behind the numbers that are in use, and is set to the largest",
			"sequence", sequence, "largest", to)
	}
	return err == nil, err
}

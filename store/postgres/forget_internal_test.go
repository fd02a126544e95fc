package postgres

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// many inserts ended jobs, one each second of 1970, with their records.
func (s *Store) many(t *testing.T, n string) {
	t.Helper()
	s.must(t, `INSERT INTO @.ended (id, pool, state, username, kind, priority, spec, not_before, most, tasks, held, pending, waiting, submitted, ended)
		SELECT i, 1, 4, 'ann', 'k', 'normal', '{}', 0, 0, 1, false, 0, 0, 1, i * 1000000000::bigint FROM generate_series(1, `+n+`) AS i`)
	s.must(t, `INSERT INTO @.ending (at, jobs) SELECT ended, ARRAY[id] FROM @.ended`)
	s.must(t, `INSERT INTO @.jobkey SELECT 'ann', i::text, i FROM generate_series(1, `+n+`) AS i`)
	s.must(t, `INSERT INTO @.event (job, task, at, code, text) SELECT i, -1, 0, 'c', 't' FROM generate_series(1, `+n+`) AS i`)
	s.must(t, `INSERT INTO @.task (job, idx, attempt, holder, t_state, t_begin, t_started, t_ended, fails, losses, again, outcome, charge)
		SELECT i, 0, 1, '', 4, 0, 0, 0, 0, 0, 0, '', 0 FROM generate_series(1, `+n+`) AS i`)
}

// TestForgetReadsWhatItRemoves: records that are kept add no cost to the removal of others.
func TestForgetReadsWhatItRemoves(t *testing.T) {
	t.Parallel()
	s := openInternal(t)
	s.many(t, "20000")
	rows := regexp.MustCompile(`actual rows=(\d+)`)
	var plan []string
	err := s.writer.do(t.Context(), func(x *tx) error {
		plan = nil
		x.trip.ask(`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) `+forgetText, func(r pgx.Rows) error {
			var line string
			err := r.Scan(&line)
			plan = append(plan, line)
			return err
		}, int64(0), 500*time.Second.Nanoseconds(), 100)
		return x.trip.do()
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range plan {
		if m := rows.FindStringSubmatch(line); m != nil {
			if n, err := strconv.Atoi(m[1]); err != nil || n > 200 {
				t.Fatalf("it reads %d rows to remove 100:\n%s", n, strings.Join(plan, "\n"))
			}
		}
	}
}

// TestForgetInBatches: all old records are removed, and nothing else, even if others call Forget at the same time.
func TestForgetInBatches(t *testing.T) {
	t.Parallel()
	s := openInternal(t)
	s.many(t, "4000")
	before := time.Unix(3500, 0)
	sum := make(chan int)
	for range 3 {
		go func() {
			n, err := s.Forget(t.Context(), before)
			if err != nil {
				t.Error(err)
			}
			sum <- n
		}()
	}
	n := <-sum + <-sum + <-sum
	more, err := s.Forget(t.Context(), before)
	if n += more; err != nil || n != 3499 {
		t.Errorf("forgot %d jobs, want 3499 (%v)", n, err)
	}
	for _, table := range []string{"ended", "ending", "jobkey", "event", "task"} {
		left := 0
		if err := s.db.query(t.Context(), `SELECT count(*) FROM @.`+table,
			func(r pgx.Rows) error { return r.Scan(&left) }); err != nil || left != 501 {
			t.Errorf("%d rows of %s are left, want 501 (%v)", left, table, err)
		}
	}
}

// TestForgetRequeued: for a job that ended, was requeued and ended again, the last end counts.
func TestForgetRequeued(t *testing.T) {
	t.Parallel()
	s := openInternal(t)
	s.many(t, "2")
	s.must(t, `UPDATE @.ended SET ended = ended + 100 * 1000000000::bigint WHERE id = 1`)
	s.must(t, `INSERT INTO @.ending (at, jobs) SELECT ended, ARRAY[id] FROM @.ended WHERE id = 1`)
	for _, c := range []struct{ before, want int64 }{{50, 1}, {101, 0}, {102, 1}, {102, 0}} {
		if n, err := s.Forget(t.Context(), time.Unix(c.before, 0)); err != nil || int64(n) != c.want {
			t.Errorf("before second %d: forgot %d jobs, want %d (%v)", c.before, n, c.want, err)
		}
	}
}

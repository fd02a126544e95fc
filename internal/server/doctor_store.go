package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/words"
)

// checkPulse looks at how soon the database answers and the scheduler knows what is in it.
func (s *Server) checkPulse(ctx context.Context) []api.HealthCheck {
	p, err := s.options.Loop.Pulse(ctx)
	if err != nil {
		return []api.HealthCheck{bad("database", api.ResultFail, "does not answer: "+err.Error(), "look at the database, and at the server's log"), s.checkSteps()}
	}
	return []api.HealthCheck{
		grade(api.HealthCheck{Name: "database", Text: fmt.Sprintf("answers in %s", brief(p.Store))}, p.Store.Seconds(), "s", 0.1, 2, "see what else the disk or the database is doing"),
		grade(api.HealthCheck{Name: "lag", Text: fmt.Sprintf("the scheduler knew all that is in the database after %s", brief(p.CaughtUp))}, p.CaughtUp.Seconds(), "s", 1, 10, "see what else the server's processors are doing; fairlead top shows the steps"),
		s.checkSteps(),
	}
}

// checkSteps looks at the decisions.
func (s *Server) checkSteps() api.HealthCheck {
	st := s.options.Loop.Stats()
	if !st.ErrorAt.IsZero() && time.Since(st.ErrorAt) < 10*time.Minute {
		return bad("scheduling", api.ResultFail, plain.Line(st.LastError), "see the server's log")
	}
	c := api.HealthCheck{Name: "scheduling", Text: fmt.Sprintf("%d steps, the last took %s", st.Steps, brief(st.StepTime))}
	return grade(c, st.StepTime.Seconds(), "s", 0.5, 5, "a step looks at what changed: see how many pools and requests there are, with fairlead shares and fairlead queue")
}

// brief writes a time that is mostly a part of a second.
func brief(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// checkStore looks at how the store is kept.
func (s *Server) checkStore(ctx context.Context) []api.HealthCheck {
	x, ok := s.options.Store.(fairlead.Examiner)
	if !ok {
		return nil
	}
	h, err := x.Examine(ctx)
	if err != nil {
		return []api.HealthCheck{bad("tables", api.ResultFail, err.Error(), "see the server's log")}
	}
	return judgeStore(h)
}

// judgeStore says what is to be said about how a store is kept.
func judgeStore(h fairlead.StoreHealth) []api.HealthCheck {
	var checks []api.HealthCheck
	tables := good("tables", fmt.Sprintf("of format %d, which this program writes; they take %s", h.Format, words.Size(h.Bytes)))
	if h.Format != h.Known {
		tables = bad("tables", api.ResultFail, fmt.Sprintf("of format %d, and this program writes %d", h.Format, h.Known), "start the server again, with the newest program that was used on them")
	}
	checks = append(checks, tables)
	bloat := api.HealthCheck{Name: "bloat", Text: fmt.Sprintf("%s of it holds nothing any more", words.Percent(h.Unused))}
	const small = 256 << 20 // of which the half does not matter
	if h.Bytes < small {
		v := h.Unused
		bloat.Result, bloat.Value, bloat.Unit = api.ResultOK, &v, "fraction"
	} else {
		bloat = grade(bloat, h.Unused, "fraction", 0.6, 0.95, "SQLite: stop the server and run VACUUM; PostgreSQL: see that autovacuum runs and that no transaction stays open")
	}
	checks = append(checks, bloat)
	if h.Log > 0 {
		checks = append(checks, grade(api.HealthCheck{Name: "write-ahead log", Text: words.Size(h.Log)}, float64(h.Log), "bytes", 512<<20, 4<<30, "somebody reads the database for long, such as a backup: let it end"))
	}
	if h.Oldest > 0 {
		checks = append(checks, grade(api.HealthCheck{Name: "open transactions", Text: "the oldest has been open for " + brief(h.Oldest)}, h.Oldest.Seconds(), "s", 600, 6*3600, "nothing that ended since can be cleared away: find it in pg_stat_activity, and end it"))
	}
	if h.MostSessions > 0 {
		checks = append(checks, grade(api.HealthCheck{Name: "sessions", Text: fmt.Sprintf("%d of the database's %d are in use", h.Sessions, h.MostSessions)}, float64(h.Sessions)/float64(h.MostSessions), "fraction", 0.8, 0.98, "raise max_connections, or put PgBouncer before the database"))
	}
	if h.Feed > 0 {
		checks = append(checks, grade(api.HealthCheck{Name: "feed", Text: fmt.Sprintf("about %d changes are kept for the servers", h.Feed)}, float64(h.Feed), "changes", 2_000_000, 50_000_000, "it is cleared once a second: see the servers' logs, and that no transaction stays open"))
	}
	if !h.Reserve {
		checks = append(checks, bad("reserve", api.ResultWarn, "no room is put aside for the moment when the disk is full", "make room; the reserve comes back by itself"))
	}
	return checks
}

// checkCounters compares the counters that are kept with a count of the jobs, and
// with what the scheduler believes.
func (s *Server) checkCounters(ctx context.Context) api.HealthCheck {
	acc, ok := s.options.Store.(fairlead.Accountant)
	if !ok {
		return good("counters", "the store keeps none")
	}
	text := ""
	for range 5 { // they change while we look
		before, err := acc.Usage(ctx)
		if err != nil {
			return bad("counters", api.ResultFail, err.Error(), "see the server's log")
		}
		now, err := acc.Recount(ctx)
		if err != nil {
			return bad("counters", api.ResultFail, err.Error(), "see the server's log")
		}
		text = ""
		for pool, a := range before.Pools {
			if a.Counters != now[pool] {
				text = fmt.Sprintf("pool %s: counted %+v, kept %+v", pool, now[pool], a.Counters)
			}
		}
		if text == "" {
			return counted(good("counters", "those of "+several(len(before.Pools), "pool")+" agree with a count of the jobs"), 0, "pools that differ")
		}
	}
	return counted(bad("counters", api.ResultFail, text, "on a busy server the two are read at different moments: ask again; if it stays, restart the server, and report it"), 1, "pools that differ")
}

// checkDisk looks at the room where the jobs are kept, and how long it takes until something
// is on it for good.
func (s *Server) checkDisk() []api.HealthCheck {
	dir := filepath.Dir(s.options.Database)
	var fs syscall.Statfs_t
	if s.options.Database == "" || syscall.Statfs(dir, &fs) != nil {
		return nil
	}
	checks := []api.HealthCheck{room("disk", int64(fs.Bavail)*fs.Bsize, dir, "make room: submissions are refused when the disk is full")}
	took, err := syncTime(dir)
	if err != nil {
		return append(checks, bad("sync", api.ResultFail, err.Error(), "see who owns "+dir+", and whether it can be written to"))
	}
	return append(checks, grade(api.HealthCheck{Name: "sync", Text: fmt.Sprintf("what is written is on the disk after %s", brief(took))}, took.Seconds(), "s", 0.05, 1, "each submission waits for it: use a disk that is not shared, or faster"))
}

// room judges how much of it is left.
func room(name string, free int64, dir, next string) api.HealthCheck {
	return grade(api.HealthCheck{Name: name, Text: fmt.Sprintf("%s free in %s", words.Size(free), plain.Line(dir))}, float64(free), "bytes", 1<<30, 100<<20, next)
}

// syncTime is how long it takes until a little is on the disk for good: the middle of five.
func syncTime(dir string) (time.Duration, error) {
	f, err := os.CreateTemp(dir, ".fairlead-doctor-")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	var took []time.Duration
	for i := range 5 {
		began := time.Now()
		if _, err := f.WriteAt(make([]byte, 4096), int64(i)*4096); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// checkHistory looks whether it is still taken down how the pools fare.
func (s *Server) checkHistory(ctx context.Context) []api.HealthCheck {
	if _, ok := s.options.Store.(fairlead.HistoryKeeper); !ok {
		return nil
	}
	now := time.Now()
	v, err := s.options.Loop.PoolHistory(ctx, []string{""}, now.Add(-10*time.Minute), now, 10*time.Second)
	if err != nil {
		return []api.HealthCheck{bad("history", api.ResultFail, err.Error(), "see the server's log")}
	}
	last := s.started
	if points := v.Pools[0]; len(points) > 0 {
		last = points[len(points)-1].At
	}
	age := now.Sub(last)
	return []api.HealthCheck{grade(api.HealthCheck{Name: "history", Text: fmt.Sprintf("how the pools fare was last taken down %s ago", brief(age.Round(time.Second)))}, age.Seconds(), "s", 120, 600, "see the server's log")}
}

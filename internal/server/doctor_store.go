package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
)

// checkPulse measures how soon the database answers, and how soon the scheduler sees its changes.
func (s *examiner) checkPulse(ctx context.Context) []api.HealthCheck {
	p, err := s.loop.Pulse(ctx)
	if err != nil {
		text := "does not answer: submissions are refused and nothing starts, running tasks continue; " +
			plain.Line(err.Error())
		return []api.HealthCheck{bad("database", api.ResultFail, text, "check the database and the server's log"), s.checkSteps()}
	}
	return []api.HealthCheck{
		grade(api.HealthCheck{Name: "database", Text: fmt.Sprintf("answers in %s", brief(p.Store))}, p.Store.Seconds(), "s", 0.1, 2, "check what else uses the disk or the database"),
		grade(api.HealthCheck{Name: "lag", Text: fmt.Sprintf("the scheduler caught up with the database in %s", brief(p.CaughtUp))}, p.CaughtUp.Seconds(), "s", 1, 10, "check what else uses the server's processors; fairlead top shows the steps"),
		s.checkSteps(),
	}
}

// checkSteps checks the steps of the scheduler.
func (s *examiner) checkSteps() api.HealthCheck {
	st := s.loop.Stats()
	if st.Failing {
		return bad("scheduling", api.ResultFail, plain.Line(st.LastError), "see the server's log")
	}
	c := api.HealthCheck{Name: "scheduling", Text: fmt.Sprintf("%d steps, the last took %s", st.Steps, brief(st.StepTime))}
	if ago := time.Since(st.ErrorAt); !st.ErrorAt.IsZero() && ago < 10*time.Minute {
		c.Text += fmt.Sprintf("; it failed %s ago (%s), and works now", brief(ago), plain.Line(st.LastError))
	}
	return grade(c, st.StepTime.Seconds(), "s", 0.5, 5, "a step examines changed pools and requests: check their numbers with fairlead shares and fairlead queue")
}

// brief formats a duration that is usually less than a second.
func brief(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// checkStore checks how the store is maintained.
func (s *examiner) checkStore(ctx context.Context) []api.HealthCheck {
	x, ok := s.store.(queue.Examiner)
	if !ok {
		return nil
	}
	h, err := x.Examine(ctx)
	if err != nil {
		return []api.HealthCheck{bad("tables", api.ResultFail, err.Error(), "see the server's log")}
	}
	return judgeStore(h)
}

// judgeStore reports problems in the maintenance of a store.
func judgeStore(h queue.StoreHealth) []api.HealthCheck {
	var checks []api.HealthCheck
	tables := good("tables", fmt.Sprintf("format %d, the format of this program; size %s", h.Format, words.Size(h.Bytes)))
	if h.Format != h.Known {
		tables = bad("tables", api.ResultFail, fmt.Sprintf("format %d, but this program writes format %d", h.Format, h.Known), "restart the server with the newest program that was used on this database")
	}
	checks = append(checks, tables)
	bloat := api.HealthCheck{Name: "bloat", Text: fmt.Sprintf("%s of the database is unused", words.Percent(h.Unused))}
	const small = 256 << 20 // in a smaller store half is not worth a warning
	if h.Bytes < small {
		v := h.Unused
		bloat.Result, bloat.Value, bloat.Unit = api.ResultOK, &v, "fraction"
	} else {
		bloat = grade(bloat, h.Unused, "fraction", 0.6, 0.95, "SQLite: stop the server and run VACUUM; PostgreSQL: check that autovacuum runs and that no transaction stays open")
	}
	checks = append(checks, bloat)
	if h.Log > 0 {
		checks = append(checks, grade(api.HealthCheck{Name: "write-ahead log", Text: words.Size(h.Log)}, float64(h.Log), "bytes", 512<<20, 4<<30, "a program, such as a backup, has been reading the database for a long time: let it end"))
	}
	if h.Oldest > 0 {
		checks = append(checks, grade(api.HealthCheck{Name: "open transactions", Text: "the oldest has been open for " + brief(h.Oldest)}, h.Oldest.Seconds(), "s", 600, 6*3600, "the database cannot remove rows that ended since: find the transaction in pg_stat_activity, and end it"))
	}
	if h.MaxSessions > 0 {
		checks = append(checks, grade(api.HealthCheck{Name: "sessions", Text: fmt.Sprintf("%d of %d sessions of the database are in use", h.Sessions, h.MaxSessions)}, float64(h.Sessions)/float64(h.MaxSessions), "fraction", 0.8, 0.98, "raise max_connections, or put PgBouncer in front of the database"))
	}
	if h.Feed > 0 {
		checks = append(checks, grade(api.HealthCheck{Name: "feed", Text: fmt.Sprintf("about %d changes are kept for the servers", h.Feed)}, float64(h.Feed), "changes", 2_000_000, 50_000_000, "the feed is cleared once a second: check the servers' logs, and that no transaction stays open"))
	}
	if !h.Reserve {
		checks = append(checks, bad("reserve", api.ResultWarn, "no disk space is reserved in case the disk becomes full", "free disk space; the server then restores the reserve"))
	}
	return checks
}

// checkCounters compares the stored counters with a count of the jobs, and with the scheduler's numbers.
func (s *examiner) checkCounters(ctx context.Context) api.HealthCheck {
	acc, ok := s.store.(queue.Accountant)
	if !ok {
		return good("counters", "this store has no counters")
	}
	text := ""
	for range 5 { // the counters may change during the check
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
				text = fmt.Sprintf("pool %s: recounted %+v, stored %+v", pool, now[pool], a.Counters)
			}
		}
		if text == "" {
			return counted(good("counters", "the counters of "+several(len(before.Pools), "pool")+" agree with a count of the jobs"), 0, "pools that differ")
		}
	}
	return counted(bad("counters", api.ResultFail, text, "on a busy server they may differ for a moment: run doctor again; if the difference stays, restart the server and report it"), 1, "pools that differ")
}

// judgeSums reports what the scheduler counts wrong.
func judgeSums(r engine.Recounted) api.HealthCheck {
	if len(r.Wrong) == 0 {
		return counted(good("sums", "the sums of the scheduler agree with a recount of running and waiting tasks"), 0, "sums that differ")
	}
	var parts []string
	for _, d := range r.Wrong {
		parts = append(parts, d.String())
	}
	return counted(bad("sums", api.ResultFail, plain.Line(some(parts)), "restart the server, which then recounts, and report it"), len(r.Wrong), "sums that differ")
}

// checkDisk checks the free space where the jobs are stored.
func (s *examiner) checkDisk() []api.HealthCheck {
	dir := filepath.Dir(s.database)
	var fs syscall.Statfs_t
	if s.database == "" || syscall.Statfs(dir, &fs) != nil {
		return nil
	}
	next := "free disk space: submissions are refused when the disk is full"
	return one(room("disk", int64(fs.Bavail)*fs.Bsize, dir, next))
}

// checkSync measures how long a sync to the disk takes where the jobs are stored.
func (s *examiner) checkSync() []api.HealthCheck {
	if s.database == "" {
		return nil
	}
	dir := filepath.Dir(s.database)
	took, err := syncTime(dir)
	if err != nil {
		next := "check who owns " + dir + ", and whether the server can write to it"
		return one(bad("sync", api.ResultFail, err.Error(), next))
	}
	c := api.HealthCheck{Name: "sync", Text: fmt.Sprintf("a write reaches the disk after %s", brief(took))}
	next := "each submission waits for it: use a faster disk, or one that is not shared"
	return one(grade(c, took.Seconds(), "s", 0.05, 1, next))
}

// room grades how much space is left.
func room(name string, free int64, dir, next string) api.HealthCheck {
	return grade(api.HealthCheck{Name: name, Text: fmt.Sprintf("%s free in %s", words.Size(free), plain.Line(dir))}, float64(free), "bytes", 1<<30, 100<<20, next)
}

// syncTime returns how long a small write takes until it is durable: the median of five.
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

// checkHistory checks whether the server still records how the pools fare.
func (s *examiner) checkHistory(ctx context.Context) []api.HealthCheck {
	if _, ok := s.store.(queue.HistoryKeeper); !ok {
		return nil
	}
	now := time.Now()
	v, err := s.recorder.PoolHistory(ctx, []string{""}, now.Add(-10*time.Minute), now, 10*time.Second)
	if err != nil {
		return []api.HealthCheck{bad("history", api.ResultFail, err.Error(), "see the server's log")}
	}
	last := s.started
	if points := v.Pools[0]; len(points) > 0 {
		last = points[len(points)-1].At
	}
	age := now.Sub(last)
	return []api.HealthCheck{grade(api.HealthCheck{Name: "history", Text: fmt.Sprintf("the server last recorded the pools %s ago", brief(age.Round(time.Second)))}, age.Seconds(), "s", 120, 600, "see the server's log")}
}

// checkAgents checks what the agents report about themselves. The argument "users" names the users whose jobs wait.
func checkAgents(all []patient, program string, users []string) []api.HealthCheck {
	var versions, clocks []string
	known, worst := 0, time.Duration(0)
	for _, n := range all {
		if n.Version != "" && n.Version != program {
			versions = append(versions, n.Name+" "+plain.Line(n.Version))
		}
		if n.Facts == nil {
			continue
		}
		known++
		if n.skew.Abs() > worst {
			worst = n.skew.Abs()
		}
		if n.skew.Abs() >= clockWarn {
			clocks = append(clocks, fmt.Sprintf("%s by %s", n.Name, brief(n.skew)))
		}
	}
	var checks []api.HealthCheck
	if len(versions) > 0 {
		checks = append(checks, counted(bad("versions", api.ResultWarn, "the server is "+program+"; "+some(versions), "install the same version everywhere"), len(versions), "agents"))
	}
	if known == 0 {
		return checks
	}
	skew := api.HealthCheck{Name: "agents' clocks", Text: "agree with the server's within " + brief(worst)}
	if len(clocks) > 0 {
		skew.Text = "differ from the server's: " + some(clocks)
	}
	checks = append(checks, grade(skew, worst.Seconds(), "s", clockWarn.Seconds(), time.Minute.Seconds(), "set the clocks: timedatectl set-ntp true"))
	return append(checks, checkRights(all, users), checkAgentRooms(all), checkBounds(all))
}

// checkAgentRooms checks the disks of the agents.
func checkAgentRooms(all []patient) api.HealthCheck {
	worst := api.HealthCheck{Name: "agents' disks", Result: api.ResultOK, Text: "no agent reports its free disk space"}
	least := int64(-1)
	for _, n := range all {
		if n.Facts != nil && n.Problem != "" && n.State != "down" {
			return bad(worst.Name, api.ResultFail, n.Name+": "+plain.Line(n.Problem), "check who owns the directory, and whether the agent can write to its disk: tasks fail there")
		}
		if n.Facts == nil || n.Dir == "" || n.State == "down" || least >= 0 && n.FreeBytes >= least {
			continue
		}
		least = n.FreeBytes
		worst = room("agents' disks", least, n.Dir, "free disk space: output is lost when the disk is full")
		worst.Text = "least free space: " + n.Name + ": " + worst.Text
	}
	return worst
}

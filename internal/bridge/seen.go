package bridge

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bounded"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// maxForgot is how often the bridge resubmits a task that the QS forgets.
const maxForgot = 10

// seeAll records the answers of the QS about items. It takes the lock.
func (s *state) seeAll(items []*item, statuses []Status) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var changed []*item
	for i, it := range items {
		if it.stage == sent && s.see(it, statuses[i]) {
			changed = append(changed, it)
		}
	}
	if err := s.change(changed, nil); err != nil {
		return err
	}
	s.part()
	if len(changed) > 0 {
		wait.Wake(s.signals.work)
	}
	wait.Wake(s.signals.news)
	return nil
}

// see records the answer of the QS about an item, and reports whether the ledger must save the item.
func (s *state) see(it *item, st Status) bool {
	if st.Phase != Absent {
		it.absent = 0
	}
	s.hear(it, st)
	switch st.Phase {
	case Absent:
		// A single such answer may only mean that the entry was just moving from one place to another.
		if it.absent++; it.absent < 2 && it.stop == "" {
			wait.Wake(s.signals.follow)
			return false
		}
		s.lost(it)
		return true
	case Running:
		if it.began.IsZero() {
			if it.began = st.Began; it.began.IsZero() {
				it.began = time.Now()
			}
			if s.book != nil {
				_ = s.book.Start(it.seq, time.Now()) // the book does not know jobs fed as capacity is freed
			}
			s.hold(it)
			return true
		}
	case Succeeded, Failed, Cancelled:
		s.finish(it, st)
		return true
	}
	return false
}

// hear keeps the last answer of the QS, for people.
func (s *state) hear(it *item, st Status) {
	it.unreported = it.unreported || st.Phase != it.status.Phase || it.heard.IsZero()
	it.says = it.says || st.Says != it.status.Says
	it.status, it.heard = st, time.Now()
}

// lost handles an entry that certainly is not in the QS and did not run to its end: it submits the task
// again, with a new marker.
func (s *state) lost(it *item) {
	switch {
	case it.stop != "":
		s.finish(it, Status{Phase: Cancelled, Error: it.stop})
		return
	case it.forgot >= maxForgot:
		s.finish(it, Status{
			Phase: Failed, ExitCode: -1, Error: fmt.Sprintf("%s forgot it %d times; %s", s.o.System, it.forgot+1,
				cmp.Or(it.status.Says, "it does not say why")),
		})
		return
	}
	s.log.Warn("the queueing system forgot a job; it is submitted again", "task", it.lease.Ref, "id", it.id,
		"says", it.status.Says)
	s.stale = append(s.stale, it.entry())
	it.marker, it.id, it.stage, it.submitted, it.unreported = marker(s.o.Name), "", intent, time.Now(), true
	it.forgot, it.absent = it.forgot+1, 0
	it.status = Status{}
	s.send = append(s.send, it)
}

// finish records how an entry ended.
func (s *state) finish(it *item, st Status) {
	state, how := queue.Succeeded, frontback.Done
	switch {
	case st.Phase == Failed && it.stop == "":
		state, how = queue.Failed, frontback.Failed
	case st.Phase != Succeeded:
		state, how = queue.Cancelled, frontback.Failed
		if it.stop != "" {
			st.Error = it.stop
		} else if st.Error == "" {
			st.Error = "cancelled in " + s.o.System
		}
	}
	if it.began.IsZero() {
		if it.began = st.Began; it.began.IsZero() && st.Phase != Succeeded {
			how = frontback.Withdrawn
		}
	}
	if st.Ended.IsZero() {
		st.Ended = time.Now()
	}
	used := st.Used
	if it.began.IsZero() && st.Phase == Succeeded && used != nil { // the QS did not report when it began
		it.began = st.Ended.Add(-time.Duration(used.Seconds * float64(time.Second)))
	}
	if !it.began.IsZero() {
		u := usedFor(&it.lease, s.unit, max(0, st.Ended.Sub(it.began).Seconds()))
		if used != nil {
			u = measured(u, *used)
		}
		used = &u
	}
	if s.book != nil {
		if _, err := s.book.End(it.seq, how, used, time.Now()); err != nil {
			s.log.Debug("the record of benefits has no entry for a job that ended", "task", it.lease.Ref, "error", err)
		}
	}
	it.end = &api.Finished{
		Ref: it.lease.Ref, State: string(state), ExitCode: st.ExitCode, Cause: bounded.Text(st.Error, maxCause),
		Ended: &st.Ended,
	}
	if began := it.began; !began.IsZero() {
		it.end.Began = &began
	}
	if used != nil && st.Used != nil {
		it.end.CPUSeconds = used.CPUSeconds
	}
	it.stage, it.held = ended, nil
	s.keepOutput(it, st.Output)
}

// measured returns the use of a task: the values that the QS reports and, for the others, the resources
// that the task held.
func measured(held, reported frontback.Use) frontback.Use {
	held.Seconds = cmp.Or(reported.Seconds, held.Seconds)
	held.CPUSeconds = cmp.Or(reported.CPUSeconds, held.CPUSeconds)
	held.Processes = cmp.Or(reported.Processes, held.Processes)
	held.Work = cmp.Or(reported.Work, held.Work)
	maps.Copy(held.Resources, reported.Resources)
	return held
}

// keepOutput saves the output of a task, for fairlead logs.
func (s *state) keepOutput(it *item, text string) {
	if text == "" {
		return
	}
	f, err := s.logs.Create(it.lease.JobID, it.lease.Task, it.lease.Attempt)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		s.log.Warn("could not store the output of a task", "task", it.lease.Ref, "error", err)
	}
}

// noOutput says why there is no output of an attempt. It takes the lock.
func (s *state) noOutput(ref queue.Ref) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if it := s.items[task{ref.JobID, ref.Task}]; it != nil && it.lease.Attempt == ref.Attempt && it.stage != ended {
		return "the bridge has no output of it yet: the output comes when the task has ended, if " + s.o.System + " tells it"
	}
	return "the bridge has no output of it: it printed nothing, never began, or " + s.o.System + " keeps its " +
		"output in the file that the job names"
}

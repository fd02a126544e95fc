package storetest

import (
	"errors"

	"github.com/fairlead/fairlead/queue"
)

// othersChangeWhatTheyOperate: users who are not administrators change their own jobs and the jobs of a pool that they
// operate. The pool of a job at the moment of the change counts, not an earlier pool.
func othersChangeWhatTheyOperate(s *suite) {
	j := job()
	j.Pool = "physics/ann"
	id := s.submit(j)[0]
	user := s.get(id).User
	change := func(by, within string, v queue.Verb) error {
		s.t.Helper()
		errs, err := s.Alter(s.ctx, []queue.Alteration{{Job: id, Verb: v, By: by, Within: within, Pool: "biology/ann"}})
		s.must(err)
		return errs[0]
	}
	for _, within := range []string{"", "biology", "physics/an", "physics/ann/x", "chemistry biology"} {
		for _, v := range []queue.Verb{queue.VerbHold, queue.VerbCancel, queue.VerbMove, queue.VerbRequeue} {
			if err := change("lea", within, v); !errors.Is(err, queue.ErrForbidden) {
				s.t.Errorf("%s of a job in %s by one who operates %q: %v", v, j.Pool, within, err)
			}
		}
	}
	s.must(change("lea", "biology physics", queue.VerbHold))
	if err := change(user, "", queue.VerbRelease); !errors.Is(err, queue.ErrForbidden) {
		s.t.Errorf("its user releases what an operator holds: %v", err)
	}
	s.must(change("lea", "physics", queue.VerbRelease))
	s.must(change(user, "", queue.VerbMove))
	if err := change("lea", "physics", queue.VerbCancel); !errors.Is(err, queue.ErrForbidden) || s.get(id).Cancel {
		s.t.Errorf("it has gone to another pool meanwhile: %v", err)
	}
	s.must(change(user, "", queue.VerbCancel))
}

package storetest

import (
	"errors"
	"strings"

	"github.com/fairlead/fairlead/queue"
)

// as makes an alteration of one job as a user.
func (s *suite) as(by string, admin bool, id int64, v queue.Verb, cause string) error {
	s.t.Helper()
	errs, err := s.Alter(s.ctx, []queue.Alteration{{Job: id, Verb: v, By: by, Admin: admin, Cause: cause}})
	s.must(err)
	return errs[0]
}

// holdsHaveOwners: a hold is stored with its user and its reason. Only an administrator releases an administrator's
// hold.
func holdsHaveOwners(s *suite) {
	id := s.submit(job())[0]
	heldBy := func(who, reason string) {
		s.t.Helper()
		if j := s.get(id); j.HeldBy != who || j.HeldWhy != reason || j.Held != (who != "") {
			s.t.Errorf("held %v by %q: %q, want by %q: %q", j.Held, j.HeldBy, j.HeldWhy, who, reason)
		}
	}
	forbidden := func(err error, words ...string) {
		s.t.Helper()
		if !errors.Is(err, queue.ErrForbidden) {
			s.t.Fatalf("it is released: %v", err)
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				s.t.Errorf("the answer %q lacks %q", err, w)
			}
		}
	}
	s.must(s.as("ann", false, id, queue.VerbHold, "not yet"))
	heldBy("ann", "not yet")
	s.must(s.as("ann", false, id, queue.VerbRelease, ""))
	heldBy("", "")

	s.must(s.as("ann", false, id, queue.VerbHold, ""))
	s.must(s.as("root", true, id, queue.VerbHold, "it fills the disk")) // takes it over
	heldBy("root", "it fills the disk")
	forbidden(s.as("ann", false, id, queue.VerbRelease, ""), "root", "it fills the disk", "ask root")
	if err := s.as("ann", false, id, queue.VerbHold, "mine"); !errors.Is(err, queue.ErrState) {
		s.t.Errorf("the user takes it over: %v", err)
	}
	s.must(s.as("ann", false, id, queue.VerbCancel, ""))
	s.must(s.as("ann", false, id, queue.VerbUncancel, ""))
	heldBy("root", "it fills the disk")
	s.must(s.as("ann", false, id, queue.VerbCancel, ""))
	s.must(s.as("ann", false, id, queue.VerbRequeue, ""))
	heldBy("root", "it fills the disk")
	forbidden(s.as("ann", false, id, queue.VerbRelease, ""))
	s.must(s.as("eve", true, id, queue.VerbRelease, "")) // another administrator
	s.state(id, queue.Waiting)
	heldBy("", "")

	s.must(s.alter(id, queue.VerbHold)) // without a user: the program itself
	s.must(s.as("ann", false, id, queue.VerbRelease, ""))
	id = s.submit(job(func(j *queue.Job) { j.Held = true }))[0]
	heldBy("ann", "")
	s.must(s.as("ann", false, id, queue.VerbRelease, ""))
	heldBy("", "")
}

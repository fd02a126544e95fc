package server

import (
	"errors"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// newcomer returns the error for a user of this machine who has no pool yet. It says into which pool a job of the
// user would go or, if no pool is open to the user, who can open one. For other names it returns err.
func newcomer(shares *allocation.Config, known *names, name string, err error) error {
	if !errors.Is(err, queue.ErrNotFound) {
		return err
	}
	groups, unknown := known.groupsOf(name)
	if unknown != nil || groups == nil {
		return err
	}
	j := queue.Job{User: name, Group: groups[0]}
	by := &access.Principal{Kind: access.User, Name: name, Groups: groups}
	if refused := shares.Settle(&j, allocation.Naming{By: by}); refused != nil {
		return queue.Missingf("%s has no pool and no jobs: %v", name, refused)
	}
	return queue.Missingf("%s has no jobs yet: nothing waits; a job of %[1]s would go into %s", name,
		share.Original(j.Pool))
}

package server

import (
	"errors"
	"fmt"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// newcomer explains the wait of a user of this machine who has no pool yet: where a job would go, or who can change that
// there is no place. For other names it returns err.
func (s *whyService) newcomer(name string, err error) error {
	if !errors.Is(err, queue.ErrNotFound) {
		return err
	}
	groups, unknown := s.names.groupsOf(name)
	if unknown != nil || groups == nil {
		return err
	}
	j := queue.Job{User: name, Group: groups[0]}
	by := &access.Principal{Kind: access.User, Name: name, Groups: groups}
	shares := s.loop.Client().Shares.Load()
	if refused := shares.Settle(&j, allocation.Naming{By: by}); refused != nil {
		return &queue.Missing{Msg: fmt.Sprintf("%s has no pool and no jobs: %v", name, refused)}
	}
	return &queue.Missing{Msg: fmt.Sprintf("%s has no jobs yet: nothing waits; a job of %[1]s would go into %s", name,
		share.Original(j.Pool))}
}

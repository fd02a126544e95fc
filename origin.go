package fairlead

import "github.com/fairlead/fairlead/share"

// PoolFor is the pool into which a job goes that names none, by the placement rules, or
// why there is none for it.
func (s *Shares) PoolFor(o share.Origin) (string, error) {
	j := Job{User: o.User, Group: o.Group, Kind: o.Kind, Requestor: o.Requestor}
	if err := s.settle(&j); err != nil {
		return "", err
	}
	return j.Pool, nil
}

// NormalPriority is the index of the priority of a job that names none.
func (s *Shares) NormalPriority() int {
	i, _ := s.priority(s.defaultPriority())
	return i
}

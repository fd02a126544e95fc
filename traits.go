package fairlead

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// Traits are what of a job counts for its priority under the policy multifactor, beside
// its request and its age. A job that names no quality of service has the one that is
// called like its priority: so a priority means something there, too.
func (s *Shares) Traits(h Header) sched.Traits {
	t := sched.Traits{QOS: h.QOS, Nice: h.Nice}
	if t.QOS == "" && slices.Contains(s.Levels, h.Priority) {
		t.QOS = h.Priority
	}
	if s.Site != nil {
		t.Site = s.Site.Value(share.Origin{User: h.User, Group: h.Group, Kind: h.Kind, Requestor: h.Requestor})
	}
	if s.Sched.Multifactor.RelativeToTime {
		t.Minutes = h.Limit.Minutes()
	}
	return t
}

// checkQOS refuses a quality of service that is not configured.
func (s *Shares) checkQOS(name string) error {
	switch {
	case name == "" || slices.Contains(s.Levels, name):
		return nil
	case len(s.Levels) == 0:
		return invalid("qos", "%q is not known: the configuration names no quality of service (multifactor: qos)", name)
	}
	return invalid("qos", "%q is not a quality of service; known: %s", name, strings.Join(s.Levels, ", "))
}

// checkNice refuses what is out of range.
func checkNice(nice int) error {
	if nice < -sched.MaxNice || nice > sched.MaxNice {
		return invalid("nice", "must be from %d to %d, got %d", -sched.MaxNice, sched.MaxNice, nice)
	}
	return nil
}

// checkRaise refuses a change of priority that changes nothing, or to what is not known.
func (s *Shares) checkRaise(a Alteration) error {
	if a.Priority == "" && a.QOS == nil && a.Nice == nil {
		return invalid("priority", "is missing: a priority, a quality of service or how nice the job is")
	}
	if _, ok := s.priority(a.Priority); a.Priority != "" && !ok {
		return invalid("priority", "%q is not a priority; known: %s", a.Priority, strings.Join(s.priorities(), ", "))
	}
	if a.QOS != nil {
		if err := s.checkQOS(*a.QOS); err != nil {
			return err
		}
	}
	if a.Nice != nil {
		return checkNice(*a.Nice)
	}
	return nil
}

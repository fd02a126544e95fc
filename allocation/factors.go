package allocation

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// Factors returns the factors of a job's priority under the policy multifactor, except its request and its age. A job
// that names no quality of service has the one with the name of its priority, so that a priority has an effect there
// too.
func (c *Config) Factors(h queue.Header) sched.Factors {
	t := sched.Factors{QOS: h.QOS, Nice: h.Nice}
	if t.QOS == "" && slices.Contains(c.Levels, h.Priority) {
		t.QOS = h.Priority
	}
	if c.Site != nil {
		t.Site = c.Site.Value(share.Origin{User: h.User, Group: h.Group, Kind: h.Kind, Requestor: h.Requestor})
	}
	if c.Sched.Multifactor.RelativeToTime {
		t.Minutes = h.Limit.Minutes()
	}
	return t
}

// checkQOS refuses a quality of service that is not configured.
func (c *Config) checkQOS(name string) error {
	switch {
	case name == "" || slices.Contains(c.Levels, name):
		return nil
	case len(c.Levels) == 0:
		return queue.Invalidf("qos",
			"there is no quality of service %q: the configuration defines none (multifactor.qos)", name)
	}
	return queue.Invalidf("qos", "%q is not a quality of service; known: %s", name, strings.Join(c.Levels, ", "))
}

// CheckRaise refuses a change of priority that changes nothing, or that names an unknown priority.
func (c *Config) CheckRaise(a queue.Alteration) error {
	if a.Priority == "" && a.QOS == nil && a.Nice == nil {
		return queue.Invalidf("priority", "is missing: give a priority, a quality of service or a nice value")
	}
	if _, ok := c.Priority(a.Priority); a.Priority != "" && !ok {
		return queue.Invalidf("priority", "%q is not a priority; known: %s", a.Priority, strings.Join(c.Priorities(), ", "))
	}
	if a.QOS != nil {
		if err := c.checkQOS(*a.QOS); err != nil {
			return err
		}
	}
	if a.Nice != nil {
		return queue.CheckNice(*a.Nice)
	}
	return nil
}

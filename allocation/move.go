package allocation

import (
	"cmp"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/queue"
)

// SettleMove decides into which pool a moved job goes, and with which time limit. The same rules apply as if the user
// who asks submitted the job there with the limit of the change, or else with its present one.
func (c *Config) SettleMove(j *queue.Job, a *queue.Alteration, n Naming) error {
	if a.Pool == "" {
		return queue.Invalidf("pool", "the name of the new pool is missing; the job is in %s", j.Pool)
	}
	if n.By == nil && a.By != "" && !a.Admin {
		n.By = &access.Principal{Kind: access.User, Name: a.By}
	}
	n.In, n.Priority, n.QOS = j.Pool, j.Priority, j.QOS
	to := queue.Job{
		Pool: a.Pool, User: j.User, Group: j.Group, Kind: j.Kind, Requestor: cmp.Or(j.Requestor, j.User),
		Limit: cmp.Or(a.Limit, j.Limit), Priority: j.Priority, QOS: j.QOS,
	}
	if err := c.settlePool(&to, n); err != nil {
		return err
	}
	if err := cmp.Or(c.checkRights(&to, n), c.settleLimit(&to)); err != nil {
		return err
	}
	a.Pool, a.Limit = to.Pool, to.Limit
	return nil
}

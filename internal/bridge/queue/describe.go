package queue

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead/frontback"
)

// Describe reports whether the pool in the other queue obeys priorities, which depends on its policy.
func (q *Queue) Describe(ctx context.Context) (frontback.Queue, error) {
	out := frontback.Queue{Name: "the queue at " + q.o.Address, Lowest: 0, Highest: int64(len(q.o.Levels) - 1)}
	shares, err := q.client.Pools.Shares(ctx, "")
	if err != nil {
		return out, q.explain(err)
	}
	for _, p := range shares.Pools {
		if p.Path != q.o.Pool {
			continue
		}
		switch p.Policy {
		case "fifo":
			out.Ages, out.Obeys = frontback.No, frontback.Yes
		case "multifactor":
			out.Ages, out.Obeys = frontback.Yes, frontback.Unknown
		default:
			out.Ages, out.Obeys = frontback.No, frontback.Yes
			out.Found = append(out.Found, frontback.Doubt{
				Broken: true,
				Text: fmt.Sprintf("the other server's pool %s has the policy %s, under which priorities do not decide "+
					"between users: give it `policy: fifo` in the file of that server", q.o.Pool, p.Policy),
			})
		}
		return out, nil
	}
	out.Ages, out.Obeys = frontback.No, frontback.Yes
	out.Found = append(out.Found, frontback.Doubt{
		Broken: true,
		Text: fmt.Sprintf("the other server has no pool %s: add `%s: {policy: fifo}` to its pools, or name "+
			"another with --pool", q.o.Pool, q.o.Pool),
	})
	return out, nil
}

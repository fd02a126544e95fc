package foreign

import (
	"regexp"
	"slices"

	"github.com/fairlead/fairlead/share"
)

// place sends each user to the pool of the default account, or of the only account.
func (s *slurm) place(d *document) {
	byAccount := map[*pool][]string{}
	var accounts []*pool
	for _, user := range s.order {
		p := s.homeOf(user)
		switch {
		case p == nil:
			s.add(s.users[user][0].line, "user "+plainText(user, 60), "placement", "", Left,
				"the user has several accounts and no default: the user's jobs have to name their pool (submit -A), or add a rule")
		case plainText(user, share.MaxExpression/4) != user:
			s.add(s.users[user][0].line, "user "+plainText(user, 60), "placement", "", Left,
				"a rule cannot hold this name; the user's jobs have to name their pool (submit -A)")
		case p.name != user || share.UserPool(user) != user: // the template would make another pool for this name
			d.rules = append(d.rules, rule{user: regexp.QuoteMeta(user), pool: p.path()})
		default:
			if byAccount[p.above] == nil {
				accounts = append(accounts, p.above)
			}
			byAccount[p.above] = append(byAccount[p.above], regexp.QuoteMeta(user))
		}
	}
	for _, a := range accounts {
		slices.Sort(byAccount[a])
		for _, expr := range alternatives(byAccount[a]) {
			d.rules = append(d.rules, rule{user: expr, pool: share.Join(a.path(), "{user}")})
		}
	}
	if lost := len(d.rules) - maxRules; lost > 0 {
		d.rules = d.rules[:maxRules]
		s.add(s.root.line, "the dump", "placement", "", Left,
			"a file has at most %d rules, and %d are left out; jobs of their users have to name their pool (submit -A)", maxRules, lost)
	}
}

// homeOf returns the pool for jobs of a user that name no pool.
func (s *slurm) homeOf(user string) *pool {
	all := s.users[user]
	account := s.home[user]
	for _, p := range all {
		if account != "" && p.above == s.account[account] {
			return p
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return nil
}

func (s *slurm) head(name, policy string) []string {
	from := "a dump of Slurm's accounts"
	if s.cluster != "" {
		from += " of the cluster " + plainText(s.cluster, 60)
	}
	head := []string{"Converted from " + plainText(name, 200) + ", " + from +
		", by fairlead config import. The report of that command lists the differences."}
	if policy == "fairtree" {
		head = append(head, "fairtree orders pools as Slurm's Fair Tree does. If accounts tie, compat: slurm orders them as Slurm's program does. For PriorityFlags=NO_FAIR_TREE and for age, size and QOS see the policy multifactor.")
	} else {
		head = append(head, "This version has no policy fairtree; fair divides by the same weights at each level.")
	}
	head = append(head,
		"half_life is PriorityDecayHalfLife of slurm.conf, which is not in a dump. The default of both is 7d.",
		"A job without a pool (submit -A) goes to its user's pool below the default account. A user who is not listed is refused: pools_on_demand is false, and there is no pool default.")
	return head
}

package foreign

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// unusedSlurm are settings of associations that have no counterpart, with what to do
// instead.
var unusedSlurm = map[string]string{
	"maxtres":           "the request of one job is not limited; one that fits no node waits, and submit says so",
	"maxtresperjob":     "the request of one job is not limited; one that fits no node waits, and submit says so",
	"maxtrespernode":    "the request of one job is not limited; one that fits no node waits, and submit says so",
	"maxcpus":           "the request of one job is not limited; one that fits no node waits, and submit says so",
	"maxcpusperjob":     "the request of one job is not limited; one that fits no node waits, and submit says so",
	"maxnodesperjob":    "a job runs on one node",
	"maxsubmitjobs":     "how many jobs wait is not limited: they cost a user nothing and take nobody's turn",
	"grpsubmitjobs":     "how many jobs wait is not limited: they cost a user nothing and take nobody's turn",
	"grptresmins":       "there are no budgets that are used up; a pool that used much waits for those that used less, and half_life says how long that is remembered",
	"grpcpumins":        "there are no budgets that are used up; a pool that used much waits for those that used less, and half_life says how long that is remembered",
	"grpwall":           "there are no budgets that are used up; a pool that used much waits for those that used less, and half_life says how long that is remembered",
	"grptresrunmins":    "there is no limit by time limits; max limits what runs at once",
	"maxtresminsperjob": "size times time of a job is not limited; max_time limits its time",
	"maxtresmins":       "size times time of a job is not limited; max_time limits its time",
	"grpnodes":          "nodes are not counted; limit cpu, mem or gpu with max",
	"grpjobsaccrue":     "how many jobs grow old is not limited",
	"maxjobsaccrue":     "how many jobs grow old is not limited",
	"minpriothreshold":  "there is no priority to compare it with",
	"minpriothresh":     "there is no priority to compare it with",
	"adminlevel":        "there are no administrators beside root, and the user that runs the server",
	"coordinator":       "nobody but the administrator changes a pool in this version",
	"priority":          "it counts under the policy multifactor only: give the pool an assoc_factor from 0 to 1 there, or a larger weight",
	"partition":         "there are no partitions, so the pool is for all nodes",
	"grptresrunsecs":    "there is no limit by time limits; max limits what runs at once",
}

// needlessSlurm are settings that say nothing for shares.
var needlessSlurm = map[string]string{
	"description":    "it is the comment of the pool",
	"organization":   "it is for people",
	"fairshare":      "nothing is beside a cluster",
	"classification": "it is for people",
	"defaultwckey":   "there are no wckeys",
	"wckeys":         "there are no wckeys",
	"parent":         "the tree says it",
}

func (s *slurm) other(line int, where string, x setting) {
	name := strings.ToLower(x.name)
	switch {
	case (name == "qos" || name == "defaultqos") && x.value == "normal":
		s.add(line, where, x.name, x.value, Needless, "it is the only one")
	case name == "qos" || name == "defaultqos":
		s.add(line, where, x.name, x.value, Left, "a dump does not say what a QOS means: limits go to pools, and what it adds to a priority to qos of the policy multifactor")
	case name == "adminlevel" && strings.EqualFold(x.value, "none"):
		s.add(line, where, x.name, x.value, Needless, "it is nothing special")
	case needlessSlurm[name] != "":
		s.add(line, where, x.name, x.value, Needless, "%s", needlessSlurm[name])
	case unusedSlurm[name] != "":
		s.add(line, where, x.name, x.value, Left, "%s", unusedSlurm[name])
	default:
		s.add(line, where, x.name, x.value, Left, "it is not known")
	}
}

// place sends each user to the pool of the default account, or to the only one.
func (s *slurm) place(d *document) {
	byAccount := map[*pool][]string{}
	var accounts []*pool
	for _, user := range s.order {
		p := s.homeOf(user)
		switch {
		case p == nil:
			s.add(s.users[user][0].line, "user "+plainText(user, 60), "placement", "", Left,
				"there are several accounts and none of them is the default: jobs have to name their pool (submit -A), or add a rule")
		case plainText(user, share.MaxExpression/4) != user:
			s.add(s.users[user][0].line, "user "+plainText(user, 60), "placement", "", Left, "no rule can be written for this name; jobs have to name their pool (submit -A)")
		case p.name != user:
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
		s.add(s.root.line, "the dump", "placement", "", Left, "there would be more than %d rules, %d too many; the users of the last ones have to name their pool (submit -A)", maxRules, lost)
	}
}

// homeOf is the pool to which jobs of a user go that name none.
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
	head := []string{"Taken over from " + plainText(name, 200) + ", " + from + ", by fairlead config import. The report that came with it says what differs."}
	if policy == "fairtree" {
		head = append(head, "fairtree orders pools as Slurm's fair tree does. compat: slurm below policy gives Slurm's own order where accounts are tied. For PriorityFlags=NO_FAIR_TREE and for age, size and QOS see the policy multifactor.")
	} else {
		head = append(head, "This version has no policy fairtree; fair divides by the same weights at each level.")
	}
	head = append(head,
		"half_life is PriorityDecayHalfLife of slurm.conf, which is not in a dump. Both are 7d if nothing is said.",
		"A job without a pool (submit -A) goes to its user's pool below the default account. A user who is not listed is refused: pools_on_demand is false, and there is no pool default.")
	return head
}

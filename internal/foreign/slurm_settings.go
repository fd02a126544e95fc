package foreign

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// parentShare is the number in a dump that means Fairshare=parent.
const parentShare = "2147483647"

// slurm makes pools from accounts and their users.
type slurm struct {
	notes
	can     Features
	root    *pool
	account map[string]*pool
	parent  *pool // parent of the current lines; nil if it was not taken over
	cluster string

	jobs  map[*pool]int      // MaxJobs of an account: the limit of each of its users
	users map[string][]*pool // the pools of a user, in the order of the dump
	home  map[string]string  // the default account of a user
	line  map[string]int     // line that names the default account of a user
	order []string           // users in the order of the dump
	kept  map[*pool]string   // account of the pool of a user
	seen  map[[2]string]int  // line of a user in an account
	heirs []*pool            // accounts with the share of their parent
}

func (s *slurm) settings(p *pool, e *entry, where string) {
	for _, x := range e.settings {
		name := strings.ToLower(x.name)
		switch {
		case x.value == "" || x.value == "-1":
			s.add(e.line, where, x.name, x.value, Needless, "it is not set")
		case name == "fairshare" && !p.isRoot():
			s.weight(p, e.line, where, x)
		case name == "grptres":
			s.limits(p, e.line, where, x)
		case name == "grpcpus" || name == "grpcpu":
			s.limits(p, e.line, where, setting{x.name, "cpu=" + x.value})
		case name == "grpmemory" || name == "grpmem":
			s.limits(p, e.line, where, setting{x.name, "mem=" + x.value})
		case name == "grpjobs" || name == "maxjobs":
			s.jobLimit(p, e.line, where, x)
		case name == "maxwall" || name == "maxwalldurationperjob":
			s.timeLimit(p, e.line, where, x)
		case name == "defaultaccount":
			s.add(e.line, where, x.name, x.value, Taken, "")
		default:
			s.other(e.line, where, x)
		}
	}
}

func (s *slurm) weight(p *pool, line int, where string, x setting) {
	w, err := strconv.ParseFloat(x.value, 64)
	switch {
	case x.value == parentShare || strings.EqualFold(x.value, "parent"):
		if p.parent {
			s.heirs = append(s.heirs, p)
			s.add(line, where, x.name, "parent", Changed,
				"an account has its own weight here: the sum of the weights below it, so that their shares stay the same")
			return
		}
		p.weight = "1"
		s.add(line, where, x.name, "parent", Changed,
			"a user has their own weight here: 1, compared with the weights of the other users in the account")
	case err == nil && w == 0 && s.can.ZeroWeight && s.can.Policies["fairtree"]:
		p.weight = "0"
		s.add(line, where, x.name, x.value, Taken, "")
	case err == nil && w == 0:
		p.weight = leftovers
		s.add(line, where, x.name, x.value, Changed,
			"a weight must be above 0 here; with %s the pool gets little more than other pools leave unused", leftovers)
	case err != nil || share.CheckWeight(w) != nil:
		s.add(line, where, x.name, x.value, Left, "it is not a number above 0, so the weight is 1")
	default:
		p.weight = strconv.FormatFloat(w, 'f', -1, 64)
		s.add(line, where, x.name, x.value, Taken, "")
	}
}

// limits reads GrpTRES=cpu=64,gres/gpu=4,mem=256G.
func (s *slurm) limits(p *pool, line int, where string, x setting) {
	if p.isRoot() {
		s.add(line, where, x.name, x.value, Left,
			"the root has no limits here; limit the resources that agents offer (fairlead work --cpus, --mem), or put all pools below one pool with this limit")
		return
	}
	for one := range strings.SplitSeq(x.value, ",") {
		tres, value, _ := strings.Cut(one, "=")
		resource := map[string]string{"cpu": "cpu", "mem": "mem", "gres/gpu": "gpu"}[tres]
		m := memory.FindStringSubmatch(value)
		if resource == "mem" && m != nil && m[2] == "" {
			value += "M"
		}
		n, err := units.ParseSize(value)
		switch {
		case value == "-1":
			s.add(line, where, x.name, one, Needless, "it means no limit")
		case strings.HasPrefix(tres, "license/"):
			s.add(line, where, x.name, one, Left,
				"a pool does not limit licenses; the field licenses at the top of the file limits them for the whole cluster")
		case resource == "":
			s.add(line, where, x.name, one, Left,
				"pools do not count %s; limit cpu, mem or gpu, or a resource that your agents offer (fairlead work --resource)", plainText(tres, 40))
		case m == nil || err != nil || n > maxAmount:
			s.add(line, where, x.name, one, Left, "it is not an amount")
		default:
			if p.max == nil {
				p.max = map[string]int64{}
			}
			p.max[resource] = n
			s.add(line, where, x.name, one, Taken, "")
		}
	}
}

// jobLimit reads GrpJobs, which limits an account as a whole, and MaxJobs, which limits each user.
func (s *slurm) jobLimit(p *pool, line int, where string, x setting) {
	n, err := strconv.Atoi(x.value)
	group := strings.EqualFold(x.name, "grpjobs")
	switch {
	case err != nil || n < 0 || n > 1_000_000_000:
		s.add(line, where, x.name, x.value, Left, "it is not a number of jobs")
	case group && p.isRoot():
		s.add(line, where, x.name, x.value, Left,
			"the root has no limits here; put all pools below one pool with this limit")
	case group || s.kept[p] != "":
		if p.running < 0 || n < p.running {
			p.running = n
		}
		s.add(line, where, x.name, x.value, Changed,
			"max_running: %d counts tasks: a job of several tasks counts several times", n)
	default:
		s.jobs[p] = n
		s.add(line, where, x.name, x.value, Changed,
			"max_running: %d for each user below; it counts tasks: a job of several tasks counts several times", n)
	}
}

func (s *slurm) other(line int, where string, x setting) {
	name := strings.ToLower(x.name)
	switch {
	case (name == "qos" || name == "defaultqos") && x.value == "normal":
		s.add(line, where, x.name, x.value, Needless, "it is the only QOS by default")
	case name == "qos" || name == "defaultqos":
		s.add(line, where, x.name, x.value, Left,
			"a dump has only the names of QOS: give their limits to pools, and their priorities to qos of the policy multifactor")
	case name == "adminlevel" && strings.EqualFold(x.value, "none"):
		s.add(line, where, x.name, x.value, Needless, "it gives no rights")
	case needlessSlurm[name] != "":
		s.add(line, where, x.name, x.value, Needless, "%s", needlessSlurm[name])
	case unusedSlurm[name] != "":
		s.add(line, where, x.name, x.value, Left, "%s", unusedSlurm[name])
	default:
		s.add(line, where, x.name, x.value, Left, "unknown setting")
	}
}

// timeLimit reads MaxWall, in minutes. In Slurm the limit nearest to the user counts, here the smallest on
// the path.
func (s *slurm) timeLimit(p *pool, line int, where string, x setting) {
	d, err := units.ParseTimeLimit(x.value)
	if err != nil || d <= 0 || d > queue.MaxLimit {
		s.add(line, where, x.name, x.value, Left, "it is not a time limit from a minute to ten years")
		return
	}
	for a := p.above; a != nil; a = a.above {
		if a.maxTime > 0 && a.maxTime < d {
			s.add(line, where, x.name, x.value, Changed,
				"it is above the max_time %s of %s, which limits all pools below it; to use this limit, raise the max_time of that pool", a.time(), plainText(a.where, 60))
			return
		}
	}
	p.maxTime = d
	s.add(line, where, x.name, x.value, Changed,
		"max_time: %s; a job that asks for more is refused, and a job without a time limit gets this limit", p.time())
}

var memory = regexp.MustCompile(`^([0-9]+)([KMGTPkmgtp]?)$`)

// unusedSlurm are settings of associations without a counterpart, with the alternatives.
var unusedSlurm = map[string]string{
	"maxtres":           "a pool does not limit the request of one job alone; submit refuses a job that fits no node",
	"maxtresperjob":     "a pool does not limit the request of one job alone; submit refuses a job that fits no node",
	"maxtrespernode":    "a pool does not limit the request of one job alone; submit refuses a job that fits no node",
	"maxcpus":           "a pool does not limit the request of one job alone; submit refuses a job that fits no node",
	"maxcpusperjob":     "a pool does not limit the request of one job alone; submit refuses a job that fits no node",
	"maxnodesperjob":    "a pool does not limit the nodes of a job; max limits the resources in use at once",
	"maxsubmitjobs":     "set user_limits.jobs, which limits the waiting jobs of each user",
	"grpsubmitjobs":     "set user_limits.jobs, which limits the waiting jobs of each user",
	"grptresmins":       "there are no budgets: a pool with much usage waits for pools with less, and half_life sets how fast usage decays",
	"grpcpumins":        "there are no budgets: a pool with much usage waits for pools with less, and half_life sets how fast usage decays",
	"grpwall":           "there are no budgets: a pool with much usage waits for pools with less, and half_life sets how fast usage decays",
	"grptresrunmins":    "the time that running jobs may still use is not limited; max limits the resources in use at once",
	"maxtresminsperjob": "the product of size and time of a job is not limited; max_time limits its time",
	"maxtresmins":       "the product of size and time of a job is not limited; max_time limits its time",
	"grpnodes":          "pools do not count nodes; limit cpu, mem or gpu with max",
	"grpjobsaccrue":     "all waiting jobs age; their number is not limited",
	"maxjobsaccrue":     "all waiting jobs age; their number is not limited",
	"minpriothreshold":  "planned starts need no minimum priority",
	"minpriothresh":     "planned starts need no minimum priority",
	"adminlevel":        "name administrators in access.admin",
	"coordinator":       "name the operators of the pool in access.operator",
	"priority":          "only the policy multifactor counts it: give the pool an assoc_factor from 0 to 1 there, or a larger weight",
	"partition":         "there are no partitions: the pool is for all nodes",
	"grptresrunsecs":    "the time that running jobs may still use is not limited; max limits the resources in use at once",
}

// needlessSlurm are settings that do not affect shares.
var needlessSlurm = map[string]string{
	"description":    "it is the comment of the pool",
	"organization":   "it has no effect in Slurm either",
	"fairshare":      "a cluster has no siblings",
	"classification": "it has no effect in Slurm either",
	"defaultwckey":   "there are no wckeys",
	"wckeys":         "there are no wckeys",
	"parent":         "the tree of pools shows it",
}

// time returns the time limit as in a configuration, or "" for none.
func (p *pool) time() string {
	if p.maxTime == 0 {
		return ""
	}
	return units.FormatDuration(p.maxTime)
}

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
			s.add(e.line, where, x.name, x.value, Needless, "it says nothing")
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
				"an account has a weight of its own here: the sum of those below it, so that these come to the same")
			return
		}
		p.weight = "1"
		s.add(line, where, x.name, "parent", Changed,
			"a user has a weight of their own here: 1, beside those of the other users in the account")
	case err == nil && w == 0 && s.can.ZeroWeight && s.can.Policies["fairtree"]:
		p.weight = "0"
		s.add(line, where, x.name, x.value, Taken, "")
	case err == nil && w == 0:
		p.weight = leftovers
		s.add(line, where, x.name, x.value, Changed,
			"a weight is above 0 here; with %s it gets next to nothing but what the others leave", leftovers)
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
			"the root has no limits here; limit what the agents offer (fairlead work --cpus, --mem), or put the pools below one pool that has the limit")
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
			s.add(line, where, x.name, one, Needless, "it is no limit")
		case strings.HasPrefix(tres, "license/"):
			s.add(line, where, x.name, one, Left,
				"a pool's part of a license is not limited; the licenses as a whole are, with licenses at the top of the file")
		case resource == "":
			s.add(line, where, x.name, one, Left,
				"%s is not counted here; limit cpu, mem or gpu, or a resource that your agents offer (fairlead work --resource)", plainText(tres, 40))
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
			"the root has no limits here; put the pools below one pool that has the limit")
	case group || s.kept[p] != "":
		if p.running < 0 || n < p.running {
			p.running = n
		}
		s.add(line, where, x.name, x.value, Changed, "max_running: %d counts tasks; a job that has several counts as many", n)
	default:
		s.jobs[p] = n
		s.add(line, where, x.name, x.value, Changed,
			"max_running: %d for each user below; it counts tasks, and a job that has several counts as many", n)
	}
}

func (s *slurm) other(line int, where string, x setting) {
	name := strings.ToLower(x.name)
	switch {
	case (name == "qos" || name == "defaultqos") && x.value == "normal":
		s.add(line, where, x.name, x.value, Needless, "it is the only one")
	case name == "qos" || name == "defaultqos":
		s.add(line, where, x.name, x.value, Left,
			"a dump does not say what a QOS means: limits go to pools, and what it adds to a priority to qos of the policy multifactor")
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
				"it is above the max_time %s of %s, which counts for all below; raise that one if this is to hold", a.time(), plainText(a.where, 60))
			return
		}
	}
	p.maxTime = d
	s.add(line, where, x.name, x.value, Changed,
		"max_time: %s; a job that asks for more is refused at once, and one that names no limit gets this one", p.time())
}

var memory = regexp.MustCompile(`^([0-9]+)([KMGTPkmgtp]?)$`)

// unusedSlurm are settings of associations without a counterpart, with the alternatives.
var unusedSlurm = map[string]string{
	"maxtres":           "the request of one job is not limited; one that fits no node waits, and submit says so",
	"maxtresperjob":     "the request of one job is not limited; one that fits no node waits, and submit says so",
	"maxtrespernode":    "the request of one job is not limited; one that fits no node waits, and submit says so",
	"maxcpus":           "the request of one job is not limited; one that fits no node waits, and submit says so",
	"maxcpusperjob":     "the request of one job is not limited; one that fits no node waits, and submit says so",
	"maxnodesperjob":    "a job runs on one node",
	"maxsubmitjobs":     "how many jobs wait is not limited: they cost a user nothing and take nobody's turn",
	"grpsubmitjobs":     "how many jobs wait is not limited: they cost a user nothing and take nobody's turn",
	"grptresmins":       "there are no budgets that are used up; a pool with much usage waits for pools with less, and half_life says how long usage is remembered",
	"grpcpumins":        "there are no budgets that are used up; a pool with much usage waits for pools with less, and half_life says how long usage is remembered",
	"grpwall":           "there are no budgets that are used up; a pool with much usage waits for pools with less, and half_life says how long usage is remembered",
	"grptresrunmins":    "there is no limit by time limits; max limits the resources in use at once",
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
	"grptresrunsecs":    "there is no limit by time limits; max limits the resources in use at once",
}

// needlessSlurm are settings that do not affect shares.
var needlessSlurm = map[string]string{
	"description":    "it is the comment of the pool",
	"organization":   "it is for people",
	"fairshare":      "nothing is beside a cluster",
	"classification": "it is for people",
	"defaultwckey":   "there are no wckeys",
	"wckeys":         "there are no wckeys",
	"parent":         "the tree says it",
}

// time returns the time limit as in a configuration, or "" for none.
func (p *pool) time() string {
	if p.maxTime == 0 {
		return ""
	}
	return units.FormatDuration(p.maxTime)
}

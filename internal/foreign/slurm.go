package foreign

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/share"
)

// parentShare is how a dump writes Fairshare=parent.
const parentShare = "2147483647"

// slurm makes pools of accounts and of the users below them.
type slurm struct {
	notes
	can     Features
	root    *pool
	account map[string]*pool
	parent  *pool // below which the lines at hand are; nil if it could not be taken over
	cluster string

	jobs  map[*pool]int      // MaxJobs of an account: of each of its users
	users map[string][]*pool // the pools of a user, in the order of the dump
	home  map[string]string  // the default account of a user
	line  map[string]int     // where it is said
	order []string           // users as they come
	kept  map[*pool]string   // the account of a pool of a user
	seen  map[[2]string]int  // line of a user in an account
	zero  bool               // a weight is 0
	heirs []*pool            // accounts whose share is that of their parent
}

func readSlurm(name, text string, can Features) (*Result, error) {
	entries, err := readDump(text)
	if err != nil {
		return nil, err
	}
	s := &slurm{can: can, root: newRoot("account root"), account: map[string]*pool{}, jobs: map[*pool]int{}, users: map[string][]*pool{},
		home: map[string]string{}, line: map[string]int{}, kept: map[*pool]string{}, seen: map[[2]string]int{}}
	s.account["root"], s.parent = s.root, s.root
	for i := range entries {
		if err := s.entry(&entries[i]); err != nil {
			return nil, err
		}
	}
	s.inherit()
	d := &document{policy: "fair", root: s.root, ruled: true}
	if can.Policies["fairtree"] {
		d.policy = "fairtree"
	}
	s.place(d)
	s.root.reconcile(&s.notes)
	d.head = s.head(name, d.policy)
	return &Result{From: Slurm, YAML: d.yaml(), Items: s.finish()}, nil
}

func (s *slurm) entry(e *entry) error {
	switch e.title {
	case "Cluster":
		if s.cluster != "" {
			return &Error{Line: e.line, Msg: "a second cluster begins here; import the dump of one at a time"}
		}
		s.cluster = e.name
		s.root.line = e.line
		s.settings(s.root, e, "cluster "+plainText(e.name, 60))
	case "Parent":
		p, ok := s.account[strings.ToLower(e.name)]
		if !ok {
			return &Error{Line: e.line, Msg: "account " + strconv.Quote(plainText(e.name, 60)) + " has not been there above; parents come first"}
		}
		s.parent = p
	case "User":
		s.user(e)
	default:
		return s.addAccount(e)
	}
	return nil
}

func (s *slurm) addAccount(e *entry) error {
	name, where := strings.ToLower(e.name), "account "+plainText(e.name, 60)
	if _, ok := s.account[name]; ok {
		return &Error{Line: e.line, Msg: where + " is there already; the dump of a cluster has each once"}
	}
	s.account[name] = nil
	p := s.pool(name, where, e)
	if p == nil {
		return nil
	}
	s.account[name] = p
	p.parent = true
	p.comment = plainText(e.get("Description"), 60)
	s.settings(p, e, where)
	return nil
}

// pool makes a pool below the parent at hand.
func (s *slurm) pool(name, where string, e *entry) *pool {
	var p *pool
	if s.parent != nil {
		p = s.parent.add(name, where, e.line)
	}
	switch {
	case p == nil:
		s.add(e.line, where, e.title, "", Left, "pools are nested at most %d deep, so it and all below it have none; move it up", share.MaxDepth)
	case p.name != name:
		s.add(e.line, where, e.title, name, Changed, "the pool is called %s: names hold letters, digits and . _ - @ + =, and each is there once below an account", p.path())
	default:
		s.add(e.line, where, e.title, "", Taken, "")
	}
	return p
}

func (s *slurm) user(e *entry) {
	where := "user " + plainText(e.name, 60)
	if s.parent == nil {
		s.add(e.line, where, e.title, "", Left, "the pool of the account was not taken over")
		return
	}
	if !s.parent.isRoot() {
		where += " in " + plainText(s.parent.where, 60)
	}
	id := [2]string{s.parent.path(), e.name}
	if first := s.seen[id]; first > 0 {
		s.add(e.line, where, "Partition", e.get("Partition"), Left, "the user is in this account already, from line %d; there are no partitions, so one pool is for all", first)
		return
	}
	s.seen[id] = e.line
	p := s.pool(e.name, where, e)
	if p == nil {
		return
	}
	if s.users[e.name] == nil {
		s.order = append(s.order, e.name)
	}
	s.users[e.name] = append(s.users[e.name], p)
	s.kept[p] = e.name
	if account := strings.ToLower(e.get("DefaultAccount")); account != "" {
		s.home[e.name] = account
		s.line[e.name] = e.line
	}
	s.settings(p, e, where)
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
			s.add(line, where, x.name, "parent", Changed, "an account has a weight of its own here: the sum of those below it, so that these come to the same")
			return
		}
		p.weight = "1"
		s.add(line, where, x.name, "parent", Changed, "a user has a weight of their own here: 1, beside those of the other users in the account")
	case err == nil && w == 0 && s.can.ZeroWeight && s.can.Policies["fairtree"]:
		p.weight = "0"
		s.zero = true
		s.add(line, where, x.name, x.value, Taken, "")
	case err == nil && w == 0:
		p.weight = leftovers
		s.add(line, where, x.name, x.value, Changed, "a weight is above 0 here; with %s it gets next to nothing but what the others leave", leftovers)
	case err != nil || share.CheckWeight(w) != nil:
		s.add(line, where, x.name, x.value, Left, "it is not a number above 0, so the weight is 1")
	default:
		p.weight = strconv.FormatFloat(w, 'f', -1, 64)
		s.add(line, where, x.name, x.value, Taken, "")
	}
}

var memory = regexp.MustCompile(`^([0-9]+)([KMGTPkmgtp]?)$`)

// limits reads GrpTRES=cpu=64,gres/gpu=4,mem=256G.
func (s *slurm) limits(p *pool, line int, where string, x setting) {
	if p.isRoot() {
		s.add(line, where, x.name, x.value, Left, "the root has no limits here; limit what the agents offer (fairlead work --cpus, --mem), or put the pools below one pool that has the limit")
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
			s.add(line, where, x.name, one, Left, "a pool's part of a licence is not limited; the licences as a whole are, with licenses at the top of the file")
		case resource == "":
			s.add(line, where, x.name, one, Left, "%s is not counted here; limit cpu, mem or gpu, or a resource that your agents offer (fairlead work --resource)", plainText(tres, 40))
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

// jobLimit reads GrpJobs, which is of an account as a whole, and MaxJobs, which is of
// each user.
func (s *slurm) jobLimit(p *pool, line int, where string, x setting) {
	n, err := strconv.Atoi(x.value)
	group := strings.EqualFold(x.name, "grpjobs")
	switch {
	case err != nil || n < 0 || n > 1_000_000_000:
		s.add(line, where, x.name, x.value, Left, "it is not a number of jobs")
	case group && p.isRoot():
		s.add(line, where, x.name, x.value, Left, "the root has no limits here; put the pools below one pool that has the limit")
	case group || s.kept[p] != "":
		if p.running < 0 || n < p.running {
			p.running = n
		}
		s.add(line, where, x.name, x.value, Changed, "max_running: %d counts tasks; a job that has several counts as many", n)
	default:
		s.jobs[p] = n
		s.add(line, where, x.name, x.value, Changed, "max_running: %d for each user below; it counts tasks, and a job that has several counts as many", n)
	}
}

// inherit gives users the limits of the accounts above, and accounts without a share of
// their own that of what is below them.
func (s *slurm) inherit() {
	s.root.all(func(p *pool) {
		if s.kept[p] == "" || p.running >= 0 {
			return
		}
		for a := p.above; a != nil; a = a.above {
			if n, ok := s.jobs[a]; ok {
				p.running = n
				return
			}
		}
	})
	for i := len(s.heirs) - 1; i >= 0; i-- { // the innermost first
		sum := 0.0
		for _, c := range s.heirs[i].pools {
			w, _ := strconv.ParseFloat(cmp.Or(c.weight, "1"), 64)
			sum += w
		}
		if sum <= 0 || sum > share.MaxWeight {
			sum = 1
		}
		s.heirs[i].weight = strconv.FormatFloat(sum, 'f', -1, 64)
	}
}

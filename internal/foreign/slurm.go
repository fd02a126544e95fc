package foreign

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/share"
)

func readSlurm(name, text string, can Features) (*Result, error) {
	entries, err := readDump(text)
	if err != nil {
		return nil, err
	}
	s := &slurm{can: can, root: newRoot("account root"), account: map[string]*pool{}, jobs: map[*pool]int{},
		users: map[string][]*pool{},
		home:  map[string]string{}, line: map[string]int{}, kept: map[*pool]string{}, seen: map[[2]string]int{}}
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
			return &Error{Line: e.line, Msg: "a second cluster begins here; import the dump of one cluster at a time"}
		}
		s.cluster = e.name
		s.root.line = e.line
		s.settings(s.root, e, "cluster "+plainText(e.name, 60))
	case "Parent":
		p, ok := s.account[strings.ToLower(e.name)]
		if !ok {
			return &Error{Line: e.line, Msg: "account " + strconv.Quote(plainText(e.name, 60)) +
				" is not in the lines above; the parent must come first"}
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
		return &Error{Line: e.line, Msg: where + " appears twice; a dump has each account once"}
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

// pool makes a pool below the current parent.
func (s *slurm) pool(name, where string, e *entry) *pool {
	var p *pool
	if s.parent != nil {
		p = s.parent.add(name, where, e.line)
	}
	switch {
	case p == nil:
		s.add(e.line, where, e.title, "", Left,
			"pools can be nested at most %d deep, so this pool and the pools below it are left out; move this pool "+
				"up", share.MaxDepth)
	case p.name != name:
		s.add(e.line, where, e.title, name, Changed,
			"the pool is called %s: names hold letters, digits and . _ - @ + =, and are unique below an account", p.path())
	default:
		s.add(e.line, where, e.title, "", Taken, "")
	}
	return p
}

func (s *slurm) user(e *entry) {
	where := "user " + plainText(e.name, 60)
	if s.parent == nil {
		s.add(e.line, where, e.title, "", Left, "the pool of the account was not converted")
		return
	}
	if !s.parent.isRoot() {
		where += " in " + plainText(s.parent.where, 60)
	}
	id := [2]string{s.parent.path(), e.name}
	if first := s.seen[id]; first > 0 {
		s.add(e.line, where, "Partition", e.get("Partition"), Left,
			"line %d has this user in the same account; without partitions, one pool is for all of the user's jobs there", first)
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

// inherit gives users the limits of the accounts above, and gives accounts without their own share the sum of
// the shares below them.
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

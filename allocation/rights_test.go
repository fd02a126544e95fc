package allocation

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// TestRightsToPools checks which pools the configuration opens, and to whom. A rule holds below its pool until another
// pool overrides it. All other pools are closed, including pools of other users below a pool where their group may
// submit.
func TestRightsToPools(t *testing.T) {
	c := lab(t, true)
	everybody := []access.Subject{access.Everybody}
	c.Levels = []string{"std", "fast"}
	c.Access.Pools = map[string]access.Pool{
		"physics": {Submit: []access.Subject{"group:physics"}, Priorities: []string{"high", "normal"}, QOS: []string{"std"}},
		"spare":   {Submit: everybody, Create: []string{"{user}", "for/{kind}"}, Priorities: []string{access.Anything}},
		"build":   {Submit: []access.Subject{"user:dan"}},
		"guests":  {Submit: []access.Subject{}},
		"biology": {Submit: everybody, Create: []string{access.Anything}, QOS: []string{access.Anything}},
	}
	ann, bea := queue.Job{User: "ann", Group: "physics"}, queue.Job{User: "bea", Group: "biology"}
	dan := queue.Job{User: "dan", Group: "users"}
	with := func(j queue.Job, change func(*queue.Job)) queue.Job { change(&j); return j }
	theory := with(ann, func(j *queue.Job) { j.Kind = "theory" })
	for _, x := range []struct {
		name string
		job  queue.Job
		pool string
		want string // "" means a refusal
	}{
		{"own", ann, "", "physics/ann"}, {"own, by kind, and open", theory, "", "physics/theory/ann"},
		{"of a colleague", ann, "physics/bob", ""}, {"of another group", dan, "physics", ""},
		{"open to all", dan, "spare", "spare/dan"}, {"made where one may", dan, "spare/dan", "spare/dan"},
		{"made for another user", dan, "spare/ann", ""},
		{"made of the kind", with(dan, func(j *queue.Job) { j.Kind = "x" }), "spare/for/x", "spare/for/x"},
		{"not a pattern", dan, "spare/a/b", ""}, {"closed to the own users", dan, "", ""},
		{"by kind, open to one", with(dan, func(j *queue.Job) { j.Kind = "ci" }), "", "build"},
		{"by kind, open to another", with(bea, func(j *queue.Job) { j.Kind = "ci" }), "build", ""},
		{"any name", dan, "biology/x/y", "biology/x/y"},
		{"any name but another's", dan, "biology/bea", ""}, {"hers", bea, "biology", "biology/bea"},
		{"a priority", with(ann, func(j *queue.Job) { j.Priority = "high" }), "", "physics/ann"},
		{"a priority that is not listed", with(ann, func(j *queue.Job) { j.Priority = "low" }), "", ""},
		{"any priority", with(dan, func(j *queue.Job) { j.Priority = "very_high" }), "spare", "spare/dan"},
		{"above the usual priority", with(bea, func(j *queue.Job) { j.Priority = "high" }), "", ""},
		{"below it", with(bea, func(j *queue.Job) { j.Priority = "very_low" }), "", "biology/bea"},
		{"a quality", with(ann, func(j *queue.Job) { j.QOS = "std" }), "", "physics/ann"},
		{"another quality", with(ann, func(j *queue.Job) { j.QOS = "fast" }), "", ""},
		{"any quality", with(bea, func(j *queue.Job) { j.QOS = "fast" }), "", "biology/bea"},
		{"a quality where none is named", with(dan, func(j *queue.Job) { j.QOS = "std" }), "spare", ""},
	} {
		j := x.job
		j.Pool = x.pool
		err := c.Settle(&j, Naming{By: userOf(&x.job)})
		if (err == nil) != (x.want != "") || err == nil && j.Pool != x.want {
			t.Errorf("%s: %s names %q: %q, %v; want %q", x.name, x.job.User, x.pool, j.Pool, err, x.want)
		}
		if err != nil && !errors.Is(err, queue.ErrForbidden) && !errors.Is(err, queue.ErrInvalid) {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

// TestAllGroupsGiveRights: all groups of a user give rights, not only the primary one, which placement uses.
func TestAllGroupsGiveRights(t *testing.T) {
	c := lab(t, true)
	c.Access.Pools = map[string]access.Pool{"spare": {Submit: []access.Subject{"group:helpers"}}}
	j := queue.Job{User: "dan", Group: "users", Pool: "spare"}
	by := userOf(&j)
	if err := c.Settle(&j, Naming{By: by}); !errors.Is(err, queue.ErrForbidden) {
		t.Errorf("without the group: %v", err)
	}
	by.Groups = append(by.Groups, "helpers")
	j.Pool = "spare"
	if err := c.Settle(&j, Naming{By: by}); err != nil {
		t.Error(err)
	}
}

// TestOperatorsMoveWithinTheirPools: operators may move jobs within their pools, and a move gives users no rights that
// a submission does not give them.
func TestOperatorsMoveWithinTheirPools(t *testing.T) {
	c := lab(t, true)
	c.Access.Operators = []access.Operator{{Who: "user:lea", Below: "physics"}}
	lea := &access.Principal{Kind: access.User, Name: "lea", UID: 1004}
	job := queue.Job{User: "ann", Group: "physics", Pool: "physics/ann", Priority: "normal", Requestor: "ann"}
	for _, x := range []struct {
		by   *access.Principal
		to   string
		want bool
	}{
		{lea, "physics/theory", true}, {lea, "biology", false}, {lea, "spare", false},
		{userOf(&job), "spare", false}, {userOf(&job), "biology", false}, {userOf(&job), "physics", true},
	} {
		a := queue.Alteration{Pool: x.to, By: x.by.Name}
		tree := func(path string) (there, divides bool) { return path == "physics/theory/ann", false }
		err := c.SettleMove(&job, &a, Naming{By: x.by, Tree: tree})
		if (err == nil) != x.want {
			t.Errorf("%s moves it to %s: %q, %v", x.by.Name, x.to, a.Pool, err)
		}
	}
	high := job
	high.Priority = "high" // set by an administrator
	if err := c.CheckRights(userOf(&job), &high, queue.Alteration{}); err != nil {
		t.Errorf("it keeps the priority that it has: %v", err)
	}
	if err := c.CheckRights(userOf(&job), &job, queue.Alteration{Priority: "high"}); !errors.Is(err, queue.ErrForbidden) {
		t.Errorf("ann raises it: %v", err)
	}
}

// TestARefusalNamesThePoolsOfTheUser: a refusal names the user's own pool and some open pools.
func TestARefusalNamesThePoolsOfTheUser(t *testing.T) {
	c := lab(t, true)
	c.Sched.Root.Pools = append(c.Sched.Root.Pools, share.Pool{Name: "foreign", Weight: 1})
	c.Access.Pools = map[string]access.Pool{}
	for _, x := range []struct {
		open int
		want string
	}{
		{0, "submit into guests/eve, or ask"},
		{2, "submit into guests/eve, open000, open001, or ask"},
		{7, "submit into guests/eve, open000, open001, open002, open003 and 3 more, or ask"},
	} {
		for i := len(c.Access.Pools); i < x.open; i++ {
			name := fmt.Sprintf("open%03d", i)
			c.Sched.Root.Pools = append(c.Sched.Root.Pools, share.Pool{Name: name, Weight: 1})
			c.Access.Pools[name] = access.Pool{Submit: []access.Subject{access.Everybody}}
		}
		j := queue.Job{User: "eve", Group: "users", Pool: "foreign"}
		err := c.Settle(&j, Naming{By: userOf(&j)})
		if !errors.Is(err, queue.ErrForbidden) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("with %d open pools: %v, want %q", x.open, err, x.want)
		}
	}
}

// TestARefusalNamesAPoolThatTakesTheJob: without placement rules, a refused user also learns of a pool that accepts the
// job. If there is none, the refusal says so, and who can change that.
func TestARefusalNamesAPoolThatTakesTheJob(t *testing.T) {
	c := Default()
	c.Closed = true
	physics := share.Pool{Name: "physics", Weight: 1, Pools: []share.Pool{{Name: "ann", Weight: 1}}}
	c.Sched.Root.Pools = []share.Pool{physics, {Name: "biology", Weight: 1}}
	for _, x := range []struct{ user, want string }{
		{"ann", "submit into physics/ann, or ask an administrator to "},
		{"bob", "no pool takes jobs of bob: ask an administrator to add a placement rule or a pool for bob, or to open a " +
			"pool with access.pools"},
	} {
		refused := 0
		for _, pool := range []string{"", "biology", "physics", "physics/bob", "other"} {
			j := queue.Job{User: x.user, Pool: pool}
			err := c.Settle(&j, Naming{By: userOf(&j)})
			if err == nil {
				continue
			}
			if refused++; !strings.Contains(err.Error(), x.want) {
				t.Errorf("%s names %q: %v; want %q", x.user, pool, err, x.want)
			}
		}
		if refused == 0 {
			t.Errorf("no job of %s is refused", x.user)
		}
	}
	j := queue.Job{User: "ann", Pool: "physics/ann"}
	if err := c.Settle(&j, Naming{By: userOf(&j)}); err != nil {
		t.Error("the pool that the refusal names:", err)
	}
	j = queue.Job{User: "bob"}
	admin := userOf(&j)
	admin.Admin = true
	if err := c.Settle(&j, Naming{By: admin}); err == nil || !strings.Contains(err.Error(), "name one of these pools: ") {
		t.Error("an administrator:", err)
	}
}

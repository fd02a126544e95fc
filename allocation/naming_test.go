package allocation

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// lab returns the configuration of a lab: groups have pools, and each of their users gets a pool below on demand.
func lab(t *testing.T, closed bool) *Config {
	t.Helper()
	rules, err := share.NewPlacementRules([]share.Rule{
		{Match: map[string]string{"group": "physics", "kind": "theory"}, Pool: "physics/theory/{user}"},
		{Match: map[string]string{"group": "physics"}, Pool: "physics/{user}"},
		{Match: map[string]string{"group": "biology"}, Pool: "biology/{user}"},
		{Match: map[string]string{"kind": "ci"}, Pool: "build"},
		{Match: map[string]string{"user": "nobody"}, Pool: "build/{requestor}"},
		{Match: map[string]string{"group": "users"}, Pool: "guests/{user}"},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := Default()
	c.Sched.Root.Pools = []share.Pool{
		{Name: "physics", Weight: 60}, {Name: "biology", Weight: 40, Pools: []share.Pool{{Name: "bea", Weight: 2}}},
		{Name: "guests", Weight: 5}, {Name: "build", Weight: 1}, {Name: "spare", Weight: 1},
	}
	c.PlacementRules, c.Closed = rules, closed
	return &c
}

// userOf returns the user of a job, as the one who asks.
func userOf(j *queue.Job) *access.Principal {
	return &access.Principal{Kind: access.User, Name: j.User, UID: 1000, Groups: []string{j.Group}}
}

// TestPoolsThatJobsName checks which user's pool a path names, and whether a job may create it.
func TestPoolsThatJobsName(t *testing.T) {
	ann := queue.Job{User: "ann", Group: "physics"}
	theory := queue.Job{User: "ann", Group: "physics", Kind: "theory"}
	bea, ben := queue.Job{User: "bea", Group: "biology"}, queue.Job{User: "ben", Group: "biology"}
	dan, ci := queue.Job{User: "dan", Group: "users"}, queue.Job{User: "dan", Group: "users", Kind: "ci"}
	odd, alien := queue.Job{User: "a/b", Group: "physics"}, queue.Job{User: "zoe", Group: "else"}
	for _, c := range []struct {
		job  queue.Job
		pool string
		// user is the pool to which the user may submit, also in an open tree, and admin the pool to which an
		// administrator may send the job; "" means none.
		user, admin string
	}{
		{ann, "", "physics/ann", "physics/ann"},
		{ann, "physics", "physics/ann", "physics/ann"},
		{ann, "physics/ann", "physics/ann", "physics/ann"},
		{odd, "physics", "physics/a=2Fb", "physics/a=2Fb"},
		{odd, "physics/a_b", "", "physics/a_b"},
		{ann, "physics/bob", "", "physics/bob"},
		{ann, "physics/theory", "", "physics/theory/ann"},
		{theory, "", "", "physics/theory/ann"},
		{theory, "physics", "", "physics/theory/ann"},
		{theory, "physics/theory", "", "physics/theory/ann"},
		{theory, "physics/ann", "physics/ann", "physics/ann"},
		{ann, "guests", "", "guests/ann"},
		{bea, "biology", "biology/bea", "biology/bea"},
		{ben, "biology", "biology/ben", "biology/ben"},
		{ben, "biology/bea", "", "biology/bea"},
		{dan, "biology", "", "biology/dan"},
		{dan, "physics", "", "physics/dan"},
		{dan, "spare", "", "spare"},
		{dan, "spare/dan", "", ""},
		{dan, "chemistry", "", ""},
		{ci, "build", "", "build"},
		{dan, "build", "", "build/dan"},
		{alien, "", "default", "default"},
		{alien, "default", "default", "default"},
		{dan, "default", "", "default"},
		{dan, "there/zoe", "", "there/zoe"},
		{dan, "there", "", "there"},
		{dan, "physics//x", "", ""},
	} {
		tree := func(path string) (there, divides bool) {
			return path == "there" || path == "there/zoe" || path == "physics/old", path == "there"
		}
		for _, x := range []struct {
			who             string
			closed, limited bool
			want            string
		}{
			{"user", true, true, c.user}, {"administrator", true, false, c.admin},
			{"user of an open tree", false, true, c.user},
		} {
			j := c.job
			j.Pool = c.pool
			n := Naming{Tree: tree}
			if x.limited {
				n.By = userOf(&j)
			}
			err := lab(t, x.closed).Settle(&j, n)
			if (err == nil) != (x.want != "") || err == nil && j.Pool != x.want {
				t.Errorf("%s: %s of %s (%s) names %q: %q, %v; want %q",
					x.who, c.job.User, c.job.Group, c.job.Kind, c.pool, j.Pool, err, x.want)
			}
		}
	}
}

// TestAJobStaysInItsPool: a job may stay in its pool, whoever made the pool.
func TestAJobStaysInItsPool(t *testing.T) {
	j := queue.Job{User: "ann", Group: "physics", Pool: "spare/of/old"}
	n := Naming{By: userOf(&j), In: j.Pool, Priority: "normal"}
	if err := lab(t, true).Settle(&j, n); err != nil || j.Pool != "spare/of/old" {
		t.Errorf("%q, %v", j.Pool, err)
	}
}

// TestRefusalsNameThePlace: a user who names a pool that is for others is told to which pool the rules lead.
func TestRefusalsNameThePlace(t *testing.T) {
	for pool, want := range map[string]string{
		"physics":     `the placement rules send this job of dan to "guests/dan", and not to "physics/dan"; known pools: `,
		"physics/ann": `the placement rules send this job of dan to "guests/dan", and not to "physics/ann"`,
		"chemistry":   `there is no pool "chemistry"; known pools: physics, biology, biology/bea, guests`,
	} {
		j := queue.Job{User: "dan", Group: "users", Pool: pool}
		if err := lab(t, true).Settle(&j, Naming{By: userOf(&j)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", pool, err)
		}
	}
}

// TestMovesAreOfTheJob: the rights depend on whose job it is, not on who moves it.
func TestMovesAreOfTheJob(t *testing.T) {
	j := queue.Job{User: "ann", Group: "physics", Kind: "theory", Requestor: "ann", Pool: "spare", Priority: "normal"}
	for _, c := range []struct {
		a    queue.Alteration
		want string
	}{
		{queue.Alteration{Pool: "physics/ann", By: "ann"}, "physics/ann"},
		{queue.Alteration{Pool: "physics", By: "ann"}, ""}, // moved because of its kind, which gives no right
		{queue.Alteration{Pool: "physics/bob", By: "ann"}, ""},
		{queue.Alteration{Pool: "physics/bob", By: "root", Admin: true}, "physics/bob"},
		{queue.Alteration{Pool: "guests"}, "guests/ann"}, // moved by the program itself
		{queue.Alteration{Pool: "chemistry/ann"}, ""},
	} {
		a := c.a
		err := lab(t, true).SettleMove(&j, &a, Naming{})
		if (err == nil) != (c.want != "") || err == nil && a.Pool != c.want {
			t.Errorf("%+v: %q, %v", c.a, a.Pool, err)
		}
	}
}

package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// grants leases the wanted jobs and returns for each want "+" if it was leased, "-" if it was lost, or the name of the
// limit that refused it.
func (s *suite) grants(wants ...queue.Want) (text string, grants []queue.Grant) {
	s.t.Helper()
	grants, err := s.Lease(s.ctx, "agent", wants, ttl)
	s.must(err)
	var all []string
	for _, g := range grants {
		switch n := len(leasesOf(g)); {
		case g.Refused != "" && n > 0:
			s.t.Errorf("leased and refused: %+v", g)
		case g.Refused != "":
			all = append(all, g.Refused)
		case n > 0:
			all = append(all, "+")
		default:
			all = append(all, "-")
		}
	}
	return strings.Join(all, ","), grants
}

func (s *suite) grantsAre(want string, wants ...queue.Want) []queue.Grant {
	s.t.Helper()
	got, grants := s.grants(wants...)
	if got != want {
		s.t.Errorf("granted %s, want %s", got, want)
	}
	return grants
}

// limited returns wants for tasks of a job under rates.
func limited(job int64, n int, rates ...sched.RateLimit) []queue.Want {
	return slices.Repeat([]queue.Want{{Job: job, Rates: rates}}, n)
}

// ratesAreKept: the store takes the tokens of a rate with the lease. A refused job waits, and a lost job
// takes no token. The store returns the state of the rate.
func ratesAreKept(s *suite) {
	web := sched.RateLimit{Name: "web", Limit: sched.Rate{Count: 5, Per: time.Second}}
	mail := sched.RateLimit{Name: "mail", Limit: sched.Rate{Count: 1, Per: time.Minute, Burst: 4}}
	array := s.submit(job(func(j *queue.Job) { j.Array = "0-99" }))[0]
	gone := s.submit(job())[0]
	s.finish(s.take(gone).Ref, ok)
	s.grantsAre("-,-", limited(gone, 2, web, mail)...)
	s.grantsAre("+,+,+", limited(array, 3, web, mail)...)
	g := s.grantsAre("+,rate mail", limited(array, 2, web, mail)...)
	if r := g[1].Rates; len(r) != 2 || r[0].Name != "web" || r[0].Tokens(r[0].At) != 1 || r[1].Tokens(r[1].At) != 0 || !r[1].At.Equal(time.Now()) {
		s.t.Errorf("the grant says of the rates %+v", r)
	}
	s.grantsAre("+,rate web,-", append(limited(array, 2, web), limited(gone, 1)...)...)
	time.Sleep(200 * time.Millisecond)
	s.grantsAre("+,rate web", limited(array, 2, web)...)
	if j := s.get(array); j.Running != 6 || j.Waiting != 94 {
		s.t.Errorf("%d tasks run and %d wait", j.Running, j.Waiting)
	}
	keeper := s.Store.(queue.RateKeeper)
	all, err := keeper.Rates(s.ctx)
	s.must(err)
	now := time.Now()
	if len(all) != 2 || all[0].Name != "mail" || all[0].Limit != mail.Limit || all[0].Tokens(now) != 0 || all[1].Tokens(now) != 0 || all[1].Tokens(now.Add(time.Second)) != 5 || !all[1].At.Equal(now) {
		s.t.Errorf("the rates are %+v", all)
	}
	mail.Limit.Burst = 1
	time.Sleep(time.Hour)
	s.grantsAre("+,rate mail", limited(array, 2, mail)...)
}

// ratesOfGangs: each task of a gang counts; a gang larger than the burst also takes later tokens.
func ratesOfGangs(s *suite) {
	web := []sched.RateLimit{{Name: "web", Limit: sched.Rate{Count: 1, Per: time.Second, Burst: 3}}}
	ids := s.submit(job(func(j *queue.Job) { j.Gang = 2 }), job(func(j *queue.Job) { j.Gang = 5 }), job())
	two := queue.Want{Job: ids[0], Nodes: []string{"x", "y"}, Rates: web}
	five := queue.Want{Job: ids[1], Nodes: []string{"x", "y", "x", "y", "x"}, Rates: web}
	s.grantsAre("+,rate web,+,rate web", two, five, queue.Want{Job: ids[2], Rates: web}, queue.Want{Job: ids[2], Rates: web})
	time.Sleep(3 * time.Second)
	s.grantsAre("+", five)
	one := s.submit(job())[0]
	time.Sleep(2 * time.Second)
	s.grantsAre("rate web", queue.Want{Job: one, Rates: web})
	time.Sleep(time.Second)
	s.grantsAre("+", queue.Want{Job: one, Rates: web})
}

// ratesHoldInAnyWindow: however leases are claimed and returned, no time span has more starts than the burst plus the
// tokens that arrive in it.
func ratesHoldInAnyWindow(s *suite) {
	web := sched.RateLimit{Name: "web", Limit: sched.Rate{Count: 5, Per: time.Second, Burst: 3}}
	array := s.submit(job(func(j *queue.Job) { j.Array = "0-999" }))[0]
	rng := rand.New(rand.NewPCG(1, 2))
	var at []time.Time
	for range 200 {
		_, grants := s.grants(limited(array, 1+rng.IntN(4), web)...)
		for _, g := range grants {
			if g.Lease == nil {
				continue
			}
			at = append(at, g.Lease.Started)
			if rng.IntN(8) == 0 {
				_, err := s.Release(s.ctx, []queue.Ref{g.Lease.Ref})
				s.must(err)
			}
		}
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
	}
	InRate(s.t, at, web.Limit)
	if len(at) < 120 {
		s.t.Errorf("only %d tasks started", len(at))
	}
}

// InRate checks that no time span had more starts than a rate allows.
func InRate(t interface{ Errorf(string, ...any) }, at []time.Time, limit sched.Rate) {
	slices.SortFunc(at, time.Time.Compare)
	burst := int(limit.Burst)
	if burst == 0 {
		burst = int(limit.Count)
	}
	for i := range at {
		for k := i + burst; k < len(at); k++ {
			window := at[k].Sub(at[i])
			if n := k - i + 1; n > burst+int(window*time.Duration(limit.Count)/limit.Per) {
				t.Errorf("%d starts within %v, under %v with a burst of %d", n, window, limit, burst)
				return
			}
		}
	}
}

// holding returns a want for a task that holds an amount of a license with the given total.
func holding(job int64, of string, amount, most int64) queue.Want {
	return queue.Want{Job: job, Holds: []sched.Held{{Of: of, Amount: amount, Max: most}}}
}

// holdsAreChecked: running tasks never hold more than the total, and release their amounts however they end.
func holdsAreChecked(s *suite) {
	if shared, is := s.Store.(queue.Sharer); !is || !shared.Shared() {
		s.t.Skip("one process has the store to itself")
	}
	const of = "license matlab"
	array := s.submit(job(func(j *queue.Job) { j.Array, j.Retries = "0-99", 9 }))[0]
	one := func() queue.Want { return holding(array, of, 1, 3) }
	g := s.grantsAre("+,+,+,license matlab", one(), one(), one(), one())
	s.grantsAre("license matlab,+,-", holding(array, of, 2, 4), holding(array, "license ansys", 2, 2), queue.Want{Job: 4711})
	refs := []queue.Ref{g[0].Lease.Ref, g[1].Lease.Ref, g[2].Lease.Ref}
	full := func(what string, ended queue.Ref) queue.Ref {
		s.t.Helper()
		got, g := s.grants(one(), one())
		if got != "+,license matlab" {
			s.t.Fatalf("after a task %s: granted %s", what, got)
		}
		return g[0].Lease.Ref
	}
	s.finish(refs[0], ok)
	refs[0] = full("succeeded", refs[0])
	s.finish(refs[0], failed)
	refs[0] = full("failed", refs[0])
	s.finish(refs[0], killed)
	refs[0] = full("was killed", refs[0])
	_, err := s.Release(s.ctx, refs[:1])
	s.must(err)
	full("was given back", refs[0])
	_, err = s.Expire(s.ctx, "agent")
	s.must(err)
	s.grantsAre("+,+,+,license matlab", one(), one(), one(), one())
	time.Sleep(ttl + time.Second)
	_, err = s.Expire(s.ctx, "")
	s.must(err)
	s.must(s.alter(array, queue.VerbCancel))
	gang := s.submit(job(func(j *queue.Job) { j.Gang = 2 }), job(func(j *queue.Job) { j.Gang = 2 }))
	both := func(id int64) queue.Want {
		w := holding(id, of, 2, 4)
		w.Nodes = []string{"x", "y"}
		return w
	}
	pair := s.grantsAre("+,license matlab", both(gang[0]), both(gang[1]))[0].Gang
	s.finish(pair[0].Ref, ok)
	s.grantsAre("license matlab", both(gang[1]))
	s.finish(pair[1].Ref, ok)
	s.grantsAre("+", both(gang[1]))
}

// holdsOfJobs checks holds of jobs with one task, which end in a separate way, and of alternates that are leased in
// place of the wanted jobs.
func holdsOfJobs(s *suite) {
	if shared, is := s.Store.(queue.Sharer); !is || !shared.Shared() {
		s.t.Skip("one process has the store to itself")
	}
	const of = "max cpu of a/b"
	ids := s.submit(job(), job(), job(), job(), job())
	s.finish(s.take(ids[0]).Ref, ok)
	w := holding(ids[0], of, 2, 4)
	w.Else = ids[1:]
	g := s.grantsAre("+,+,max cpu of a/b", w, w, w)
	if a, b := g[0].Lease.JobID, g[1].Lease.JobID; a != ids[1] || b != ids[2] {
		s.t.Errorf("leased %d and %d", a, b)
	}
	s.grantsAre("max cpu of a/b", holding(ids[3], of, 2, 4))
	s.must(s.alter(ids[1], queue.VerbRequeue))
	s.finish(g[0].Lease.Ref, killed)
	s.grantsAre("+,max cpu of a/b", holding(ids[3], of, 2, 4), holding(ids[4], of, 2, 4))
	s.must(s.alter(ids[2], queue.VerbCancel))
	s.grantsAre("max cpu of a/b", holding(ids[4], of, 2, 4))
	s.finish(g[1].Lease.Ref, ok)
	s.grantsAre("+", holding(ids[4], of, 2, 4))
	if got := fmt.Sprintf("%s %s", s.get(ids[1]).State, s.get(ids[2]).State); got != "waiting succeeded" {
		s.t.Errorf("the jobs are %s", got)
	}
}

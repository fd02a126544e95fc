package storetest

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/poolnames"
	"github.com/fairlead/fairlead/queue"
)

// Renames checks that a store gives the pools of users their new names when a version with these names first opens it,
// and only then. The function open opens the same store each time; the function age turns the closed store into one
// that an earlier version wrote.
func Renames(t *testing.T, open Open, age func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		s := &suite{t: t, ctx: t.Context(), Store: open(t)}
		reopen := func() {
			s.must(s.Close())
			s.Store = open(t)
		}
		n := oldNames(s)
		s.must(s.Close())
		age(t)
		s.Store = open(t)
		n.check(s)
		first := n.all(s)
		reopen()
		if second := n.all(s); !reflect.DeepEqual(second, first) {
			t.Errorf("a second opening changed\n%+v to\n%+v", first, second)
		}
		n.end(s)
		s.put("a b", "a_b") // into the pool of the user a_b, which it names
		reopen()
		if got := n.all(s).Counters["a_b"]; got.Waiting != 1 {
			t.Errorf("what a user put there later: %+v wait in a_b", got)
		}
		s.must(s.Close())
	})
}

// renamed describes a store as an earlier version wrote it.
type renamed struct {
	in      map[int64]string // where each job must be
	running []queue.Ref      // in pools that are renamed
	left    []queue.Ref      // in a pool that several users shared
	used    map[string]float64
}

func (s *suite) put(user, pool string, f ...func(*queue.Job)) int64 {
	s.t.Helper()
	return s.submit(job(append(f, func(j *queue.Job) { j.User, j.Pool = user, pool })...))[0]
}

func (s *suite) taken(id int64) queue.Ref { return s.take(id).Ref }

// oldNames writes jobs by the names of an earlier version.
func oldNames(s *suite) *renamed {
	n := &renamed{in: map[int64]string{}}
	put := func(user, was, is string, f ...func(*queue.Job)) int64 {
		id := s.put(user, was, f...)
		n.in[id] = is
		return id
	}
	held := func(j *queue.Job) { j.Held = true }
	array := func(j *queue.Job) { j.Array = "1-3" }
	ended := []queue.Ref{
		s.taken(put("a b", "a_b", "a=20b")), s.taken(put("s h", "s_h", "s_h")), s.taken(put("ann", "ann", "ann")),
	}
	n.running = []queue.Ref{s.taken(put("a b", "a_b", "a=20b"))}
	put("a b", "a_b", "a=20b")
	put("a=20b", "a=20b", "a=3D20b") // must move first to make room
	// A name that three users shared, with waiting, held, running and partly running jobs.
	put("s h", "s_h", "s=20h")
	put("s h", "s_h", "s=20h", held)
	put("s/h", "s_h", "s=2Fh", array)
	put("s_h", "s_h", "s_h")
	n.left = []queue.Ref{s.taken(put("s h", "s_h", "s_h")), s.taken(put("s h", "s_h", "s_h", array))}
	put("cust:42", "lab/cust_42", "lab/cust=3A42")
	put("x y", "x_y/render", "x=20y/render")
	put("", "default", "default")
	put("default", "default", "=64efault")
	put("ann", "ann", "ann")
	put("ann", "a_c", "a_c") // a pool that belongs to no user
	time.Sleep(10 * time.Second)
	for _, ref := range ended {
		s.finish(ref, ok)
	}
	n.used = n.all(s).Used
	settings := s.Store.(queue.Settings)
	for key, value := range map[string]string{
		"pause/lab/cust_42": `{"pool":"lab/cust_42","reason":"owes"}`, "pause/s_h": `{"pool":"s_h"}`, "pause/ann": `{"pool":"ann"}`,
		"boost/1": `{"id":1,"pool":"a_b","factor":2}`, "boost/2": `{"id":2,"pool":"s_h","factor":3}`,
		"reservation/r": `{"name":"r","pools":["a_b","ann","s_h"]}`, "config/settings": `[{"path":"pools.a_b.weight"}]`,
	} {
		s.must(settings.Set(s.ctx, key, value))
	}
	if k, is := s.Store.(queue.HistoryKeeper); is {
		at := time.Now().Add(-time.Hour).Truncate(time.Hour)
		s.must(k.AddHistory(s.ctx, []queue.PoolHistory{
			{Pool: "a_b", Steps: []queue.HistoryStep{step(0, at, 2)}}, {Pool: "a=20b", Steps: []queue.HistoryStep{step(0, at, 3)}},
		}))
	}
	return n
}

// written is the contents of a store.
type written struct {
	Pools    map[int64]string
	Counters map[string]queue.Counters
	Used     map[string]float64
	Settings map[string]string
	History  map[string]float64
	Audit    int
}

func (n *renamed) all(s *suite) written {
	s.t.Helper()
	w := written{Pools: map[int64]string{}, Counters: map[string]queue.Counters{}, Used: map[string]float64{}, History: map[string]float64{}}
	jobs, err := s.Jobs(s.ctx, queue.Query{})
	s.must(err)
	for _, j := range jobs {
		w.Pools[j.ID] = j.Pool
	}
	acc := s.Store.(queue.Accountant)
	u, err := acc.Usage(s.ctx)
	s.must(err)
	for pool, a := range u.Pools {
		if a.Counters != (queue.Counters{}) {
			w.Counters[pool] = a.Counters
		}
		if a.Total > 0 {
			w.Used[pool] = a.Total
		}
	}
	counted, err := acc.Recount(s.ctx)
	s.must(err)
	maps.DeleteFunc(counted, func(_ string, c queue.Counters) bool { return c == queue.Counters{} })
	if !maps.Equal(counted, w.Counters) {
		s.t.Errorf("counters are %v, a recount finds %v", w.Counters, counted)
	}
	w.Settings, err = s.Store.(queue.Settings).Settings(s.ctx)
	s.must(err)
	for _, h := range s.history(0, time.Now().Add(-48*time.Hour), time.Now(), "a_b", "a=20b", "a=3D20b") {
		w.History[h.Pool] = h.Steps[0].Running / h.Steps[0].Seconds
	}
	entries, err := s.Store.(queue.Auditor).Audited(s.ctx, queue.AuditQuery{})
	s.must(err)
	w.Audit = len(entries)
	return w
}

func (n *renamed) check(s *suite) {
	got := n.all(s)
	for id, want := range n.in {
		if got.Pools[id] != want {
			s.t.Errorf("job %d is in %s, want %s", id, got.Pools[id], want)
		}
	}
	if want := map[string]float64{"a=20b": n.used["a_b"], "s_h": n.used["s_h"], "ann": n.used["ann"]}; !maps.Equal(got.Used, want) {
		s.t.Errorf("used up: %v, want %v", got.Used, want)
	}
	if want := (queue.Counters{Waiting: 1, Running: 1}); got.Counters["a=20b"] != want {
		s.t.Errorf("a=20b has %+v, want %+v", got.Counters["a=20b"], want)
	}
	if want := (queue.Counters{Waiting: 3, Running: 2}); got.Counters["s_h"] != want {
		s.t.Errorf("s_h has %+v, want %+v", got.Counters["s_h"], want)
	}
	if want := map[string]float64{"a=20b": 2, "a=3D20b": 3}; !maps.Equal(got.History, want) {
		s.t.Errorf("the history is %v, want %v", got.History, want)
	}
	for key, want := range map[string]string{
		"pause/lab/cust_42": "", "pause/lab/cust=3A42": `{"pool":"lab/cust=3A42","reason":"owes"}`, "pause/ann": `{"pool":"ann"}`,
		"pause/s_h": `{"pool":"s_h"}`, "pause/s=20h": `{"pool":"s=20h"}`, "pause/s=2Fh": `{"pool":"s=2Fh"}`,
		"boost/1": `{"factor":2,"id":1,"pool":"a=20b"}`, "boost/2": `{"id":2,"pool":"s_h","factor":3}`,
		"reservation/r": `{"name":"r","pools":["a=20b","ann","s_h","s=20h","s=2Fh"]}`, "config/settings": `[{"path":"pools.a_b.weight"}]`,
	} {
		if got.Settings[key] != want {
			s.t.Errorf("%s is %s, want %s", key, got.Settings[key], want)
		}
	}
	r, err := poolnames.Read(got.Settings)
	s.must(err)
	if r == nil {
		s.t.Fatal("nothing was renamed")
	}
	var renamed, parted []string
	for _, c := range r.Renamed {
		renamed = append(renamed, c.From+" "+c.To)
	}
	for _, p := range r.Parted {
		parted = append(parted, p.Pool+" "+strings.Join(p.Users, "|"))
	}
	slices.Sort(renamed)
	if want := []string{"a=20b a=3D20b", "a_b a=20b", "lab/cust_42 lab/cust=3A42", "x_y/render x=20y/render"}; !slices.Equal(renamed, want) {
		s.t.Errorf("renamed: %q, want %q", renamed, want)
	}
	if want := []string{"default |default", "s_h s h|s/h|s_h"}; !slices.Equal(parted, want) {
		s.t.Errorf("parted: %q, want %q", parted, want)
	}
	if want := len(r.Renamed) + 3; got.Audit != want {
		s.t.Errorf("%d entries in the record, want %d", got.Audit, want)
	}
	for id, pool := range n.in {
		if pool == "s=20h" {
			events, err := s.Store.(queue.Journal).Events(s.ctx, id)
			s.must(err)
			if !slices.ContainsFunc(events, func(e queue.Event) bool {
				return strings.HasPrefix(e.Text, "move from ") && strings.Contains(e.Text, " to s=20h: each user has")
			}) {
				s.t.Errorf("job %d knows nothing of the move: %v", id, events)
			}
		}
	}
}

// end ends the attempts that ran throughout: each is charged once, in its present pool.
func (n *renamed) end(s *suite) {
	time.Sleep(10 * time.Second)
	before := n.all(s).Used
	for _, ref := range append(n.running, n.left...) {
		s.finish(ref, ok)
	}
	after := n.all(s)
	for pool, times := range map[string]float64{"a=20b": 1, "s_h": 2} {
		if got, want := after.Used[pool]-before[pool], 20*times; got < want-0.01 || got > want+0.01 {
			s.t.Errorf("%s was charged %v, want %v", pool, got, want)
		}
	}
	if len(after.Used) != len(before) {
		s.t.Errorf("used up: %v", after.Used)
	}
}

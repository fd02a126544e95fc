package sched_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// boost multiplies the weight of a pool for a time.
func (m *model) boost(t *rapid.T) {
	m.boosts++
	m.Boost(sched.Boost{
		ID: m.boosts, Pool: rapid.SampledFrom(paths).Draw(t, "boosted"), Factor: rapid.SampledFrom([]float64{0.1, 2, 3}).Draw(t, "factor"),
		Until: m.now.Add(time.Duration(rapid.IntRange(1, 9000).Draw(t, "for")) * time.Millisecond),
	}, m.now)
}

// unserved reports whether the policies give nothing to a pool on the way to a path: a load of 0% where loads are
// rounded as Scoot does.
func (m *model) unserved(path string) bool {
	above := &m.cfg.Root
	ruling := above
	for name := range strings.SplitSeq(path, "/") {
		if above = child(above, name); above == nil {
			return false // an unconfigured pool has the weight 1
		}
		if above.Weight == 0 && ruling.Policy == "load" && ruling.Options.Rounding == "scoot" {
			return true
		}
		if above.Policy != "" {
			ruling = above
		}
	}
	return false
}

func child(p *share.Pool, name string) *share.Pool {
	for i := range p.Pools {
		if p.Pools[i].Name == name {
			return &p.Pools[i]
		}
	}
	return nil
}

// checkShares: the shares of the siblings that count add up to one, unless all weigh 0.
func (m *model) checkShares(t *rapid.T) {
	sums, counts := map[string]float64{}, map[string]int{}
	for id, e := range m.Read().Entitlements() {
		if id == int(sched.Root) || m.Read().PriorityClass(sched.PoolID(id)) {
			continue
		}
		path := m.Path(sched.PoolID(id))
		above, _ := share.Cut(path)
		sums[above] += e.Here
		counts[above]++
	}
	for above, sum := range sums {
		if sum != 0 && math.Abs(sum-1) > 1e-9 {
			t.Fatalf("the shares of the %d children of %q add up to %v", counts[above], above, sum)
		}
	}
}

// TestOrderFollowsFromWhatIsPrinted: under every combination of policies, the order of the next starts and all
// comparisons follow from the printed numbers alone. That also holds where minima and maxima of all resources, licenses
// and rates decide which tasks start.
func TestOrderFollowsFromWhatIsPrinted(t *testing.T) {
	recomputed := map[string]int{}
	check := func(t *rapid.T) {
		m := newPlainModel(t)
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for range rapid.IntRange(1, 6).Draw(t, "jobs") {
				m.submitPlain(t)
			}
			m.Step(m.now, rapid.IntRange(0, 4).Draw(t, "limit"), &m.d)
			m.took(t)
			m.tick(rapid.SampledFrom([]time.Duration{0, time.Millisecond, 1234 * time.Millisecond, time.Minute, 7 * time.Hour, 30 * time.Hour}).Draw(t, "wait"))
			for range rapid.IntRange(0, min(4, len(m.running))).Draw(t, "ends") {
				r := m.takeRun(t)
				m.Finish(r.id, m.now, true)
			}
		}
		m.Advance(m.now)
		m.checkVerified(t, recomputed)
	}
	for range 5 { // so that all policies occur
		rapid.Check(t, check)
	}
	for _, name := range policy.Names() {
		if recomputed[name] == 0 && name != "lottery" && !t.Failed() {
			t.Errorf("no place was recomputed where the root divides by %s", name)
		}
	}
	t.Log("places recomputed, by the policy of the root:", recomputed)
}

// newPlainModel is a model without chance and rounds, because these keep an order from being recomputed.
func newPlainModel(t *rapid.T) *model {
	m := &model{jobs: map[int64]*modelJob{}, nodes: map[string]int64{"n1": 4, "n2": 3}, down: map[string]bool{}, plain: true}
	m.cfg = sched.Config{Root: drawTree(t), NewPolicy: policy.New(policy.Options{}), HalfLife: 20 * time.Hour, Charge: drawCharge(t)}
	plain(&m.cfg.Root)
	drawQuotas(t, &m.cfg)
	s, err := sched.New(m.cfg, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	m.world = &world{Scheduler: s, now: epoch}
	s.Join("n1", roomOf(7), epoch)
	return m
}

func plain(p *share.Pool) {
	if p.Policy == "lottery" {
		p.Policy = "decay"
	}
	p.Options.Rounding = ""
	for i := range p.Pools {
		plain(&p.Pools[i])
	}
}

func (m *model) submitPlain(t *rapid.T) {
	path := rapid.SampledFrom(paths).Draw(t, "pool")
	request := drawRequest(t)
	m.last++
	j := sched.Job{ID: m.last, Pool: m.Pool(path), Tasks: rapid.IntRange(1, 3).Draw(t, "tasks"), Priority: rapid.IntRange(1, 2).Draw(t, "priority"), Submitted: m.now}
	if rapid.IntRange(0, 3).Draw(t, "gang") == 0 {
		request.Gang = j.Tasks
	}
	j.Key = m.KeyOf(request)
	m.jobs[j.ID] = &modelJob{header: j, path: path, request: request, waiting: j.Tasks}
	m.Add(j, m.now)
}

// checkVerified derives the order of the next starts, and the comparisons of all jobs, from their printed numbers. It
// counts the recomputed orders by the policy of the root.
func (m *model) checkVerified(t *rapid.T, recomputed map[string]int) {
	evidence := m.Explain().Evidence(1000)
	position, place := int64(0), map[int64]int64{}
	m.Preview(func(st sched.Start, _ float64) bool {
		position++
		if place[st.Job] == 0 {
			place[st.Job] = position
		}
		return true
	})
	for id := int64(1); id <= m.last; id++ {
		j := m.jobs[id]
		if j.waiting == 0 {
			continue
		}
		a := &why.Answer{Subject: why.Subject{Job: id}, Levels: m.Explain().Comparisons(m.Leaf(j.header), 0), Evidence: evidence}
		if place[id] > 0 {
			a.Rank = &why.Rank{Position: place[id]}
		}
		for _, c := range replay.Verify(a, policy.Rule) {
			if !c.OK {
				from, err := json.Marshal(evidence)
				t.Fatalf("job %d: %s: %s\nof %s %v", id, c.What, c.Text, from, err)
			}
			switch {
			case c.What != "rank":
			case !strings.HasPrefix(c.Text, "not recomputed"):
				recomputed[m.cfg.Root.Policy]++
			case m.plain && !strings.HasSuffix(c.Text, "apart from rounding"):
				t.Fatalf("the place of job %d: %s", id, c.Text)
			}
		}
	}
}

// stepOnce takes a single step. Before that, it finds out which pools below their minimum could start something.
func (m *model) stepOnce(t *rapid.T) {
	m.due()
	m.Advance(m.now)
	m.due()
	lacking := m.lacking()
	m.Step(m.now, 1, &m.d)
	for _, st := range m.d.Starts {
		for _, l := range m.d.Why(st) {
			if m.cfg.Backfill >= sched.EASY {
				continue // a task that would be in the way of another does not start
			}
			m.checkMinima(t, l, lacking)
		}
	}
	m.took(t)
}

// lacking returns the paths of the pools below their minimum in which a task could start that asks for the lacking
// resource, and of the pools above them.
func (m *model) lacking() map[string]bool {
	found := map[string]bool{}
	for _, j := range m.jobs {
		if j.waiting < j.gang() || j.header.MaxRunning > 0 && j.running >= j.header.MaxRunning {
			continue
		}
		if !m.Cluster().Room(j.header.Key) || !m.admitted(j) {
			continue
		}
		for _, p := range m.configured(j.path) {
			_, units, _ := m.inUse(p.path, 0)
			if units < p.Min["cpu"] || j.request.Amounts["mem"] > 0 && m.mem(p.path) < p.Min["mem"] {
				for path := p.path; path != ""; path, _ = share.Cut(path) {
					found[path] = true
				}
			}
		}
	}
	return found
}

// checkMinima: while a sibling below its minimum could start something, nothing starts in a pool that is at its
// minimum.
func (m *model) checkMinima(t *rapid.T, l sched.Level, lacking map[string]bool) {
	chosen := m.Path(l.Child)
	if l.BelowMin {
		if !m.below(chosen) {
			t.Fatalf("%s was chosen as below its minimum, and is not", chosen)
		}
		return
	}
	above := m.Path(l.Pool)
	for path := range lacking {
		if parent, _ := share.Cut(path); parent == above && path != "" && path != above {
			t.Fatalf("%s was chosen although %s is below its minimum and could start", chosen, path)
		}
	}
}

// below reports whether a pool, or a pool in it, is below a minimum.
func (m *model) below(path string) bool {
	for where, p := range m.cfg.Root.All() {
		if _, units, _ := m.inUse(where, 0); inPool(where, path) && (units < p.Min["cpu"] || m.mem(where) < p.Min["mem"]) {
			return true
		}
	}
	return false
}

package sim

import (
	"cmp"
	"slices"
	"strings"
)

// MaxPoints bounds the points of a series, and maxPools the pools: the pools with the most work are listed,
// and the rest is summed up as others.
const (
	MaxPoints = 1000
	maxPools  = 12
)

// others names the sum of the other pools.
const others = "others"

func (s *sampler) begin(a *account) {
	s.from, s.at = a.at, a.at
	s.step = max(1, (a.w.Jobs[len(a.w.Jobs)-1].Submit-a.at)/MaxPoints) // it lasts at least this long
	s.next = s.from + s.step
	s.names, s.group = groups(a)
	s.totals = make([]float64, firstGroup+2*len(s.names))
	s.rows = append(s.rows, slices.Clone(s.totals))
}

// groups numbers the top-level pools, those with the most work first.
func groups(a *account) (names []string, of []int32) {
	work := map[string]float64{}
	for i := range a.w.Jobs {
		j := &a.w.Jobs[i]
		work[top(a.w.Pools[j.Pool])] += float64(j.Run) * float64(j.Procs)
	}
	for name := range work {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(work[y], work[x]), cmp.Compare(x, y)) })
	if len(names) > maxPools {
		names = append(names[:maxPools-1], others)
	}
	for _, c := range a.claims {
		i := slices.Index(names, top(a.w.Pools[c.pool]))
		if i < 0 {
			i = len(names) - 1
		}
		of = append(of, int32(i))
	}
	return names, of
}

// top returns the top-level pool at or above a pool.
func top(path string) string {
	head, _, _ := strings.Cut(path, "/")
	return head
}

// until takes the samples that are due before the second of a change.
func (s *sampler) until(a *account, now int64) {
	for s.next <= now {
		s.add(s.next)
		s.sum(a)
		s.rows = append(s.rows, slices.Clone(s.totals))
		if len(s.rows) > MaxPoints {
			kept := s.rows[:0]
			for i := 0; i < len(s.rows); i += 2 {
				kept = append(kept, s.rows[i])
			}
			s.rows = kept
			s.step *= 2
		}
		s.next = s.from + int64(len(s.rows))*s.step
	}
	s.add(now)
}

// add adds up the values that applied until a second.
func (s *sampler) add(now int64) {
	seconds := float64(now - s.at)
	for i, rate := range s.inForce {
		s.totals[i] += rate * seconds
	}
	s.at = now
}

// note records the values that apply from now on.
func (s *sampler) note(a *account) {
	s.inForce = [firstGroup]float64{busySeconds: float64(a.running), queueSeconds: float64(a.waiting),
		wantedSeconds: float64(a.wanted)}
}

// sum takes the totals of the groups from the account of fairness.
func (s *sampler) sum(a *account) {
	a.fair.Advance(a.instant(s.at))
	clear(s.totals[firstGroup:])
	for n, g := range s.group {
		t := a.fair.Total(n)
		s.totals[firstGroup+2*g] += t.Received
		s.totals[firstGroup+2*g+1] += t.Ideal
	}
}

// end takes the last sample, whose stretch may be shorter.
func (s *sampler) end(a *account) {
	s.sum(a)
	s.rows = append(s.rows, slices.Clone(s.totals))
}

func (a *account) series() Series {
	s := &a.sampler
	x := Series{From: s.from, Step: s.step}
	for _, name := range s.names {
		x.Pools = append(x.Pools, PoolSeries{Name: name})
	}
	machine := float64(a.w.Procs)
	for i := range len(s.rows) - 1 {
		seconds := float64(min(s.step, s.at-s.from-int64(i)*s.step))
		if seconds <= 0 {
			break
		}
		mean := func(k int) float64 { return (s.rows[i+1][k] - s.rows[i][k]) / seconds }
		x.Utilisation = append(x.Utilisation, mean(busySeconds)/machine)
		x.Queue = append(x.Queue, mean(queueSeconds))
		x.Wanted = append(x.Wanted, mean(wantedSeconds)/machine)
		for g := range x.Pools {
			p := &x.Pools[g]
			p.Used = append(p.Used, mean(firstGroup+2*g)/machine)
			p.Due = append(p.Due, mean(firstGroup+2*g+1)/machine)
		}
	}
	return x
}

package sched_test

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestDeficitResourcesApart: pools that want two kinds of slots all the time get their parts of each kind, even if
// something holds one of the pools back in one kind now and then.
func TestDeficitResourcesApart(t *testing.T) {
	weights := map[string]float64{"p1": 1, "p2": 3, "p3": 1}
	for _, c := range []struct {
		reduces int64
		max     cluster.Amounts // of p3
	}{{4, nil}, {4, cluster.Amounts{"reduce": 1}}, {8, cluster.Amounts{"reduce": 2}}, {4, cluster.Amounts{"map": 2}}} {
		t.Run(fmt.Sprint(c.reduces, c.max), func(t *testing.T) {
			var pools []share.Pool
			for _, name := range []string{"p1", "p2", "p3"} {
				pools = append(pools, share.Pool{Name: name, Weight: weights[name]})
			}
			pools[2].Max = c.max
			slots := map[string]float64{"map": 10, "reduce": float64(c.reduces)}
			got := playKinds(t, share.Pool{Policy: "deficit", Pools: pools}, slots, 1)
			for pool, w := range weights {
				for kind, n := range slots {
					if want := n * w / 5; math.Abs(got[pool+"/"+kind]-want) > 0.03*want {
						t.Errorf("%s has %.3f %s slots, want %.3f", pool, got[pool+"/"+kind], kind, want)
					}
				}
			}
		})
	}
}

// playKinds lets the leaves run tasks of two kinds without end for ten minutes, and returns the mean number of slots of
// each kind that each leaf had.
func playKinds(t *testing.T, root share.Pool, slots map[string]float64, seed uint64) map[string]float64 {
	s, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{})}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 100, "map": int64(slots["map"]), "reduce": int64(slots["reduce"])}, epoch)
	kind := map[int64]string{}
	for _, path := range leavesBelow("", root.Pools) {
		for _, r := range []string{"map", "reduce"} {
			id := int64(len(kind) + 1)
			kind[id] = r
			key := s.Key(cluster.Amounts{"cpu": 1, r: 1})
			s.Add(sched.Job{ID: id, Pool: s.Pool(path), Key: key, Priority: normal, Tasks: 100_000}, epoch)
		}
	}
	const length = 600 * time.Second
	rng, now, got := rand.New(rand.NewPCG(1, seed)), epoch, map[string]float64{}
	var running endings
	var d sched.Decision
	for now.Sub(epoch) < length {
		for d.More = true; d.More; {
			s.Step(now, 0, &d)
			for _, x := range d.Starts {
				took := time.Duration(280+rng.IntN(50)) * time.Millisecond
				heap.Push(&running, ending{now.Add(took).Sub(epoch).Seconds(), x.Run, x.Pool})
				got[s.Path(x.Pool)+"/"+kind[x.Job]] += took.Seconds() / length.Seconds()
			}
		}
		next := heap.Pop(&running).(ending)
		now = epoch.Add(time.Duration(next.at * 1e9))
		s.Finish(next.run, now, true)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	return got
}

// leavesBelow lists the paths of the pools in the list, and below them, that have no children.
func leavesBelow(path string, pools []share.Pool) (leaves []string) {
	for _, p := range pools {
		if len(p.Pools) == 0 {
			leaves = append(leaves, path+p.Name)
		}
		leaves = append(leaves, leavesBelow(path+p.Name+"/", p.Pools)...)
	}
	return leaves
}

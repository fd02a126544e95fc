package sched_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// newSite is a scheduler of a large site, after a step: 4,900 pools of people in 70 institutes, a thousand full nodes,
// and a hundred thousand waiting jobs.
func newSite(b *testing.B) *sched.Scheduler {
	b.Helper()
	now := time.Unix(1_700_000_000, 0)
	s, err := sched.New(sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{}), HalfLife: 7 * 24 * time.Hour, Backfill: sched.EASY}, now, 1)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		s.Join(fmt.Sprint("n", i), cluster.Amounts{"cpu": 32, "mem": 128 << 30}, now)
	}
	dice := rand.New(rand.NewPCG(7, 7))
	for id := range int64(105_000) {
		user := dice.IntN(4900)
		sort := user + dice.IntN(2)
		s.Add(sched.Job{
			ID: id + 1, Pool: s.Pool(fmt.Sprintf("faculty%d/inst%d/user%d", user%10, user%70, user)), Priority: []int{2, 2, 2, 2, 2, 2, 2, 1, 1, 3}[dice.IntN(10)], Tasks: 1,
			Key: s.Key(cluster.Amounts{"cpu": []int64{1, 4, 8, 8, 16}[sort%5], "mem": []int64{2 << 30, 8 << 30, 24 << 30}[user%3]}), Limit: time.Duration(1+sort%12) * time.Hour,
		}, now)
	}
	s.Rest()
	return s
}

// BenchmarkSite measures the operations with which questions about a large site begin: copies, and a preview of a
// thousand starts.
func BenchmarkSite(b *testing.B) {
	s := newSite(b)
	b.Run("fork", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Fork()
		}
	})
	b.Run("future", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Fork().AsFuture(&sched.Room{})
		}
	})
	b.Run("preview", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			s.Preview(func(sched.Start, float64) bool { n++; return n < 1000 })
		}
	})
}

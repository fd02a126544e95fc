package main

import (
	"slices"
	"time"
)

// plan holds the measurements to make, and their durations.
type plan struct {
	Pools    []int         `json:"pools"`
	Batches  []int         `json:"batches"`
	Claimers []int         `json:"claimers"`
	Rounds   int           `json:"rounds"`
	Turn     time.Duration `json:"turn_ns"` // of each contestant in each round
	Waiting  int           `json:"waiting"` // waiting jobs during the measurements
	Only     []string      `json:"only,omitempty"`
	Jobs     int           `json:"jobs"`  // through the whole path
	Slots    int           `json:"slots"` // of the whole path
	Samples  int           `json:"samples"`
}

// whole is the plan of the figures in the documentation.
var whole = plan{
	Pools: []int{10, 1000, 100_000}, Batches: []int{1, 10, 100, 1000}, Claimers: []int{1, 4, 16},
	Rounds: 3, Turn: time.Second, Waiting: 20_000, Jobs: 20_000, Slots: 200, Samples: 100,
}

// smoke takes seconds. It shows that everything works, but not how fast.
var smoke = plan{
	Pools: []int{3, 20}, Batches: []int{1, 10}, Claimers: []int{1, 4},
	Rounds: 1, Turn: 20 * time.Millisecond, Waiting: 200, Jobs: 300, Slots: 20, Samples: 3,
}

func (p *plan) takesPart(name string) bool {
	return len(p.Only) == 0 || slices.Contains(p.Only, name)
}

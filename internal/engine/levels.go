package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why/room"
)

// levelsSetting is the key under which the store keeps the levels of pools, see [sched.Memory.Levels]. They change with
// each decision, so servers do not follow each other's levels: each has its own, and a server that starts takes the
// latest levels in the store.
const levelsSetting = "levels"

// How often levels are stored: a killed server loses the changes since the last time. There may be many pools, so
// storing them takes at most 1/levelsPart of the time.
const (
	levelsEvery = 10 * time.Second
	levelsPart  = 100
	levelsLast  = 3 * time.Second // timeout when a server ends
)

// keptLevels is the stored form of levels.
type keptLevels struct {
	AsOf  time.Time   `json:"as_of"`
	Pools []keptLevel `json:"pools"`
}

type keptLevel struct {
	Pool   string      `json:"p"`
	Policy string      `json:"y,omitempty"`
	Level  float64     `json:"l,omitempty"`
	Served float64     `json:"s,omitempty"`
	Waits  bool        `json:"w,omitempty"`
	Clock  float64     `json:"c,omitempty"`
	Turns  []room.Turn `json:"t,omitempty"`
}

// levelKeeper stores the levels of pools.
type levelKeeper struct {
	*base
	version uint64 // of the state that was stored last
	next    time.Time
}

// keep stores the levels if they may have changed and it is time to store them. If the argument "end" is
// true, it is always time.
func (k *levelKeeper) keep(ctx context.Context, end bool) {
	keeper, ok := k.Store.(queue.Settings)
	now := time.Now()
	if !ok || !end && now.Before(k.next) {
		return
	}
	version, text := read2(k.base, func(s *State) (uint64, string) {
		if s.Core == nil || s.Version == k.version {
			return s.Version, ""
		}
		return s.Version, levelsText(s.Core.Memory().Levels())
	})
	if text != "" {
		if err := keeper.Set(ctx, levelsSetting, text); err != nil {
			k.Log.Debug("could not store the levels of pools", "error", err)
			return
		}
	}
	k.version, k.next = version, now.Add(max(levelsEvery, levelsPart*time.Since(now)))
}

// keepLast stores the levels when the server ends.
func (k *levelKeeper) keepLast(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), levelsLast)
	defer cancel()
	k.keep(ctx, true)
}

// levelsText encodes levels for the store; "" if there are none. All fields are finite, so encoding cannot fail.
func levelsText(all []sched.Known) string {
	if len(all) == 0 {
		return ""
	}
	kept := keptLevels{AsOf: all[0].AsOf, Pools: make([]keptLevel, len(all))}
	for i, x := range all {
		kept.Pools[i] = keptLevel{x.Pool, x.Policy, x.Level, x.Served, x.Waits, x.Clock, x.Turns}
	}
	b, err := json.Marshal(kept)
	if err != nil {
		panic(fmt.Sprintf("engine: levels %v: %v", all, err))
	}
	return string(b)
}

// readLevels reads the stored levels. If they are malformed, all pools begin at the same level.
func (b *base) readLevels(ctx context.Context) ([]sched.Known, error) {
	keeper, ok := b.Store.(queue.Settings)
	if !ok {
		return nil, nil
	}
	all, err := keeper.Settings(ctx)
	if err != nil || all[levelsSetting] == "" {
		return nil, err
	}
	var kept keptLevels
	if err := json.Unmarshal([]byte(all[levelsSetting]), &kept); err != nil {
		b.Log.Warn("the stored levels of pools cannot be read: all pools begin at the same level", "error", err)
		return nil, nil
	}
	known := make([]sched.Known, len(kept.Pools))
	for i, x := range kept.Pools {
		known[i] = sched.Known{Pool: x.Pool, AsOf: kept.AsOf, Policy: x.Policy, Level: x.Level, Served: x.Served,
			Waits: x.Waits, Clock: x.Clock, Turns: x.Turns}
	}
	return known, nil
}

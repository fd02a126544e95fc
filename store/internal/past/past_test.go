package past

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// TestBlocks: random steps, with gaps and repetitions, are read back as they were written.
func TestBlocks(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var rows [Steps]*row
		for i := range rows {
			switch rng.IntN(4) {
			case 0:
			case 1:
				if i > 0 && rows[i-1] != nil {
					same := *rows[i-1]
					rows[i] = &same
				}
			default:
				rows[i] = new(row)
				for k := range fields {
					rows[i][k] = rng.Int64N(1 << rng.IntN(52))
				}
			}
		}
		got, err := decode(encode(&rows))
		if err != nil || !reflect.DeepEqual(got, rows) {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// FuzzBlocks: any block in the database is read or refused, and a block that was read is written
// the same way again.
func FuzzBlocks(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 3, 1, 20, 0, 1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := decode(data)
		if err != nil {
			return
		}
		if again, err := decode(encode(&rows)); err != nil || !reflect.DeepEqual(again, rows) {
			t.Errorf("%x is not the same after it was written: %v", data, err)
		}
	})
}

// TestSize bounds the bytes that the history of a pool takes, and prints them (with -v).
func TestSize(t *testing.T) {
	at := time.Unix(0, 0).UTC()
	for _, c := range []struct {
		name string
		most int // bytes a day, of all three levels
		step func(i int, rng *rand.Rand) queue.HistoryStep
	}{
		{"steady", 1000, func(int, *rand.Rand) queue.HistoryStep {
			return queue.HistoryStep{Seconds: 1, Share: 0.5, Used: 0.4, FairNow: 8, Running: 8, Demand: 100, Waiting: 92}
		}},
		{"busy", 140_000, func(i int, rng *rand.Rand) queue.HistoryStep {
			run := 40 + 20*math.Sin(float64(i)/300) + 4*rng.Float64()
			return queue.HistoryStep{Seconds: 1, Share: 0.5, Used: 0.4 + 0.05*math.Sin(float64(i)/2000), FairNow: run + rng.Float64(),
				Running: run, Demand: 200 + 30*rng.Float64(), Waiting: 150 + 30*rng.Float64(), OldestWait: 300 * rng.Float64()}
		}},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		said, all := "", 0
		for level, l := range queue.HistoryLevels {
			blocks, bytes := map[Key][]byte{}, 0
			for i := range 2 * Steps {
				s := c.step(i*int(l.Step/queue.HistoryLevels[0].Step), rng)
				s.At = at.Add(time.Duration(i) * l.Step)
				x := l.Step.Seconds()
				s.Seconds, s.Share, s.Used, s.FairNow, s.Running, s.Demand, s.Waiting = x, x*s.Share, x*s.Used, x*s.FairNow, x*s.Running, x*s.Demand, x*s.Waiting
				k := Key{level, block(level, s.At), "a"}
				var err error
				if blocks[k], err = Add(blocks[k], k, []queue.HistoryStep{s}); err != nil {
					t.Fatal(err)
				}
			}
			for _, b := range blocks {
				bytes += len(b)
			}
			day := bytes * int(24*time.Hour/l.Step) / (2 * Steps)
			all += day
			said += fmt.Sprintf("%v: %d bytes a day, %d in all; ", l.Step, day, bytes*int(l.Kept/l.Step)/(2*Steps))
		}
		t.Logf("a %s pool: %s%d bytes a day together", c.name, said, all)
		if all > c.most {
			t.Errorf("a %s pool takes %d bytes a day, at most %d are meant", c.name, all, c.most)
		}
	}
}

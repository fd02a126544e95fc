// Package past encodes the history of pools for the stores. It makes blocks of 240 steps, one for each pool, level and
// time span. So a day of a pool is a few dozen rows, and a chart reads only the rows that it shows. Within a block each
// number is written as its difference from the one before, and omitted if it is the same: a pool with constant numbers
// costs next to nothing.
package past

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Steps is the number of steps in a block.
const Steps = 240

// Key names a block.
type Key struct {
	Level int
	Block int64
	Pool  string
}

func compare(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Block, b.Block), cmp.Compare(a.Pool, b.Pool))
}

// span returns the length of a block of a level.
func span(level int) time.Duration { return Steps * queue.HistoryLevels[level].Step }

// block returns the number of the block that contains an instant.
func block(level int, t time.Time) int64 { return t.UnixNano() / int64(span(level)) }

// Known refuses a level that does not exist.
func Known(level int) error {
	if level < 0 || level >= len(queue.HistoryLevels) {
		return fmt.Errorf("history level %d does not exist, as there are %d levels: "+
			"%w", level, len(queue.HistoryLevels), queue.ErrInvalid)
	}
	return nil
}

// Oldest returns the first block of a level that is kept at an instant.
func Oldest(level int, now time.Time) int64 {
	return block(level, now.Add(-queue.HistoryLevels[level].Kept))
}

// Blocks returns the numbers of the blocks that a query needs, as far as they may be kept.
func Blocks(q queue.HistoryQuery, now time.Time) (all []int64) {
	if !q.To.After(q.From) {
		return nil
	}
	last := min(block(q.Level, q.To), block(q.Level, now)+1)
	for b := max(block(q.Level, q.From), Oldest(q.Level, now)); b <= last; b++ {
		all = append(all, b)
	}
	return all
}

// Split divides history into its blocks, in order.
func Split(pools []queue.PoolHistory) ([]Key, map[Key][]queue.HistoryStep, error) {
	var keys []Key
	parts := map[Key][]queue.HistoryStep{}
	for _, p := range pools {
		if err := Known(p.Level); err != nil {
			return nil, nil, err
		}
		for _, s := range p.Steps {
			k := Key{p.Level, block(p.Level, s.At), p.Pool}
			if parts[k] == nil {
				keys = append(keys, k)
			}
			parts[k] = append(parts[k], s)
		}
	}
	slices.SortFunc(keys, compare)
	return keys, parts, nil
}

// The quanta of the stored values: milliseconds; thousandths of a share for a second; twentieths of
// a unit for a second; tenths of a second. Sums of whole quanta are exact.
var quanta = [fields]float64{1e-3, 1e-3, 1e-3, 0.05, 0.05, 0.05, 0.05, 0.1}

const (
	fields  = 8
	longest = fields - 1 // the field that is a maximum, not a sum
)

// row is a step in quanta.
type row [fields]int64

func pack(s *queue.HistoryStep) (r row) {
	for i, v := range [fields]float64{s.Seconds, s.Share, s.Used, s.FairNow, s.Running, s.Demand, s.Waiting, s.OldestWait} {
		r[i] = int64(math.Round(min(max(v/quanta[i], 0), 1<<52)))
	}
	return r
}

func (r *row) unpack(at time.Time) queue.HistoryStep {
	v := func(i int) float64 { return float64(r[i]) * quanta[i] }
	return queue.HistoryStep{At: at, Seconds: v(0), Share: v(1), Used: v(2), FairNow: v(3), Running: v(4), Demand: v(5), Waiting: v(6), OldestWait: v(7)}
}

func (r *row) add(o row) {
	for i := range longest {
		r[i] += o[i]
	}
	r[longest] = max(r[longest], o[longest])
}

// Add returns a block with steps added to its own. Empty data is an empty block.
func Add(data []byte, k Key, steps []queue.HistoryStep) ([]byte, error) {
	rows, err := decode(data)
	if err != nil {
		return nil, err
	}
	step := int64(queue.HistoryLevels[k.Level].Step)
	for i := range steps {
		at := steps[i].At.UnixNano()/step - k.Block*Steps
		if at < 0 || at >= Steps {
			return nil, fmt.Errorf("history of %q: %v is not in block %d", k.Pool, steps[i].At, k.Block)
		}
		if rows[at] == nil {
			rows[at] = new(row)
		}
		rows[at].add(pack(&steps[i]))
	}
	return encode(&rows), nil
}

// read calls f for the steps of a block that a query selects.
func read(data []byte, k Key, q queue.HistoryQuery, f func(queue.HistoryStep)) error {
	rows, err := decode(data)
	if err != nil {
		return err
	}
	step := queue.HistoryLevels[k.Level].Step
	for i, r := range rows {
		at := time.Unix(0, (k.Block*Steps+int64(i))*int64(step)).UTC()
		if r == nil || at.Before(q.From) || !at.Before(q.To) {
			continue
		}
		s := r.unpack(at)
		if over := s.Seconds / step.Seconds(); over > 1 { // two servers saw the same time
			for _, v := range []*float64{&s.Seconds, &s.Share, &s.Used, &s.FairNow, &s.Running, &s.Demand, &s.Waiting} {
				*v /= over
			}
		}
		f(s)
	}
	return nil
}

var errBroken = errors.New("a block of history cannot be read")

// encode writes a block. For each run of successive steps, the block has the number of steps left out before the run,
// and the length of the run. Then, for each step of the run, it has a mask of the numbers that differ from the step
// before, and the differences. An empty mask is followed by the number of further equal steps.
func encode(rows *[Steps]*row) []byte {
	var out []byte
	var last row
	for i := 0; i < Steps; {
		skip := i
		for i < Steps && rows[i] == nil {
			i++
		}
		end := i
		for end < Steps && rows[end] != nil {
			end++
		}
		if end == i {
			break
		}
		out = binary.AppendUvarint(out, uint64(i-skip))
		out = binary.AppendUvarint(out, uint64(end-i))
		for i < end {
			mask := byte(0)
			for k := range fields {
				if rows[i][k] != last[k] {
					mask |= 1 << k
				}
			}
			out = append(out, mask)
			if mask == 0 {
				same := i
				for i < end && *rows[i] == last {
					i++
				}
				out = binary.AppendUvarint(out, uint64(i-same-1))
				continue
			}
			for k := range fields {
				if mask&(1<<k) != 0 {
					out = binary.AppendVarint(out, rows[i][k]-last[k])
				}
			}
			last = *rows[i]
			i++
		}
	}
	return out
}

func decode(data []byte) (rows [Steps]*row, err error) {
	r := reader{data: data}
	var last row
	for i := 0; len(r.data) > 0; {
		i += r.count(Steps)
		end := i + r.count(Steps)
		if end > Steps {
			return rows, errBroken
		}
		for i < end && !r.broken {
			mask := r.byte()
			n := 1
			if mask == 0 {
				n += r.count(Steps)
			}
			for k := range fields {
				if mask&(1<<k) != 0 {
					last[k] += r.signed()
				}
			}
			for ; n > 0 && i < end; n-- {
				same := last
				rows[i] = &same
				i++
			}
		}
		if r.broken {
			return rows, errBroken
		}
	}
	return rows, nil
}

// reader reads numbers until it finds an error.
type reader struct {
	data   []byte
	broken bool
}

func (r *reader) took(n int) {
	if n <= 0 || n > len(r.data) {
		r.broken, n = true, len(r.data)
	}
	r.data = r.data[n:]
}

func (r *reader) byte() byte {
	if len(r.data) == 0 {
		r.broken = true
		return 0
	}
	b := r.data[0]
	r.took(1)
	return b
}

func (r *reader) count(most uint64) int {
	v, n := binary.Uvarint(r.data)
	r.took(n)
	if v > most {
		r.broken, v = true, 0
	}
	return int(v)
}

func (r *reader) signed() int64 {
	v, n := binary.Varint(r.data)
	r.took(n)
	return v
}

package postgres

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// The changes of a transaction are mostly alike: a hundred jobs of a few users that begin to
// wait. So the feed keeps, in the place of a text of half a kilobyte for each change, what
// changes have in common once, as JSON, and of each change only what is its own, as numbers:
//
//	count of the kinds, and of each: length, JSON of the Change without its own
//	count of the changes, and of each: kind, id, time, submitted, its runs
//
// Ids and times are differences from those before. An empty text is no changes.

// alike is what is compared of two changes at once. What else they have in common are lists
// and maps, see sameLists.
type alike struct {
	what                                      fairlead.What
	state                                     fairlead.State
	reason, user, kind, pool, priority, qos   string
	group, requestor, constraint, reservation string
	nice, most, tasks, gang                   int
	limit                                     time.Duration
	handler, spread                           bool
}

func alikeOf(c *fairlead.Change) alike {
	h := &c.Job
	return alike{
		c.What, c.State, c.Reason, h.User, h.Kind, h.Pool, h.Priority, h.QOS, h.Group, h.Requestor, h.Constraint, h.Reservation,
		h.Nice, h.Most, h.Tasks, h.Gang, h.Limit, h.Handler, h.Spread,
	}
}

func sameLists(a, b *fairlead.Change) bool {
	return slices.Equal(a.Waits, b.Waits) && slices.Equal(a.Job.Rates, b.Job.Rates) &&
		maps.Equal(a.Job.Request, b.Job.Request) && maps.Equal(a.Job.Licenses, b.Job.Licenses)
}

type encoder struct {
	text    []byte
	kinds   []*fairlead.Change // the first of each
	found   map[alike][]int
	id      int64
	at      int64
	strings map[string]int
}

// encode writes changes for [decode] to read.
func encode(changes []fairlead.Change) ([]byte, error) {
	if len(changes) == 0 {
		return []byte{}, nil // not NULL
	}
	e := &encoder{found: map[alike][]int{}, strings: map[string]int{}}
	e.text = binary.AppendUvarint(e.text, uint64(len(changes)))
	for i := range changes {
		e.change(&changes[i])
	}
	head := binary.AppendUvarint(nil, uint64(len(e.kinds)))
	for _, k := range e.kinds {
		common := *k
		common.Job.ID, common.Job.Submitted, common.At, common.Runs = 0, time.Time{}, time.Time{}, nil
		text, err := json.Marshal(&common)
		if err != nil {
			return nil, err
		}
		head = append(binary.AppendUvarint(head, uint64(len(text))), text...)
	}
	return append(head, e.text...), nil
}

func (e *encoder) number(n int64) { e.text = binary.AppendVarint(e.text, n) }

// time writes an instant; 0 is none.
func (e *encoder) time(t time.Time) {
	n := life.Nanos(t)
	if n == 0 {
		e.text = append(e.text, 0)
		return
	}
	e.text = append(e.text, 1)
	e.number(n - e.at)
	e.at = n
}

// string writes a string, or which one of those before it is.
func (e *encoder) string(s string) {
	at, known := e.strings[s]
	if known {
		e.number(int64(at))
		return
	}
	e.strings[s] = len(e.strings)
	e.number(-1 - int64(len(s)))
	e.text = append(e.text, s...)
}

func (e *encoder) change(c *fairlead.Change) {
	e.number(int64(e.kind(c)))
	e.number(c.Job.ID - e.id)
	e.id = c.Job.ID
	e.time(c.At)
	e.time(c.Job.Submitted)
	e.number(int64(len(c.Runs)))
	for i := range c.Runs {
		e.run(&c.Runs[i])
	}
}

// kind is the number of what a change has in common with others.
func (e *encoder) kind(c *fairlead.Change) int {
	key := alikeOf(c)
	for _, k := range e.found[key] {
		if sameLists(e.kinds[k], c) {
			return k
		}
	}
	e.found[key] = append(e.found[key], len(e.kinds))
	e.kinds = append(e.kinds, c)
	return len(e.kinds) - 1
}

func (e *encoder) run(r *fairlead.Run) {
	e.number(r.JobID - e.id)
	e.number(int64(r.Task))
	e.number(int64(r.Attempt))
	e.string(r.Holder)
	e.time(r.Started)
	e.text = binary.LittleEndian.AppendUint64(e.text, math.Float64bits(r.Charge))
	e.time(r.Ended)
	if r.Learns {
		e.text = append(e.text, 1)
	} else {
		e.text = append(e.text, 0)
	}
}

type decoder struct {
	text    []byte
	err     error
	id      int64
	at      int64
	strings []string
}

var errChanges = errors.New("the text of changes is broken")

// decode reads the changes of one transaction.
func decode(text []byte) ([]fairlead.Change, error) {
	if len(text) == 0 {
		return nil, nil
	}
	d := &decoder{text: text}
	kinds := make([]fairlead.Change, d.count())
	for i := range kinds {
		if err := json.Unmarshal(d.bytes(d.count()), &kinds[i]); err != nil {
			return nil, fmt.Errorf("%w: %w", errChanges, err)
		}
		for k := range kinds[i].Waits {
			w := &kinds[i].Waits[k]
			w.Begin = life.Instant(life.Nanos(w.Begin))
		}
	}
	out := make([]fairlead.Change, d.count())
	for i := range out {
		k := d.number()
		if k < 0 || int(k) >= len(kinds) {
			return nil, errChanges
		}
		out[i] = kinds[k]
		d.change(&out[i])
	}
	return out, d.err
}

func (d *decoder) number() int64 {
	n, size := binary.Varint(d.text)
	d.skip(size)
	return n
}

// count is a number of things of at least a byte each.
func (d *decoder) count() int {
	n, size := binary.Uvarint(d.text)
	if d.skip(size); n > uint64(len(d.text)) {
		d.err, n = errChanges, 0
	}
	return int(n)
}

func (d *decoder) skip(size int) {
	if size <= 0 {
		d.text, d.err = nil, errChanges
		return
	}
	d.text = d.text[size:]
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.text) {
		d.text, d.err = nil, errChanges
		return make([]byte, min(n, 8))
	}
	out := d.text[:n]
	d.text = d.text[n:]
	return out
}

func (d *decoder) time() time.Time {
	if d.bytes(1)[0] == 0 {
		return time.Time{}
	}
	d.at += d.number()
	return life.Instant(d.at)
}

func (d *decoder) string() string {
	n := d.number()
	switch {
	case n < 0:
		d.strings = append(d.strings, string(d.bytes(int(min(-1-n, int64(len(d.text)))))))
		return d.strings[len(d.strings)-1]
	case int(n) < len(d.strings):
		return d.strings[n]
	}
	d.err = errChanges
	return ""
}

func (d *decoder) change(c *fairlead.Change) {
	d.id += d.number()
	c.Job.ID, c.At, c.Job.Submitted = d.id, d.time(), d.time()
	n := d.number()
	if n < 0 || n > int64(len(d.text)) {
		d.err, n = errChanges, 0
	}
	if n > 0 {
		c.Runs = make([]fairlead.Run, n)
	}
	for i := range c.Runs {
		d.run(&c.Runs[i])
	}
}

func (d *decoder) run(r *fairlead.Run) {
	r.JobID = d.id + d.number()
	r.Task, r.Attempt = int(d.number()), int(d.number())
	r.Holder, r.Started = d.string(), d.time()
	r.Charge = math.Float64frombits(binary.LittleEndian.Uint64(d.bytes(8)))
	r.Ended, r.Learns = d.time(), d.bytes(1)[0] == 1
}

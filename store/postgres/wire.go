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

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// The changes of a transaction are mostly alike: a hundred jobs of a few users that begin to wait. A full text for each
// change would take half a kilobyte. So the feed stores the common fields once, as JSON. For each change it stores only
// the fields that differ from these and from the change before: usually four to six bytes. Such a short text stays in
// its row of the table.
//
//	count of the kinds, and of each: length, JSON of the Change without its own
//	count of the changes, and of each: flags, and what these do not say:
//	  kind, names, id, time, submitted, its runs
//
// Ids and times are differences from those before. An empty text is no changes.

// The flags of a change: the fields that equal those of the change before.
const (
	sameKind = 1 << iota
	sameNames
	sameAt
	sameSubmitted
	oneRun // instead of their count
)

// The flags of a run: the fields that equal those of the run before, even of another change.
const (
	onlyTask = 1 << iota // the first one of the change's job
	sameHolder
	sameStarted
	sameEnded
	sameCharge
	learns
	queued
)

// names holds the names of a change; one transaction may have many with the same kind.
type names struct{ user, pool, group, requestor string }

// own returns the names of a change.
func own(c *queue.Change) names {
	return names{c.Job.User, c.Job.Pool, c.Job.Group, c.Job.Requestor}
}

// alike holds the comparable fields of a change, without its names. sameLists compares its lists and maps.
type alike struct {
	what                        queue.What
	state                       queue.State
	reason, kind, priority, qos string
	constraint, reservation     string
	nice, max, tasks, gang      int
	limit                       time.Duration
	handler, spread             bool
}

func alikeOf(c *queue.Change) alike {
	h := &c.Job
	return alike{
		c.What, c.State, c.Reason, h.Kind, h.Priority, h.QOS, h.Constraint, h.Reservation,
		h.Nice, h.MaxRunning, h.Tasks, h.Gang, h.Limit, h.Handler, h.Spread,
	}
}

func sameLists(a, b *queue.Change) bool {
	return slices.Equal(a.Waits, b.Waits) && slices.Equal(a.Job.Rates, b.Job.Rates) &&
		slices.Equal(a.Job.Avoid, b.Job.Avoid) &&
		maps.Equal(a.Job.Request, b.Job.Request) && maps.Equal(a.Job.Licenses, b.Job.Licenses)
}

// before holds the values that the encoder wrote last, and the decoder read last.
type before struct {
	kind, id                      int64
	at, submitted, started, ended int64
	names                         names
	holder                        string
	charge                        uint64
}

type encoder struct {
	before
	text    []byte
	kinds   []*queue.Change // the first change of each kind
	key     alike           // of the last kind
	found   map[alike][]int
	strings map[string]int
}

// encode writes changes for [decode] to read.
func encode(changes []queue.Change) ([]byte, error) {
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
		common.Job.User, common.Job.Pool, common.Job.Group, common.Job.Requestor = "", "", "", ""
		text, err := json.Marshal(&common)
		if err != nil {
			return nil, err
		}
		head = append(binary.AppendUvarint(head, uint64(len(text))), text...)
	}
	return append(head, e.text...), nil
}

func (e *encoder) number(n int64) { e.text = binary.AppendVarint(e.text, n) }

// instant writes an instant unless the flag says that it equals the one before.
func (e *encoder) instant(flags byte, same byte, n int64, before *int64) {
	if flags&same == 0 {
		e.number(n - *before)
		*before = n
	}
}

// string writes a string, or the number of an equal earlier one.
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

// when returns the flag if a condition holds.
func when(condition bool, flag byte) byte {
	if condition {
		return flag
	}
	return 0
}

func (e *encoder) change(c *queue.Change) {
	kind, at, submitted, names := int64(e.kindOf(c)), life.Nanos(c.At), life.Nanos(c.Job.Submitted), own(c)
	flags := when(kind == e.kind, sameKind) | when(names == e.names, sameNames) | when(at == e.at, sameAt) |
		when(submitted == e.submitted, sameSubmitted) | when(len(c.Runs) == 1, oneRun)
	e.text = append(e.text, flags)
	if flags&sameKind == 0 {
		e.number(kind)
		e.kind = kind
	}
	if flags&sameNames == 0 {
		for _, name := range []string{names.user, names.pool, names.group, names.requestor} {
			e.string(name)
		}
		e.names = names
	}
	e.number(c.Job.ID - e.id)
	e.id = c.Job.ID
	e.instant(flags, sameAt, at, &e.at)
	e.instant(flags, sameSubmitted, submitted, &e.submitted)
	if flags&oneRun == 0 {
		e.number(int64(len(c.Runs)))
	}
	for i := range c.Runs {
		e.run(&c.Runs[i])
	}
}

// kindOf returns the number of the kind of a change, i.e. of its common fields.
func (e *encoder) kindOf(c *queue.Change) int {
	key := alikeOf(c)
	if len(e.kinds) > 0 && key == e.key && sameLists(e.kinds[e.kind], c) {
		return int(e.kind)
	}
	e.key = key
	for _, k := range e.found[key] {
		if sameLists(e.kinds[k], c) {
			return k
		}
	}
	e.found[key] = append(e.found[key], len(e.kinds))
	e.kinds = append(e.kinds, c)
	return len(e.kinds) - 1
}

func (e *encoder) run(r *queue.Run) {
	started, ended, charge := life.Nanos(r.Started), life.Nanos(r.Ended), math.Float64bits(r.Charge)
	flags := when(r.JobID == e.id && r.Task == 0, onlyTask) | when(r.Holder == e.holder, sameHolder) |
		when(started == e.started, sameStarted) | when(ended == e.ended, sameEnded) |
		when(charge == e.charge, sameCharge) | when(r.Learns, learns) | when(r.Queued, queued)
	e.text = append(e.text, flags)
	if flags&onlyTask == 0 {
		e.number(r.JobID - e.id)
		e.number(int64(r.Task))
	}
	e.number(int64(r.Attempt))
	if flags&sameHolder == 0 {
		e.string(r.Holder)
		e.holder = r.Holder
	}
	e.instant(flags, sameStarted, started, &e.started)
	e.instant(flags, sameEnded, ended, &e.ended)
	if flags&sameCharge == 0 {
		e.text = binary.LittleEndian.AppendUint64(e.text, charge)
		e.charge = charge
	}
}

type decoder struct {
	before
	text    []byte
	err     error
	strings []string
}

var errChanges = errors.New("the encoded changes are damaged")

// decode reads the changes of one transaction.
func decode(text []byte) ([]queue.Change, error) {
	if len(text) == 0 {
		return nil, nil
	}
	d := &decoder{text: text}
	kinds := make([]queue.Change, d.count())
	for i := range kinds {
		if err := json.Unmarshal(d.bytes(d.count()), &kinds[i]); err != nil {
			return nil, fmt.Errorf("%w: %w", errChanges, err)
		}
		for k := range kinds[i].Waits {
			w := &kinds[i].Waits[k]
			w.Begin = life.Instant(life.Nanos(w.Begin))
		}
	}
	out := make([]queue.Change, d.count())
	for i := range out {
		flags := d.flags()
		if flags&sameKind == 0 {
			d.kind = d.number()
		}
		if d.kind < 0 || int(d.kind) >= len(kinds) {
			return nil, errChanges
		}
		out[i] = kinds[d.kind]
		d.change(&out[i], flags)
	}
	return out, d.err
}

func (d *decoder) number() int64 {
	n, size := binary.Varint(d.text)
	d.skip(size)
	return n
}

// count reads a number of items that take at least a byte each.
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

func (d *decoder) flags() byte { return d.bytes(1)[0] }

// instant reads an instant unless the flag says that it equals the one before.
func (d *decoder) instant(flags byte, same byte, before *int64) time.Time {
	if flags&same == 0 {
		*before += d.number()
	}
	return life.Instant(*before)
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

func (d *decoder) change(c *queue.Change, flags byte) {
	if flags&sameNames == 0 {
		d.names = names{d.string(), d.string(), d.string(), d.string()}
	}
	h := &c.Job
	h.User, h.Pool, h.Group, h.Requestor = d.names.user, d.names.pool, d.names.group, d.names.requestor
	d.id += d.number()
	h.ID = d.id
	c.At, h.Submitted = d.instant(flags, sameAt, &d.at), d.instant(flags, sameSubmitted, &d.submitted)
	n := int64(1)
	if flags&oneRun == 0 {
		n = d.number()
	}
	if n < 0 || n > int64(len(d.text)) {
		d.err, n = errChanges, 0
	}
	if n > 0 {
		c.Runs = make([]queue.Run, n)
	}
	for i := range c.Runs {
		d.run(&c.Runs[i])
	}
}

func (d *decoder) run(r *queue.Run) {
	flags := d.flags()
	r.JobID = d.id
	if flags&onlyTask == 0 {
		r.JobID += d.number()
		r.Task = int(d.number())
	}
	r.Attempt = int(d.number())
	if flags&sameHolder == 0 {
		d.holder = d.string()
	}
	r.Holder, r.Started = d.holder, d.instant(flags, sameStarted, &d.started)
	r.Ended = d.instant(flags, sameEnded, &d.ended)
	if flags&sameCharge == 0 {
		d.charge = binary.LittleEndian.Uint64(d.bytes(8))
	}
	r.Charge, r.Learns, r.Queued = math.Float64frombits(d.charge), flags&learns != 0, flags&queued != 0
}

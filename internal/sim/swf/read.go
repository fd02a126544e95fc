package swf

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Trace is a log as read: its lines unchanged, in their order.
type Trace struct {
	Name string
	Header
	Records []Record
	// Rounded is the number of whole numbers that had a fraction. Extra is the number of lines with more than
	// 18 fields; only the first 18 count.
	Rounded, Extra int
}

// Error is a mistake in a line.
type Error struct {
	Name      string
	Line, Col int // from 1
	Msg       string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.Name, e.Line, e.Col, e.Msg) }

// maxLine bounds a line, in bytes.
const maxLine = 64 << 10

// Read reads a trace, compressed with gzip or not. The name appears in errors.
func Read(name string, r io.Reader) (*Trace, error) {
	in := bufio.NewReaderSize(r, maxLine)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, unpacking(name, err)
		}
		in = bufio.NewReaderSize(z, maxLine)
	}
	t := &Trace{Name: name}
	for line := 1; ; line++ {
		text, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, &Error{name, line, 1, fmt.Sprintf("the line is longer than %d bytes: is this a trace in Standard Workload Format?", maxLine)}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, unpacking(name, err)
		}
		if problem := t.line(text); problem != nil {
			problem.Name, problem.Line = name, line
			return nil, problem
		}
		if err != nil {
			return t, nil
		}
	}
}

func unpacking(name string, err error) error {
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: %w: the file is damaged or incomplete; get a new copy", name, err)
	}
	return fmt.Errorf("read %s: %w", name, err)
}

// line reads a line: a comment, an empty line, or a job.
func (t *Trace) line(text []byte) *Error {
	at := skipSpace(text, 0)
	if at == len(text) {
		return nil
	}
	if text[at] == ';' {
		t.comment(string(text[at:]))
		return nil
	}
	if len(t.Records) == cap(t.Records) { // by half, because a long trace is most of the memory
		grown := make([]Record, len(t.Records), 1024+len(t.Records)*3/2)
		copy(grown, t.Records)
		t.Records = grown
	}
	t.Records = append(t.Records, Record{})
	r := &t.Records[len(t.Records)-1]
	for i := range fields {
		if at == len(text) {
			return &Error{Col: at + 1, Msg: fmt.Sprintf("the line ends after %d of %d fields; the next is the %s: write -1 for an unknown value", i, fields, table[i].name)}
		}
		end := at
		for end < len(text) && text[end] > ' ' {
			end++
		}
		if problem := t.field(r, i, text[at:end]); problem != "" {
			return &Error{Col: at + 1, Msg: problem}
		}
		at = skipSpace(text, end)
	}
	if at < len(text) {
		t.Extra++
	}
	return nil
}

func skipSpace(text []byte, at int) int {
	for at < len(text) && text[at] <= ' ' {
		at++
	}
	return at
}

// field reads one number. Short whole numbers, which nearly all are, take a fast path.
func (t *Trace) field(r *Record, i int, text []byte) (problem string) {
	n, ok := short(text)
	if !ok {
		f, err := strconv.ParseFloat(string(text), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(f) {
			return fmt.Sprintf("%.40q is not a number: expected field %d, the %s; write -1 if it is not known", text, i+1,
				table[i].name)
		}
		if math.Abs(f) > table[i].max {
			return tooLarge(i, text)
		}
		if i == cpuField {
			r.CPU = f
			return ""
		}
		n = int64(math.Round(f))
		if float64(n) != f {
			t.Rounded++
		}
	}
	if float64(n) > table[i].max || float64(-n) > table[i].max {
		return tooLarge(i, text)
	}
	table[i].set(r, n)
	return ""
}

func tooLarge(i int, text []byte) string {
	return fmt.Sprintf("the %s (field %d) is %.40s, beyond the largest that can be simulated, %.0f; correct the line, or put ; before it to leave it out", table[i].name, i+1, text, table[i].max)
}

// short reads a whole number of at most 15 digits.
func short(text []byte) (n int64, ok bool) {
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 15 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if len(digits) < len(text) {
		n = -n
	}
	return n, true
}

// First returns the first second in which a job was submitted.
func (t *Trace) First() int64 {
	first := int64(-1)
	for i := range t.Records {
		if s := t.Records[i].Submit; s >= 0 && (first < 0 || s < first) {
			first = s
		}
	}
	return max(0, first)
}

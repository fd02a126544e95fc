package onestep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// inPool is a mistake in the text of one pool.
type inPool struct {
	name string
	err  error
}

func (e *inPool) Error() string { return "pool " + e.name + ": " + inWords(e.err) }
func (e *inPool) Unwrap() error { return e.err }

// place adds the line to an error of the decoder. An error inside a pool names the pool instead, because the decoder of
// the pool counts from the beginning of the pool's text.
func place(text []byte, d *json.Decoder, err error) error {
	if pool := (*inPool)(nil); errors.As(err, &pool) {
		return fmt.Errorf("state, %w", pool)
	}
	offset := d.InputOffset()
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	} else if errors.As(err, &kind) {
		offset = kind.Offset
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		offset = int64(len(text))
	}
	offset = min(offset, int64(len(text)))
	line := 1 + bytes.Count(text[:offset], []byte("\n"))
	return fmt.Errorf("state, line %d: %s", line, inWords(err))
}

// inWords writes an error of the decoder without words of Go.
func inWords(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var instant *time.ParseError
	switch {
	case errors.As(err, &instant):
		return strconv.Quote(strings.Trim(instant.Value, `"`)) + " is not a time such as 2026-01-05T08:00:00Z"
	case errors.As(err, &kind):
		text := "expected " + kindName(kind.Type) + ", got " + valueName(kind.Value)
		if kind.Field != "" {
			text = kind.Field + ": " + text
		}
		return text
	case errors.As(err, &syntax):
		return "not valid JSON: " + syntax.Error()
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "not valid JSON: the text ends before its last bracket is closed"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// kindName names a type by what a user would write.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list, as in [1, 2]"
	case reflect.Map, reflect.Struct:
		return `an object, as in {"slots": 4}`
	}
	return `a text, as in "2h"`
}

// valueName names a JSON value, which the decoder describes as in "string" or "number 1.5".
func valueName(value string) string {
	switch kind, number, _ := strings.Cut(value, " "); kind {
	case "string":
		return "a text"
	case "array":
		return "a list"
	case "bool":
		return "true or false"
	case "object":
		return "an object"
	case "number":
		if number != "" {
			return number
		}
	}
	return "a " + value
}

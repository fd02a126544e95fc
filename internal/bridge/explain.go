package bridge

import "fmt"

// Explain is an error that reads as it is said here, and is err for errors.Is and errors.As:
// for people its own words, or those of a protocol, are none.
func Explain(err error, format string, args ...any) error {
	return &explained{fmt.Sprintf(format, args...), err}
}

type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }

func (e *explained) Unwrap() error { return e.err }

package bridge

import "fmt"

// Explain returns an error with the given text that errors.Is and errors.As treat like err. It replaces the
// words of a program or a protocol by words for people.
func Explain(err error, format string, args ...any) error {
	return &explained{fmt.Sprintf(format, args...), err}
}

type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }

func (e *explained) Unwrap() error { return e.err }

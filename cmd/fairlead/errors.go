package main

import (
	"fmt"
)

// exit is an error that only sets the exit status; the message was printed already.
type exit int

func (e exit) Error() string { return fmt.Sprint("exit status ", int(e)) }

// usageError is a mistake in the use of the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

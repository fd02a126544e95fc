package words

import (
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
)

// Exit says how the process of a task ended if it failed: its exit code, or the signal that ended it.
func Exit(t *api.Task) string {
	if t == nil {
		return ""
	}
	return ExitOf(t.Signal, t.ExitCode)
}

// ExitOf is Exit for a signal and an exit code.
func ExitOf(signal string, code int) string {
	switch {
	case signal != "":
		return signal
	case code != 0:
		return strconv.Itoa(code)
	}
	return ""
}

// ErrorOf returns the first line of the error text of a job that failed or, without one, the reason
// of its end.
func ErrorOf(j *api.Job) string {
	text := j.Cause
	if t := j.LastEnd; t != nil && t.Cause != "" {
		text = t.Cause
	}
	line, _, _ := strings.Cut(text, "\n")
	return plain.Line(line)
}

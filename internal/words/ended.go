package words

import (
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
)

// Exit says how the process of a task ended if it failed: its exit code, or the signal that ended it.
func Exit(t *api.Task) string {
	switch {
	case t == nil:
		return ""
	case t.Signal != "":
		return t.Signal
	case t.ExitCode != 0:
		return strconv.Itoa(t.ExitCode)
	}
	return ""
}

// ErrorOf returns the error text of a job that failed, else why it ended: the first line.
func ErrorOf(j *api.Job) string {
	text := j.Cause
	if t := j.LastEnd; t != nil && t.Cause != "" {
		text = t.Cause
	}
	line, _, _ := strings.Cut(text, "\n")
	return plain.Line(line)
}

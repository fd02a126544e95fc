package fairlead

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/share"
)

// Limits of a job. Larger things belong into files that a job names.
const (
	MaxName    = 256       // bytes, of names, kinds, users, keys
	MaxArgv    = 128 << 10 // bytes in all, of Argv and of Env
	MaxPayload = 256 << 10 // bytes
	MaxPath    = 4096      // bytes, of Dir, Output, Error
	MaxAfter   = 1000      // dependencies
	MaxRetries = 1000
	MaxGang    = 4096 // tasks that start all at once
	maxAmount  = 1 << 50
)

// Check says what is wrong with a job that is to be submitted, and brings Tasks and
// Most up to date from Array. It does not look at other jobs or at the
// configuration.
func (j *Job) Check() error {
	if err := j.EncodeArgs(); err != nil {
		return err
	}
	for _, f := range []struct{ field, text string }{
		{"name", j.Name}, {"kind", j.Kind}, {"user", j.User}, {"group", j.Group}, {"requestor", j.Requestor}, {"key", j.Key}, {"qos", j.QOS},
	} {
		if err := checkText(f.field, f.text, MaxName); err != nil {
			return err
		}
	}
	if j.Pool != "" {
		if err := share.CheckPath(j.Pool); err != nil {
			return invalid("pool", "%v", err)
		}
	}
	for _, check := range []func() error{j.checkCommand, j.checkNumbers, j.checkTimes, j.checkRequest, j.checkTolls, j.checkAfter} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkText refuses what could be mistaken where it is shown: control characters,
// among them escape sequences, and text that is not UTF-8.
func checkText(field, text string, most int) error {
	switch {
	case len(text) > most:
		return invalid(field, "is longer than %d bytes", most)
	case !utf8.ValidString(text):
		return invalid(field, "is not valid UTF-8")
	case strings.ContainsFunc(text, misleading):
		return invalid(field, "holds a control character: %.60q", text)
	}
	return nil
}

// misleading reports whether r can change how the text around it is shown.
func misleading(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

func (j *Job) checkCommand() error {
	size := 0
	for _, a := range j.Argv {
		size += len(a) + 1
		if strings.ContainsRune(a, 0) {
			return invalid("argv", "an argument holds a zero byte")
		}
	}
	for name, value := range j.Env {
		size += len(name) + len(value) + 2
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return invalid("env", "%.60q is not the name of a variable, or its value holds a zero byte", name)
		}
	}
	switch {
	case size > MaxArgv:
		return invalid("argv", "command and environment have %d bytes, at most %d; put the data into a file", size, MaxArgv)
	case len(j.Payload) > MaxPayload:
		return invalid("payload", "has %d bytes, at most %d; put the data into a file", len(j.Payload), MaxPayload)
	case len(j.Argv) > 0 && j.Argv[0] == "":
		return invalid("argv", "the command is empty")
	case j.Script && (len(j.Payload) == 0 || len(j.Argv) == 0):
		return invalid("script", "there is no script")
	}
	for _, p := range []struct{ field, path string }{{"dir", j.Dir}, {"output", j.Output}, {"error", j.Error}} {
		if err := checkText(p.field, p.path, MaxPath); err != nil {
			return err
		}
	}
	return nil
}

func (j *Job) checkNumbers() error {
	n, most, err := ParseArray(j.Array)
	if err != nil {
		return err
	}
	j.Tasks = n.Len()
	if most > 0 {
		j.Most = most
	}
	if err := j.checkGang(); err != nil {
		return err
	}
	if err := checkNice(j.Nice); err != nil {
		return err
	}
	switch {
	case j.Most < 0 || j.Most > MaxTasks:
		return invalid("most", "the tasks at once must be from 0 (no limit) to %d, got %d", MaxTasks, j.Most)
	case j.Retries < 0 || j.Retries > MaxRetries:
		return invalid("retries", "must be from 0 to %d, got %d", MaxRetries, j.Retries)
	}
	return nil
}

// What a node can do is counted like what it has: an agent offers any number of exec,
// a program with a handler for the kind k any number of handler.k, and every task
// asks for one of these. So a task is never given to a node that cannot run it.
const (
	execResource  = "exec"
	handlerPrefix = "handler."
	anyNumber     = 1 << 40
)

func (j *Job) checkTimes() error {
	switch {
	case j.Limit < 0 && j.Limit != NoLimit || j.Limit > MaxLimit:
		return invalid("limit", "the time limit must be above 0, up to ten years, got %v", j.Limit)
	case j.Backoff < 0 || j.Backoff > MaxLimit:
		return invalid("backoff", "must be from 0 to ten years, got %v", j.Backoff)
	case !j.Begin.IsZero() && (j.Begin.Year() < 1970 || j.Begin.Year() > 2200):
		return invalid("begin", "%v is out of range", j.Begin)
	}
	return nil
}

func (j *Job) checkRequest() error {
	if j.Reservation != "" && !nameOfReservation.MatchString(j.Reservation) {
		return invalid("reservation", "%q is not the name of a reservation", j.Reservation)
	}
	if _, err := cluster.ParseConstraint(j.Constraint); err != nil {
		return invalid("constraint", "%v", err)
	}
	if len(j.Request) > 16 {
		return invalid("request", "names %d resources, at most 16", len(j.Request))
	}
	for name, n := range j.Request {
		if err := share.CheckResource(name); err != nil {
			return invalid("request", "%v", err)
		}
		if name == execResource || strings.HasPrefix(name, handlerPrefix) {
			return invalid("request", "%q is a name of our own; name another resource", name)
		}
		if n < 0 || n > maxAmount {
			return invalid("request", "%s must be from 0 to %d, got %d", name, int64(maxAmount), n)
		}
	}
	return nil
}

func (j *Job) checkAfter() error {
	if len(j.After) > MaxAfter {
		return invalid("after", "waits for %d jobs, at most %d", len(j.After), MaxAfter)
	}
	for i, d := range j.After {
		switch d.On {
		case "":
			j.After[i].On = OnOK
		case OnOK, OnFailed, OnAny:
		default:
			return invalid("after", "%q is not ok, failed or any", d.On)
		}
		if d.Job == 0 {
			return invalid("after", "there is no job 0")
		}
	}
	return nil
}

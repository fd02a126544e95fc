package queue

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// Limits of a job. Larger data belongs in files that the job names.
const (
	MaxName    = 256       // bytes, of names, kinds, users, keys
	maxArgv    = 128 << 10 // bytes in all, of Argv and of Env
	MaxPayload = 256 << 10 // bytes
	maxPath    = 4096      // bytes, of Dir, Output, Error
	maxAfter   = 1000      // dependencies
	maxRetries = 1000
	maxGang    = 4096 // tasks that start all at once
	MaxAmount  = 1 << 50
)

// Check returns an error if a job is malformed. It derives Tasks and MaxRunning from Array and Gang, and encodes Args.
// It does not look at other jobs or at the configuration.
func (j *Job) Check() error {
	if err := j.EncodeArgs(); err != nil {
		return err
	}
	for _, f := range []struct{ field, text string }{
		{"name", j.Name}, {"kind", j.Kind}, {"user", j.User}, {"group", j.Group}, {"requestor", j.Requestor}, {"key", j.Key}, {"qos", j.QOS},
	} {
		if err := CheckText(f.field, f.text, MaxName); err != nil {
			return err
		}
	}
	if j.Pool != "" {
		if err := share.CheckPath(j.Pool); err != nil {
			return Invalidf("pool", "%v", err)
		}
	}
	for _, check := range []func() error{j.checkCommand, j.checkNumbers, j.checkTimes, j.checkRequest, j.checkLimits, j.checkAfter} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// CheckText refuses text that would mislead where it is shown: control characters, including escape sequences, and text
// that is not UTF-8. It also refuses text longer than limit bytes.
func CheckText(field, text string, limit int) error {
	switch {
	case len(text) > limit:
		return Invalidf(field, "is longer than %d bytes", limit)
	case !utf8.ValidString(text):
		return Invalidf(field, "is not valid UTF-8")
	case strings.ContainsFunc(text, misleading):
		return Invalidf(field, "holds a control character: %.60q", text)
	}
	return nil
}

// EncodeArgs converts the arguments of a job, if it has any, to its payload and kind. Clients call it at submission.
func (j *Job) EncodeArgs() error {
	if j.Args == nil {
		return nil
	}
	if v := reflect.ValueOf(j.Args); v.Kind() == reflect.Pointer && v.IsNil() {
		return Invalidf("args", "is a nil %T; give the arguments of the job", j.Args)
	}
	kind := j.Args.Kind()
	switch {
	case len(j.Payload) > 0:
		return Invalidf("args", "a job has either arguments or a payload, not both")
	case j.Kind != "" && j.Kind != kind:
		return Invalidf("args", "the job is of the kind %q, and its arguments are of the kind %q; leave out Job.Kind", j.Kind, kind)
	}
	data, err := json.Marshal(j.Args)
	if err != nil {
		return Invalidf("args", "%T: %v", j.Args, err)
	}
	j.Kind, j.Payload, j.Args = kind, data, nil
	return nil
}

// misleading reports whether r can change how the text around it is shown.
func misleading(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

func (j *Job) checkCommand() error {
	size := 0
	for _, a := range j.Argv {
		size += len(a) + 1
		if strings.ContainsRune(a, 0) {
			return Invalidf("argv", "an argument holds a zero byte")
		}
	}
	for name, value := range j.Env {
		size += len(name) + len(value) + 2
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return Invalidf("env", "%.60q is not the name of a variable, or its value holds a zero byte", name)
		}
	}
	switch {
	case size > maxArgv:
		return Invalidf("argv", "command and environment have %d bytes, but the maximum is %d; put the data into a "+
			"file", size, maxArgv)
	case len(j.Payload) > MaxPayload:
		return Invalidf("payload", "has %d bytes, but the maximum is %d; put the data into a "+
			"file", len(j.Payload), MaxPayload)
	case len(j.Argv) > 0 && j.Argv[0] == "":
		return Invalidf("argv", "the command is empty")
	case j.Script && (len(j.Payload) == 0 || len(j.Argv) == 0):
		return Invalidf("script", "there is no script")
	}
	for _, p := range []struct{ field, path string }{{"dir", j.Dir}, {"output", j.Output}, {"error", j.Error}} {
		if err := CheckText(p.field, p.path, maxPath); err != nil {
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
		j.MaxRunning = most
	}
	if err := j.checkGang(); err != nil {
		return err
	}
	if err := CheckNice(j.Nice); err != nil {
		return err
	}
	switch {
	case j.MaxRunning < 0 || j.MaxRunning > MaxTasks:
		return Invalidf("max_running", "must be from 0 (no limit) to %d tasks, got %d", MaxTasks, j.MaxRunning)
	case j.Retries < 0 || j.Retries > maxRetries:
		return Invalidf("retries", "must be from 0 to %d, got %d", maxRetries, j.Retries)
	}
	return nil
}

// checkGang sets the number of tasks from Gang. A gang of one task is not a gang.
func (j *Job) checkGang() error {
	switch {
	case j.Gang < 0 || j.Gang > maxGang:
		return Invalidf("gang", "the number of tasks that start all at once must be from 1 to %d, got %d", maxGang, j.Gang)
	case j.Gang <= 1:
		j.Gang, j.Spread = 0, false
		return nil
	case j.Array != "":
		return Invalidf("gang", "a job cannot be both an array and a gang of %d tasks that start all at once; submit a separate job for each gang", j.Gang)
	case j.MaxRunning > 0:
		return Invalidf("max_running", "a job whose %d tasks start all at once cannot have a maximum of running tasks",
			j.Gang)
	}
	j.Tasks = j.Gang
	return nil
}

// The abilities of a node are counted like its resources. An agent offers unlimited exec, a program with a handler for
// kind k offers unlimited handler.k, and every task requests one of these. Therefore no task goes to a node that cannot
// run it.
const (
	ExecResource  = "exec"
	HandlerPrefix = "handler."
	AnyNumber     = 1 << 40
)

func (j *Job) checkTimes() error {
	switch {
	case j.Limit < 0 && j.Limit != NoLimit || j.Limit > MaxLimit:
		return Invalidf("limit", "the time limit must be above 0, up to ten years, got %v", j.Limit)
	case j.Backoff < 0 || j.Backoff > MaxLimit:
		return Invalidf("backoff", "must be from 0 to ten years, got %v", j.Backoff)
	case !j.Begin.IsZero() && (j.Begin.Year() < 1970 || j.Begin.Year() > 2200):
		return Invalidf("begin", "must be in the years 1970 to 2200, got %s", j.Begin.Format(time.RFC3339))
	}
	return nil
}

func (j *Job) checkRequest() error {
	if j.Reservation != "" && !ReservationName.MatchString(j.Reservation) {
		return Invalidf("reservation", "%q is not the name of a reservation", j.Reservation)
	}
	if _, err := cluster.ParseConstraint(j.Constraint); err != nil {
		return Invalidf("constraint", "%v", err)
	}
	if len(j.Request) > 16 {
		return Invalidf("request", "names %d resources, but the maximum is 16", len(j.Request))
	}
	for name, n := range j.Request {
		if err := share.CheckResource(name); err != nil {
			return Invalidf("request", "%v", err)
		}
		if name == ExecResource || strings.HasPrefix(name, HandlerPrefix) {
			return Invalidf("request", "%q is reserved; choose another name", name)
		}
		if n < 0 || n > MaxAmount {
			return Invalidf("request", "%s must be from 0 to %d, got %d", name, int64(MaxAmount), n)
		}
	}
	return nil
}

// maxLimits bounds the licenses and the rates of a job.
const maxLimits = 16

// checkLimits checks the form of the licenses and rates that a job names. The configuration knows whether they exist.
func (j *Job) checkLimits() error {
	if len(j.Licenses) > maxLimits || len(j.Rates) > maxLimits {
		return Invalidf("licenses", "the job names %d licenses and %d rates, but the maximum is %d of each", len(j.Licenses), len(j.Rates), maxLimits)
	}
	for name, n := range j.Licenses {
		if share.CheckName(name) != nil {
			return Invalidf("licenses", "%.60q is not the name of a license", name)
		}
		if n < 1 || n > MaxAmount {
			return Invalidf("licenses", "%s must be from 1 to %d, got %d", name, int64(MaxAmount), n)
		}
	}
	for i, name := range j.Rates {
		if share.CheckName(name) != nil {
			return Invalidf("rates", "%.60q is not the name of a rate", name)
		}
		if slices.Contains(j.Rates[:i], name) {
			return Invalidf("rates", "%s is named twice; each start counts only once against a rate", name)
		}
	}
	return nil
}

func (j *Job) checkAfter() error {
	if len(j.After) > maxAfter {
		return Invalidf("after", "waits for %d jobs, but the maximum is %d", len(j.After), maxAfter)
	}
	for i, d := range j.After {
		switch d.On {
		case "":
			j.After[i].On = OnOK
		case OnOK, OnFailed, OnAny:
		default:
			return Invalidf("after", "must be ok, failed or any, got %q", d.On)
		}
		if d.Job == 0 {
			return Invalidf("after", "there is no job 0")
		}
	}
	return nil
}

// MaxLimit bounds the time limit of a job.
const MaxLimit = 10 * 365 * 24 * time.Hour

// NoLimit, as the Limit of a submitted job, requests no time limit even where its pool has a default. Where the pool
// has a maximum, the job is refused.
const NoLimit = -time.Second

// ReservationName matches the allowed names of reservations.
var ReservationName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// CheckNice refuses numbers out of range.
func CheckNice(nice int) error {
	if nice < -sched.MaxNice || nice > sched.MaxNice {
		return Invalidf("nice", "must be from %d to %d, got %d", -sched.MaxNice, sched.MaxNice, nice)
	}
	return nil
}

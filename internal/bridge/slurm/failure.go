package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/queue"
)

// hints maps parts of Slurm's messages to the next steps of a user.
var hints = []struct{ said, hint string }{
	{"could not establish a configuration source", "Slurm's commands find no slurm.conf: name it with --conf"},
	{
		"invalid account",
		"the account comes from the bridge's --account, or is the user's default: sacctmgr show assoc lists " +
			"the accounts",
	},
	{"invalid partition", "the partition comes from the bridge's --partition: sinfo lists the partitions"},
	{
		"invalid qos",
		"the quality of service comes from the bridge's --slurm-qos: sacctmgr show qos lists them",
	},
	{
		"access/permission denied",
		"let an administrator make the bridge's user an operator: sacctmgr modify user NAME set adminlevel=Operator",
	},
	{
		"invalid authentication credential",
		"the token has expired or is another user's: make a new one with scontrol token username=NAME lifespan=SECONDS",
	},
	{"connect failure", "is it running, and is the address right? scontrol ping checks slurmctld"},
	{
		"communication connection failure",
		"is slurmctld running? Check with scontrol ping; SlurmctldHost in slurm.conf is its address",
	},
}

// hinted returns the message of a command, with the next step if hints has one.
func hinted(text string) string {
	said := strings.ToLower(text)
	for _, h := range hints {
		if strings.Contains(said, h.said) {
			return text + "; " + h.hint
		}
	}
	return text
}

// plain joins the error messages of a command into one line, and removes the name of the command before
// each.
func plain(name, said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{name + ": ", "error: ", "fatal: "} {
			line = strings.TrimPrefix(line, prefix)
		}
		if line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// failure is the error of a command or call that failed.
type failure struct {
	command string
	text    string // the message
	err     error
}

func (f *failure) Error() string {
	if f.text == "" {
		return f.command + ": " + f.err.Error()
	}
	return f.command + ": " + hinted(f.text)
}

func (f *failure) Unwrap() error { return f.err }

func invalid(format string, args ...any) error {
	return bridge.Explain(queue.ErrInvalid, format, args...)
}

// errAway says that slurmctld does not answer.
var errAway = errors.New("slurmctld does not answer")

// refusals are messages of slurmctld and sbatch about a job that they will never take.
var refusals = []string{
	"invalid account", "invalid partition", "invalid qos", "invalid user id", "invalid group id", "invalid feature",
	"invalid license", "invalid generic resource",
	"invalid --", "invalid numeric", "unrecognized option", "requested node configuration is not available",
	"memory specification can not be satisfied",
	"requested time limit is invalid", "requested partition configuration not available",
	"node count specification invalid", "more processors requested than permitted",
	"user's group not permitted", "invalid job script", "this does not look like a batch script", "size limit exceeded",
	"pathname of a file, directory or other parameter too long",
	"user not found", "job script is empty", "batch script contains dos line breaks", "batch script is empty",
}

// later are refusals that may not last. Slurm does not have the job.
var later = []string{
	"job violates accounting/qos policy", "temporarily unable to accept job", "access/permission denied", "limit reached",
	"job submission not permitted",
	"invalid authentication credential", "required partition not available",
}

// unreached are messages about a slurmctld that received nothing.
var unreached = []string{
	"connect failure", "communication connection failure", "could not establish a configuration source",
	"could not resolve hostname",
}

// judge tells from an error whether Slurm may have the job. After an unknown error it may.
func judge(err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err // no command was started
	}
	said := strings.ToLower(f.text)
	has := func(phrases []string) bool {
		for _, p := range phrases {
			if strings.Contains(said, p) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.Is(f.err, context.Canceled), errors.Is(f.err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", bridge.ErrUnsure, err)
	case has(unreached):
		return fmt.Errorf("%w: %w", errAway, err)
	case has(refusals):
		return invalid("%s", hinted(f.text))
	case has(later):
		return err
	}
	return fmt.Errorf("%w: %w", bridge.ErrUnsure, err)
}

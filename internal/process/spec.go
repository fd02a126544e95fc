package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// markVariable is the environment variable that holds the Mark of a Spec. All processes
// of a task inherit it, also processes that leave its session.
const markVariable = "FAIRLEAD_TASK"

// defaultGrace is how long a task that is stopped has to end by itself.
const defaultGrace = 10 * time.Second

// Errors of Start, for errors.Is; texts name the command as well.
var (
	errClosed          = errors.New("process: the runner is closed")
	errCommandNotFound = errors.New("command not found")
)

// SpecError is an error of Start that is the same on every machine.
type SpecError struct{ Err error }

func (e *SpecError) Error() string { return e.Err.Error() }
func (e *SpecError) Unwrap() error { return e.Err }

// MachineError is an error of Start that says nothing about the Spec: the machine can start
// nothing now.
type MachineError struct{ Err error }

func (e *MachineError) Error() string { return e.Err.Error() }
func (e *MachineError) Unwrap() error { return e.Err }

// machineErrors are the errors of the system that say so.
var machineErrors = []error{errClosed, syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE}

// blame makes a MachineError of an error that says so.
func blame(err error) error {
	for _, of := range machineErrors {
		if errors.Is(err, of) {
			return &MachineError{err}
		}
	}
	return err
}

// Spec is what to run.
type Spec struct {
	// Argv is the command and its arguments; no shell reads it. A command without a
	// slash is looked up in the PATH of Env, not in ours.
	Argv []string
	// Env is the complete environment, as KEY=value. Only the mark is added.
	Env []string
	// Dir is the absolute working directory. Default: the root directory.
	Dir string

	// Stdout and Stderr are files that the user named, absolute or relative to Dir.
	// They are opened with the rights of As, never with ours. Without Stdout the output
	// goes to Log; without Stderr the errors go where the output goes.
	Stdout, Stderr string
	// Append keeps the contents of these files; otherwise they are emptied.
	Append bool
	// Log is an open file, see [Logs.Create]; nil discards the output. It stays the
	// caller's, who may close it after Start.
	Log *os.File

	As    *Identity     // whom to run as; nil: as ourselves
	Limit time.Duration // the task is stopped after this; 0 is no limit
	Grace time.Duration // between SIGTERM and SIGKILL; default: defaultGrace
	Mark  string        // of the task, e.g. "node7/17/0/2"
}

// Identity is the user and the groups that a process runs as. Only root can run a
// process as someone else.
type Identity struct {
	UID, GID uint32
	Groups   []uint32 // supplementary
}

// check finds the mistakes that can be seen without looking at the machine.
func (s *Spec) check() error {
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return errors.New("there is no command")
	}
	if !filepath.IsAbs(s.directory()) {
		return fmt.Errorf("directory %s: it has to be an absolute path", s.Dir)
	}
	texts := slices.Concat(s.Argv, []string{s.Dir, s.Stdout, s.Stderr, s.Mark})
	for _, list := range [][]string{texts, s.Env} {
		for _, text := range list {
			if strings.Contains(text, "\x00") {
				return fmt.Errorf("%s: a zero byte in %q", s.Argv[0], text)
			}
		}
	}
	return nil
}

func (s *Spec) directory() string {
	if s.Dir == "" {
		return "/"
	}
	return s.Dir
}

// inDir is a path as the process will see it from its working directory. It is not
// cleaned, because ".." after a symbolic link means something else to the system.
func (s *Spec) inDir(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return s.directory() + "/" + path
}

// variable is the value of an environment variable of the process; the first counts, as
// in getenv.
func (s *Spec) variable(name string) (string, bool) {
	for _, e := range s.Env {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// environment is Env with the mark, which replaces one that the user has set: nobody
// passes for another task, or for none.
func (s *Spec) environment() []string {
	env := make([]string, 0, len(s.Env)+1)
	for _, e := range s.Env {
		if !strings.HasPrefix(e, markVariable+"=") {
			env = append(env, e)
		}
	}
	if s.Mark != "" {
		env = append(env, markVariable+"="+s.Mark)
	}
	return env
}

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

// markVariable is the environment variable that holds the Mark of a Spec. All processes of a task inherit it,
// even processes that leave its session.
const markVariable = "FAIRLEAD_TASK"

// defaultGrace is how long a task that is stopped has to end by itself.
const defaultGrace = 10 * time.Second

// Errors of Start, for errors.Is; the texts of the errors also name the command.
var (
	errClosed          = errors.New("process: the runner is closed")
	errCommandNotFound = errors.New("command not found")
)

// SpecError is an error of Start that would be the same on every machine.
type SpecError struct{ Err error }

func (e *SpecError) Error() string { return e.Err.Error() }
func (e *SpecError) Unwrap() error { return e.Err }

// MachineError is an error of Start that is no fault of the Spec: the machine can start nothing now.
type MachineError struct{ Err error }

func (e *MachineError) Error() string { return e.Err.Error() }
func (e *MachineError) Unwrap() error { return e.Err }

// machineErrors are the errors of the system that become a MachineError. The second row are the errors of a file system
// that has lost its server or its disk.
var machineErrors = []error{
	errClosed, syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE,
	syscall.EIO, syscall.ESTALE, syscall.ENOTCONN, syscall.ETIMEDOUT, syscall.EHOSTDOWN, syscall.EHOSTUNREACH,
}

// Exit codes with which shells say that a command could not be run.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// NameError is an error of Start about a name in the Spec: of the command, a directory or a file.
type NameError struct {
	Err error
	// Exit is the code with which a shell would exit, if the name is the command; otherwise 0.
	Exit int
	// NotFound: the name does not exist, though this machine has the directories above it. So it is probably missing
	// everywhere. Otherwise this machine may have lost a file system.
	NotFound bool
}

func (e *NameError) Error() string { return e.Err.Error() }
func (e *NameError) Unwrap() error { return e.Err }

// blame turns an error in machineErrors into a MachineError.
func blame(err error) error {
	if ofMachine(err) {
		return &MachineError{err}
	}
	return err
}

func ofMachine(err error) bool {
	return slices.ContainsFunc(machineErrors, func(of error) bool { return errors.Is(err, of) })
}

// Spec describes a process to run.
type Spec struct {
	// Argv is the command and its arguments; no shell reads it. A command without a slash is looked up in the
	// PATH of Env, not in ours.
	Argv []string
	// Env is the complete environment, as KEY=value. Only the mark is added.
	Env []string
	// Dir is the absolute working directory. Default: the root directory.
	Dir string

	// Stdout and Stderr are files that the user named, absolute or relative to Dir. They are opened with the
	// rights of As, never with ours. Without Stdout, the output goes to Log; without Stderr, errors go where
	// the output goes.
	Stdout, Stderr string
	// Append keeps the contents of these files; otherwise they are truncated.
	Append bool
	// Log is an open file, see [Logs.Create]; nil discards the output. The caller may close it after Start.
	Log *os.File

	As    *Identity     // as whom to run; nil: as our own user
	Limit time.Duration // time after which the task is stopped; 0: none
	Grace time.Duration // between SIGTERM and SIGKILL; default: defaultGrace
	Mark  string        // of the task, e.g. "node7/17/0/2"
}

// Identity is the user and the groups as whom a process runs. Only root can run a process as another user.
type Identity struct {
	UID, GID uint32
	Groups   []uint32 // supplementary
}

// check finds mistakes that are visible without access to the machine.
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

// inDir returns a path as the process sees it from its working directory. It does not clean the path, because
// ".." after a symbolic link means something else to the system.
func (s *Spec) inDir(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return s.directory() + "/" + path
}

// variable returns the value of an environment variable of the process; the first one counts, as in getenv.
func (s *Spec) variable(name string) (string, bool) {
	for _, e := range s.Env {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// environment returns Env with the mark, which replaces a mark that the user has set: no task can pass for
// another task, or for none.
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

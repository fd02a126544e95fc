package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fairlead/fairlead/internal/api"
)

// scriptDir makes the directory for scripts. Only the user who runs a script can read it; other users can
// pass through the directories but not list them.
func scriptDir(dir string) (string, error) {
	scripts := filepath.Join(dir, "scripts")
	if err := os.MkdirAll(scripts, 0o711); err != nil {
		return "", fmt.Errorf("directory for scripts: %w", err)
	}
	for _, d := range []string{dir, scripts} {
		if err := ours(d, d == scripts); err != nil {
			return "", fmt.Errorf("directory for scripts: %w", err)
		}
	}
	return scripts, errors.Join(os.Chmod(dir, 0o711), os.Chmod(scripts, 0o711))
}

// ours refuses a directory that belongs to another user, because that user could replace the scripts of
// others. If "itself" is set, ours also refuses a symbolic link, because the caller will change the mode of the
// directory.
func ours(dir string, itself bool) error {
	stat := os.Stat
	if itself {
		stat = os.Lstat
	}
	info, err := stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory: find out who put it there, and remove it", dir)
	}
	if s, known := info.Sys().(*syscall.Stat_t); known && s.Uid != 0 && int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user (%d): remove it, or name another directory", dir, s.Uid)
	}
	return nil
}

// passable returns an error for a directory that other users cannot reach, because their scripts would not
// start.
func passable(dir string) error {
	for d := dir; d != "/"; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err != nil {
			return err
		}
		if info.Mode()&0o001 == 0 {
			return fmt.Errorf("other users cannot reach %s, which holds the scripts of their jobs: let them pass with "+
				"chmod o+x %s, or name another directory", dir, d)
		}
	}
	return nil
}

func (m *Machine) scriptPath(l *api.Lease) string {
	return filepath.Join(m.scripts, fmt.Sprintf("%d_%d.%d", l.JobID, l.Task, l.Attempt))
}

// writeScript writes the script of a job to a file and returns the command that runs it. The shell runs a
// script that does not name its interpreter.
func (m *Machine) writeScript(l *api.Lease, u *account) ([]string, error) {
	path := m.scriptPath(l)
	if err := writeFile(path, l.Job.Payload, u); err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	argv := append([]string{path}, l.Job.Argv[1:]...)
	if len(l.Job.Payload) < 2 || string(l.Job.Payload[:2]) != "#!" {
		argv = append([]string{"/bin/sh"}, argv...)
	}
	return argv, nil
}

// writeFile writes a file that only its user may read and run. It blocks forks meanwhile, because a new
// process would keep the file open for writing until its exec. The system refuses to run a file that is open
// for writing.
func writeFile(path string, text []byte, u *account) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	os.Remove(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o500)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if u.as != nil {
		err = errors.Join(err, f.Chown(int(u.as.UID), int(u.as.GID)))
	}
	return errors.Join(err, f.Close())
}

func (m *Machine) removeScript(l *api.Lease) {
	if l.Job.Script {
		os.Remove(m.scriptPath(l))
	}
}

package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fairlead/fairlead/internal/api"
)

// scriptDir makes the directory for scripts. Each is readable by the one user who
// runs it; the directories can be passed through but not listed.
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

// ours refuses a directory that belongs to another user, who could exchange what users run, and, where no
// link may stand in its place, one that is behind a link: its mode is going to be changed.
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
		return fmt.Errorf("%s is not a directory: look who put it there, and remove it", dir)
	}
	if s, known := info.Sys().(*syscall.Stat_t); known && s.Uid != 0 && int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user (%d): remove it, or name another directory", dir, s.Uid)
	}
	return nil
}

// passable returns an error for a directory that others cannot reach: none of their
// scripts would start.
func passable(dir string) error {
	for d := dir; d != "/"; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err != nil {
			return err
		}
		if info.Mode()&0o001 == 0 {
			return fmt.Errorf("other users cannot reach %s, where the scripts of their jobs are kept: let them pass with "+
				"chmod o+x %s, or name another directory", dir, d)
		}
	}
	return nil
}

func (m *Machine) scriptPath(l *api.Lease) string {
	return filepath.Join(m.scripts, fmt.Sprintf("%d_%d.%d", l.JobID, l.Task, l.Attempt))
}

// writeScript puts a job's script into a file and returns the command that runs it: a
// script that does not name its interpreter is one of the shell.
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

// writeFile writes a file that only its user may read and run. No process is started
// meanwhile: until it has replaced its program it would hold the file open for writing,
// and the system refuses to run such a file.
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

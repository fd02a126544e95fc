//go:build linux

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// defaultPath is the search path for commands if the environment has no PATH.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// maxPathShown is how many bytes of PATH the error about a command shows.
const maxPathShown = 100

// prepared is a Spec whose names have been resolved.
type prepared struct {
	command        string // absolute, or relative to the working directory
	stdout, stderr *os.File
	opened         []*os.File // files that we opened and must close
}

func (p *prepared) close() {
	for _, f := range p.opened {
		f.Close()
	}
}

// prepare resolves the names of the Spec with the user's rights: it looks up the directory and the command,
// and opens the files. Doing this here also gives good error texts, because after the fork there is only an
// error number.
func (s *Spec) prepare(null *os.File) (*prepared, error) {
	p := &prepared{stdout: s.Log}
	if s.Log == nil {
		p.stdout = null
	}
	err := s.As.do(func() (err error) {
		if err = enterable(s.directory()); err != nil {
			return missing(fmt.Errorf("directory %s: %w", s.directory(), err), s.directory())
		}
		if p.command, err = s.lookup(); err != nil {
			return err
		}
		return s.open(p)
	})
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// enterable reports why a process with the rights of the calling thread could not change to dir.
func enterable(dir string) error {
	var stat unix.Stat_t
	if err := unix.Stat(dir, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return unix.ENOTDIR
	}
	return unix.Faccessat(unix.AT_FDCWD, dir, unix.X_OK, unix.AT_EACCESS)
}

// lookup finds the command like execvp. A name with a slash is a path. Any other name is tried in each
// directory of PATH, and a file that may not be executed does not end the search.
func (s *Spec) lookup() (string, error) {
	name := s.Argv[0]
	if strings.Contains(name, "/") {
		if err := executable(s.inDir(name)); err != nil {
			return "", s.pathError(name, err)
		}
		return name, nil
	}
	var result error
	for _, dir := range s.searchPath() {
		file := dir + "/" + name
		err := executable(s.inDir(file))
		if err == nil {
			return file, nil
		}
		if errors.Is(err, fs.ErrPermission) || ofMachine(err) {
			result = err
		}
	}
	if result != nil {
		return "", &NameError{Err: fmt.Errorf("%.300s: %w", name, result), Exit: exitNotExecutable}
	}
	return "", s.searchError(name)
}

// pathError returns the error of a command that is a path.
func (s *Spec) pathError(name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return &NameError{Err: fmt.Errorf("%s: %w", name, err), Exit: exitNotExecutable}
	}
	text := fmt.Errorf("%w: %s", errCommandNotFound, name)
	if !filepath.IsAbs(name) {
		text = fmt.Errorf("%w in directory %s", text, s.directory())
	}
	return &NameError{Err: text, Exit: exitNotFound, NotFound: !lostAbove(s.inDir(name))}
}

// searchError returns the error of a command that is in no directory of PATH.
func (s *Spec) searchError(name string) error {
	var lost bool
	for _, dir := range s.searchPath() {
		lost = lost || hollowAbove(s.inDir(dir))
	}
	path := strings.Join(s.searchPath(), ":")
	if len(path) > maxPathShown { // PATH may have 128 KiB, for each task of a large array
		path = strings.ToValidUTF8(path[:maxPathShown], "") + "..."
	}
	return &NameError{
		Err:  fmt.Errorf("%w: %.300s (PATH is %s)", errCommandNotFound, name, path),
		Exit: exitNotFound, NotFound: !lost,
	}
}

// searchPath returns the directories of PATH.
func (s *Spec) searchPath() []string {
	path, ok := s.variable("PATH")
	if !ok {
		path = defaultPath
	}
	dirs := strings.Split(path, ":")
	for i, dir := range dirs {
		if dir == "" {
			dirs[i] = "." // an empty entry means this to the shell
		}
	}
	return dirs
}

// executable reports why the calling thread could not execute the file.
func executable(file string) error {
	var stat unix.Stat_t
	if err := unix.Stat(file, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		return unix.EACCES // as execve returns for a directory
	}
	return unix.Faccessat(unix.AT_FDCWD, file, unix.X_OK, unix.AT_EACCESS)
}

// open opens the files that the user named. If both names are the same, it opens the file once, so that the
// two streams do not overwrite each other.
func (s *Spec) open(p *prepared) error {
	if s.Stdout != "" {
		f, err := s.create(s.Stdout)
		if err != nil {
			return missing(fmt.Errorf("output %s: %w", s.Stdout, err), s.inDir(s.Stdout))
		}
		p.stdout, p.opened = f, append(p.opened, f)
	}
	p.stderr = p.stdout
	if s.Stderr != "" && s.Stderr != s.Stdout {
		f, err := s.create(s.Stderr)
		if err != nil {
			return missing(fmt.Errorf("error output %s: %w", s.Stderr, err), s.inDir(s.Stderr))
		}
		p.stderr, p.opened = f, append(p.opened, f)
	}
	return nil
}

// create opens one file for writing. It does not wait, so a pipe that nobody reads causes an error here
// instead of a task that never starts.
func (s *Spec) create(path string) (*os.File, error) {
	flags := unix.O_WRONLY | unix.O_CREAT | unix.O_CLOEXEC | unix.O_NOCTTY | unix.O_NONBLOCK
	if s.Append {
		flags |= unix.O_APPEND
	} else {
		flags |= unix.O_TRUNC
	}
	for {
		fd, err := unix.Open(s.inDir(path), flags, 0o666)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		// Programs expect that writing blocks.
		if err := unix.SetNonblock(fd, false); err != nil {
			unix.Close(fd)
			return nil, err
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// explain explains an error of fork and exec. By then, the directory is known to exist, and the command to be
// executable.
func (s *Spec) explain(err error) error {
	name := s.Argv[0]
	switch {
	case errors.Is(err, syscall.ENOENT):
		err = fmt.Errorf("%s: its interpreter (#!) was not found: %w", name, err)
		return &NameError{Err: err, Exit: exitNotFound}
	case errors.Is(err, syscall.ENOEXEC):
		err = fmt.Errorf("%s: neither a program of this machine nor a script that begins with #!: %w", name, err)
		return &NameError{Err: err, Exit: exitNotExecutable}
	case errors.Is(err, syscall.EPERM) && s.As != nil:
		return &MachineError{fmt.Errorf("%s: run as user %d: %w", name, s.As.UID, err)}
	}
	return fmt.Errorf("%s: %w", name, err)
}

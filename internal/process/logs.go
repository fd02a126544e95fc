package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
	"time"
)

// Logs is a directory with the output of tasks, one file per attempt. All access goes through an [os.Root],
// and Logs follows no symbolic link in place of a file, so a task that replaces its log by a link gains
// nothing. Each attempt has its own number, so that no two attempts write to the same file. Logs is safe for
// concurrent use.
type Logs struct {
	root *os.Root
}

// OpenLogs opens the directory. If it does not exist, OpenLogs creates it, closed to other users.
func OpenLogs(dir string) (*Logs, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open logs: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open logs: %w", err)
	}
	return &Logs{root}, nil
}

// Close closes the directory; open files stay open.
func (l *Logs) Close() error { return l.root.Close() }

// Path returns the name of a log below the directory, such as 0000/00/17_0.2.out.
//
// A directory holds up to one hundred jobs, with the first hundred tasks of each, and a subdirectory for each
// further hundred tasks of a job (0000/00/17_12xx/17_1234.1.out). So it has at most some ten thousand
// entries, and a job of one task, like most jobs, costs one file.
func (l *Logs) Path(job int64, task, attempt int) string {
	dir := fmt.Sprintf("%04d/%02d", job/10_000, job/100%100)
	if task >= 100 {
		dir += fmt.Sprintf("/%d_%dxx", job, task/100)
	}
	return fmt.Sprintf("%s/%d_%d.%d.out", dir, job, task, attempt)
}

// Create opens a new log for writing, which the caller closes. If a file of that name is left over, Create
// removes it and does not write into it. The log is opened for appending, so that it may be truncated while
// the task writes.
func (l *Logs) Create(job int64, task, attempt int) (*os.File, error) {
	name := l.Path(job, task, attempt)
	const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE | os.O_EXCL
	f, err := l.root.OpenFile(name, flags, 0o600)
	for tries := 0; err != nil && tries < 5; tries++ { // Remove may remove the directory again
		if err = l.makeWay(name, err); err != nil {
			break
		}
		f, err = l.root.OpenFile(name, flags, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("create log: %w", err)
	}
	return f, nil
}

// makeWay removes the reason why a log could not be created.
func (l *Logs) makeWay(name string, reason error) error {
	switch {
	case errors.Is(reason, fs.ErrNotExist):
		return l.root.MkdirAll(path.Dir(name), 0o700)
	case errors.Is(reason, fs.ErrExist):
		return ignoreGone(l.root.Remove(name))
	}
	return reason
}

// Excerpt is a part of a log.
type Excerpt struct {
	Data   []byte
	Offset int64 // where Data begins
	Size   int64 // of the whole log
}

// ReadAt returns at most limit bytes of a log from offset on. A negative offset counts from the end. At and
// after the end, Data is empty. The error is fs.ErrNotExist if there is no such log.
func (l *Logs) ReadAt(job int64, task, attempt int, offset int64, limit int) (Excerpt, error) {
	f, info, err := l.open(l.Path(job, task, attempt))
	if err != nil {
		return Excerpt{}, fmt.Errorf("read log: %w", err)
	}
	defer f.Close()
	size := info.Size()
	if offset < 0 {
		offset = max(0, size+offset)
	}
	data := make([]byte, max(0, min(int64(limit), size-offset)))
	n, err := f.ReadAt(data, offset)
	if err != nil && err != io.EOF {
		return Excerpt{}, fmt.Errorf("read log: %w", err)
	}
	return Excerpt{data[:n], offset, size}, nil
}

// open opens a log for reading if it is a plain file.
func (l *Logs) open(name string) (*os.File, fs.FileInfo, error) {
	before, err := l.root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s: not a plain file", name)
	}
	f, err := l.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not block us
	if err != nil {
		return nil, nil, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = fmt.Errorf("%s: replaced while it was opened", name)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, after, nil
}

// Remove removes logs that were last written before the given time, and directories that become empty. It
// returns the number of removed logs. A task that was silent since then loses its log even if it still runs.
func (l *Logs) Remove(before time.Time) (removed int, err error) {
	var dirs []string
	err = fs.WalkDir(l.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return ignoreGone(err)
		}
		if entry.IsDir() {
			dirs = append(dirs, name)
			return nil
		}
		info, err := entry.Info()
		if err != nil || !info.ModTime().Before(before) {
			return ignoreGone(err)
		}
		if err = l.root.Remove(name); err == nil {
			removed++
		}
		return ignoreGone(err)
	})
	for _, dir := range slices.Backward(dirs) {
		if dir != "." {
			l.root.Remove(dir) // fails on purpose unless the directory is empty
		}
	}
	if err != nil {
		return removed, fmt.Errorf("remove logs: %w", err)
	}
	return removed, nil
}

// ignoreGone drops the error about a file that another process has removed.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

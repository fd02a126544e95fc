package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/fairlead/fairlead/internal/filelock"
)

// Open opens the store in the file at path, and creates the file if it does not exist. It fails if another process has
// the file open, or if a newer program wrote it.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Unit == "" {
		o.Unit = "cpu"
	}
	if o.Grace == 0 {
		o.Grace = time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{file: path, options: o, mem: newMemory(o.Unit)}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("open %s: %w", path, explain(err))
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) (err error) {
	if s.file, err = resolved(s.file); err != nil {
		return err
	}
	if s.lock, err = lock(s.file); err != nil {
		return err
	}
	s.ballast = ballast{path: s.file + "-ballast"}
	if err := errors.Join(s.ballast.check(), private(s.file)); err != nil {
		return err
	}
	own, err := filelock.Hold(s.file)
	if err != nil {
		return err
	}
	s.place = &place{own: own, file: s.file, log: s.options.Logger}
	conn, err := sqlite.OpenConn(s.file, sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenWAL)
	if err != nil {
		return err
	}
	if err := prepare(ctx, conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	s.readers, err = sqlitex.NewPool(s.file, sqlitex.PoolOptions{
		Flags: sqlite.OpenReadOnly | sqlite.OpenWAL, PoolSize: 2 + runtime.GOMAXPROCS(0),
	})
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	if err := s.mem.load(conn, s.options.Grace); err != nil {
		return errors.Join(err, conn.Close())
	}
	s.ballast.refill()
	s.writer = newWriter(s.mem, &s.ballast, s.place, conn)
	return nil
}

// resolved follows symbolic links, so that a file has one lock, one journal and one ballast whatever the name under
// which it is opened.
func resolved(path string) (string, error) {
	file, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// lock ensures that only one process at a time has the store open.
func lock(file string) (*filelock.Lock, error) {
	l, err := filelock.Take(file + "-lock")
	var held *filelock.HeldError
	if errors.As(err, &held) {
		return nil, fmt.Errorf("%w; stop that one first, or name another file", err)
	}
	return l, err
}

// private creates a missing file so that nobody else can read it, because jobs contain the environment of their users.
// The files that SQLite creates beside it get the same permissions.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

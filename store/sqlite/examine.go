package sqlite

import (
	"context"
	"io/fs"
	"os"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
)

// Examine implements queue.Examiner.
func (s *Store) Examine(ctx context.Context) (h queue.StoreHealth, err error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return h, err
	}
	if err := s.place.there(); err != nil {
		return h, err
	}
	h.Known = len(files)
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		var values [4]int64
		for i, name := range []string{"user_version", "page_size", "page_count", "freelist_count"} {
			if values[i], err = pragma(conn, name); err != nil {
				return err
			}
		}
		h.Format, h.Bytes = int(values[0]), values[1]*values[2]
		if values[2] > 0 {
			h.Unused = float64(values[3]) / float64(values[2])
		}
		return nil
	})
	if err != nil {
		return h, err
	}
	if log, err := os.Stat(s.file + "-wal"); err == nil {
		h.Log = log.Size()
	}
	h.Reserve = (&ballast{path: s.file + "-ballast"}).there()
	return h, nil
}

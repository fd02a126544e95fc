package sqlite

import (
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/fairlead/fairlead/internal/filelock"
	"github.com/fairlead/fairlead/queue"
)

// errGone says that the file is no longer in its place.
var errGone = fmt.Errorf("%w: the open database file was removed or replaced: "+
	"put it back; until then the store accepts no changes, because they would be lost", queue.ErrUnavailable)

// place is where the file was opened.
type place struct {
	own  *filelock.Lock // of the file itself, whatever the name under which it is opened
	file string
	log  *slog.Logger
	gone atomic.Bool // the file is gone, and the log has an error about it
}

// there returns an error if the file is not where it was opened. It logs this once, and logs it again
// only if the file was back in the meantime.
func (p *place) there() error {
	stays := p.own.Stays()
	switch {
	case stays && p.gone.CompareAndSwap(true, false):
		p.log.Info("the database file is back in its place", "file", p.file)
	case !stays && p.gone.CompareAndSwap(false, true):
		p.log.Error("the database file was removed or replaced; no change is accepted until it is back", "file", p.file,
			"error", errGone)
	}
	if stays {
		return nil
	}
	return errGone
}

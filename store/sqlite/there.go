package sqlite

import (
	"fmt"

	"github.com/fairlead/fairlead/internal/filelock"
	"github.com/fairlead/fairlead/queue"
)

// errGone says that the file is not in its place any more.
var errGone = fmt.Errorf("%w: the file that is open was removed, or another one was put in its place: "+
	"put it back where it was; until then nothing is taken, as it would be lost", queue.ErrUnavailable)

// there returns an error if the file is not where it was opened.
func there(own *filelock.Lock) error {
	if own.Stays() {
		return nil
	}
	return errGone
}

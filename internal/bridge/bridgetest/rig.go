package bridgetest

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
)

// Rig is an adapter with a queueing system behind it that runs one entry at a time, on this
// machine, as the user who tests.
type Rig struct {
	// QS is closed by the suite.
	QS bridge.QS
	// Levels are priorities that the QS takes, served in this order: the last one first. At
	// least three.
	Levels []int64
	// Reopen makes a second adapter to the same QS, as a bridge does that is started again.
	// What it may have kept in a file it finds there. The suite closes both.
	Reopen func(t *testing.T) bridge.QS
	// Restart ends the QS as a failure of its machine's power would, and starts it again with
	// the contents of its disk. Running entries may have ended or go on. It returns when the QS
	// is there again. Nil: it cannot be restarted here, and the case is skipped.
	Restart func(t *testing.T)
	// Many is how many entries are put in at once; default 100.
	Many int
	// Patience is how long the QS may take to get to something; default a minute.
	Patience time.Duration
	Lacks    Lacks
}

// Lacks says what a QS cannot do, so that the suite does not ask for it. The bridge gets on
// without, but then cannot promise what depends on it; the how-to of the QS says so.
type Lacks struct {
	Marker        bool // finding an entry by its marker alone
	Absence       bool // being sure that an entry is not there: it says Unsure
	CancelRunning bool // ending running entries
	Output        bool // telling what an entry printed
	ExitCode      bool // telling with which code an entry failed
	Order         bool // levels: all entries are served in the order of their submission
	EndsOnRestart bool // remembering ends over a restart
	RunsOnRestart bool // letting go on, or telling the fate of, what ran when it was restarted
}
